// SPDX-License-Identifier: GPL-2.0-only

#include "federated-output-file.h"

#include <cerrno>
#include <filesystem>
#include <locale>
#include <system_error>

namespace ns3
{

FederatedOutputFile::FederatedOutputFile(const std::string& path)
    : m_path(path),
      m_partPath(path + ".part"),
      m_stream(m_partPath, std::ios::binary | std::ios::trunc),
      m_created(m_stream.is_open()),
      m_createError(m_created ? "" : std::generic_category().message(errno))
{
    m_stream.imbue(std::locale::classic());
}

FederatedOutputFile::~FederatedOutputFile()
{
    if (m_created)
    {
        m_stream.close();
        std::error_code ignored;
        std::filesystem::remove(m_partPath, ignored);
    }
}

std::ostream&
FederatedOutputFile::GetStream()
{
    return m_stream;
}

bool
FederatedOutputFile::Commit(std::string& error)
{
    if (!m_created)
    {
        error = "Cannot write '" + m_path +
                "': " + (m_createError.empty() ? "it was committed before" : m_createError) + ".";
        return false;
    }
    m_stream.close();
    if (!m_stream)
    {
        error = "Cannot write '" + m_path + "': the disk is full or failed.";
        return false;
    }
    return Rename(error);
}

bool
FederatedOutputFile::Publish(std::string& error)
{
    if (!m_created)
    {
        error = "Cannot write '" + m_path +
                "': " + (m_createError.empty() ? "it was published before" : m_createError) + ".";
        return false;
    }
    return Flush(error) && Rename(error);
}

bool
FederatedOutputFile::Flush(std::string& error)
{
    m_stream.flush();
    if (!m_stream)
    {
        error = "Cannot write '" + m_path + "': the disk is full or failed.";
        return false;
    }
    return true;
}

bool
FederatedOutputFile::Rename(std::string& error)
{
    std::error_code status;
    std::filesystem::rename(m_partPath, m_path, status);
    if (status)
    {
        error = "Cannot write '" + m_path + "': " + status.message() + ".";
        return false;
    }
    m_created = false;
    return true;
}

} // namespace ns3
