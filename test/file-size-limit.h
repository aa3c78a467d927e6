// SPDX-License-Identifier: GPL-2.0-only

#ifndef FILE_SIZE_LIMIT_H
#define FILE_SIZE_LIMIT_H

#include <sys/resource.h>

#include <csignal>

namespace ns3
{

/**
 * @ingroup federated-tests
 * @brief While it exists, files of this process cannot grow beyond a size, as on a full disk. Write
 * no test output meanwhile.
 */
class FileSizeLimit
{
  public:
    /** @param bytes Largest size of a file. */
    explicit FileSizeLimit(rlim_t bytes)
        : m_handler(std::signal(SIGXFSZ, SIG_IGN))
    {
        getrlimit(RLIMIT_FSIZE, &m_before);
        rlimit limit = m_before;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    }

    ~FileSizeLimit()
    {
        setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }

    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  private:
    void (*m_handler)(int); //!< What handled the signal before.
    rlimit m_before{};      //!< The limit before.
};

} // namespace ns3

#endif // FILE_SIZE_LIMIT_H
