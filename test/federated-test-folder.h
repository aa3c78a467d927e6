// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_TEST_FOLDER_H
#define FEDERATED_TEST_FOLDER_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ns3
{

/**
 * @ingroup federated-tests
 * @brief A test with an empty folder of its own, removed at its end.
 */
class FederatedTestFolder : public testing::Test
{
  protected:
    FederatedTestFolder()
    {
        std::string pattern = testing::TempDir() + "federated-XXXXXX";
        m_folder = mkdtemp(pattern.data()) ? pattern : "";
    }

    ~FederatedTestFolder() override
    {
        std::error_code ignored;
        std::filesystem::permissions(m_folder, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(m_folder, ignored);
    }

    /** @return the path of the folder. */
    const std::string& GetFolder() const
    {
        return m_folder;
    }

    /**
     * @param name Name of a file in the folder.
     * @param content What it shall contain.
     * @return its path.
     */
    std::string Write(const std::string& name, const std::string& content) const
    {
        std::string path = m_folder + "/" + name;
        std::ofstream(path, std::ios::binary) << content;
        return path;
    }

    /**
     * @param name Name of a file in the folder.
     * @return its content, empty if there is none.
     */
    std::string Read(const std::string& name) const
    {
        std::ifstream stream(m_folder + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    /** @return the number of files in the folder. */
    std::ptrdiff_t CountFiles() const
    {
        return std::distance(std::filesystem::directory_iterator(m_folder), {});
    }

  private:
    std::string m_folder; //!< Path of the folder.
};

} // namespace ns3

#endif // FEDERATED_TEST_FOLDER_H
