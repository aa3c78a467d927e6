// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_OUTPUT_FILE_H
#define FEDERATED_OUTPUT_FILE_H

#include <fstream>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A file that appears under its name only when it is complete.
 *
 * Data is written to PATH.part, which Commit renames to PATH; without Commit it is removed, and an
 * earlier file PATH stays. A file that others read while it grows is renamed by Publish instead,
 * and flushed whenever it ends with a whole row.
 */
class FederatedOutputFile
{
  public:
    /** @param path Path of the file. */
    explicit FederatedOutputFile(const std::string& path);

    /** Remove what was not committed. */
    ~FederatedOutputFile();

    FederatedOutputFile(const FederatedOutputFile&) = delete;
    FederatedOutputFile& operator=(const FederatedOutputFile&) = delete;

    /** @return where to write; a failure is reported by Commit at the latest. */
    std::ostream& GetStream();

    /**
     * Put the file in place.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether the file is complete and in place.
     */
    bool Commit(std::string& error);

    /**
     * Put the file in place with what it holds so far, which must be whole rows; more may follow.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether the file is in place.
     */
    bool Publish(std::string& error);

    /**
     * Flush the written data, so that others can read it.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether all data so far could be written.
     */
    bool Flush(std::string& error);

  private:
    /**
     * Rename PATH.part to PATH.
     * @param [out] error On failure, one sentence.
     * @return whether it succeeded.
     */
    bool Rename(std::string& error);

    std::string m_path;        //!< Path of the file.
    std::string m_partPath;    //!< Where it is being written.
    std::ofstream m_stream;    //!< What is being written.
    bool m_created;            //!< Whether there is something to remove.
    std::string m_createError; //!< Why it could not be created.
};

} // namespace ns3

#endif // FEDERATED_OUTPUT_FILE_H
