// SPDX-License-Identifier: GPL-2.0-only

#ifndef CHILD_PROCESS_H
#define CHILD_PROCESS_H

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

namespace ns3
{

/**
 * @ingroup federated-tests
 * @brief A process that was forked from the test, prints nothing, and is killed at the end at the
 * latest. It and the test exchange lines of text.
 */
class ChildProcess
{
  public:
    /** @param main What the process does before it ends at once, without calling destructors. */
    explicit ChildProcess(const std::function<void(ChildProcess& self)>& main)
    {
        int up[2];
        int down[2];
        if (pipe(up) != 0 || pipe(down) != 0)
        {
            std::abort();
        }
        m_id = fork();
        const bool isChild = m_id == 0;
        m_in = isChild ? down[0] : up[0];
        m_out = isChild ? up[1] : down[1];
        close(isChild ? up[0] : up[1]);
        close(isChild ? down[1] : down[0]);
        if (isChild)
        {
            const int nowhere = open("/dev/null", O_WRONLY);
            dup2(nowhere, STDOUT_FILENO);
            dup2(nowhere, STDERR_FILENO);
            main(*this);
            _exit(0);
        }
    }

    ~ChildProcess()
    {
        Kill();
        close(m_in);
        close(m_out);
    }

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /** @param line A line for the other side. */
    void Tell(const std::string& line)
    {
        const std::string text = line + "\n";
        if (write(m_out, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        {
            std::abort();
        }
    }

    /** @return the next line of the other side; what there is if it has ended. */
    std::string Ask()
    {
        std::string line;
        char letter = 0;
        while (read(m_in, &letter, 1) == 1 && letter != '\n')
        {
            line += letter;
        }
        return line;
    }

    /** Kill it, as a user would, and wait for its end. */
    void Kill()
    {
        if (m_id > 0)
        {
            kill(m_id, SIGKILL);
        }
        Wait();
    }

    /** Wait for its end. */
    void Wait()
    {
        if (m_id > 0)
        {
            waitpid(m_id, nullptr, 0);
            m_id = -1;
        }
    }

  private:
    pid_t m_id; //!< The process, in the test; 0 in the process; -1: it has ended.
    int m_in;   //!< Lines of the other side.
    int m_out;  //!< Lines for the other side.
};

} // namespace ns3

#endif // CHILD_PROCESS_H
