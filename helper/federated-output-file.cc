// SPDX-License-Identifier: GPL-2.0-only

#include "federated-output-file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <locale>
#include <set>
#include <system_error>

namespace ns3
{

namespace
{

/** @return what errno says. */
std::string
GetReason()
{
    return std::generic_category().message(errno);
}

/**
 * @param file An open file.
 * @param path A path.
 * @return whether the path leads to the file.
 */
bool
IsAt(int file, const std::string& path)
{
    struct stat open;
    struct stat named;
    return fstat(file, &open) == 0 && stat(path.c_str(), &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/**
 * @param file An open file.
 * @param mode LOCK_EX or LOCK_SH.
 * @return whether somebody else has locked it.
 */
bool
IsLocked(int file, int mode)
{
    return flock(file, mode | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

const char* const BUSY = "it is already being written, by another process or by this one";

} // namespace

/** The files of this process that are open. */
class FederatedOutputFile::Registry
{
  public:
    Registry()
    {
        pthread_atfork(nullptr, nullptr, &HandleFork);
    }

    /** std::exit does not destroy objects on the stack. */
    ~Registry()
    {
        for (FederatedOutputFile* file : m_files)
        {
            file->Close();
        }
        s_isGone = true;
    }

    /** @param file A file that was opened. */
    void Add(FederatedOutputFile* file)
    {
        m_files.insert(file);
    }

    /** @param file A file that is destroyed. */
    void Remove(FederatedOutputFile* file)
    {
        m_files.erase(file);
    }

  private:
    /** In a new process: leave file and lock to the old one. Only close is called, as must be. */
    static void HandleFork()
    {
        for (FederatedOutputFile* file : GetRegistry().m_files)
        {
            if (file->m_file >= 0)
            {
                close(file->m_file);
                file->m_file = -1;
                file->m_state = State::FORKED;
            }
        }
    }

    std::set<FederatedOutputFile*> m_files; //!< The files.

  public:
    static bool s_isGone; //!< Whether the program ends; static files may be destroyed later.
};

bool FederatedOutputFile::Registry::s_isGone = false;

FederatedOutputFile::Registry&
FederatedOutputFile::GetRegistry()
{
    static Registry registry;
    return registry;
}

FederatedOutputFile::FederatedOutputFile(const std::string& path)
    : m_path(path),
      m_partPath(path + ".part")
{
    m_stream.imbue(std::locale::classic());
    if (!Registry::s_isGone)
    {
        GetRegistry().Add(this);
    }
    const std::string reason = Open();
    if (!reason.empty())
    {
        std::string ignored;
        Fail(reason, ignored);
    }
}

FederatedOutputFile::~FederatedOutputFile()
{
    Close();
    if (!Registry::s_isGone)
    {
        GetRegistry().Remove(this);
    }
}

std::string
FederatedOutputFile::Open()
{
    int file = -1;
    while (file < 0)
    {
        file = open(m_partPath.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0)
        {
            return GetReason();
        }
        if (IsLocked(file, LOCK_EX))
        {
            close(file);
            return BUSY;
        }
        if (!IsAt(file, m_partPath))
        {
            close(file); // its owner renamed or removed it meanwhile
            file = -1;
        }
    }
    // From here on PATH.part is ours, so that nobody else can rename it to PATH.
    m_file = file;
    if (IsWritten())
    {
        return BUSY;
    }
    // Only the remains of a process that was killed. A device cannot be truncated.
    return ftruncate(m_file, 0) != 0 && errno != EINVAL ? GetReason() : "";
}

bool
FederatedOutputFile::IsWritten() const
{
    const int file = open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool isWritten = file >= 0 && IsLocked(file, LOCK_SH);
    if (file >= 0)
    {
        close(file);
    }
    return isWritten;
}

std::ostream&
FederatedOutputFile::GetStream()
{
    return m_stream;
}

bool
FederatedOutputFile::IsWritable(std::string& error) const
{
    switch (m_state)
    {
    case State::GROWING:
    case State::PUBLISHED:
        return true;
    case State::COMMITTED:
        error = "Cannot write '" + m_path + "': it was committed before.";
        return false;
    case State::FORKED:
        error = "Cannot write '" + m_path + "': it belongs to the process that opened it.";
        return false;
    case State::FAILED:
        error = m_error;
        return false;
    }
    return false;
}

bool
FederatedOutputFile::Write(const std::string& text) const
{
    for (std::size_t done = 0; done < text.size();)
    {
        const ssize_t count = write(m_file, text.data() + done, text.size() - done);
        if (count < 0 && errno != EINTR)
        {
            return false;
        }
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    return true;
}

bool
FederatedOutputFile::Flush(std::string& error)
{
    if (!IsWritable(error))
    {
        return false;
    }
    const std::string text = m_stream.str();
    m_stream.str("");
    if (!Write(text))
    {
        const std::string reason = GetReason();
        // If this fails, too, nothing more can be done about it.
        [[maybe_unused]] const int status = ftruncate(m_file, static_cast<off_t>(m_size));
        return Fail(reason, error);
    }
    m_size += text.size();
    return true;
}

bool
FederatedOutputFile::Sync(std::string& error)
{
    // What is no file on a disk cannot be synchronized.
    return Flush(error) && (fsync(m_file) == 0 || errno == EINVAL || Fail(GetReason(), error));
}

bool
FederatedOutputFile::Commit(std::string& error)
{
    if (!Sync(error) || !Rename(State::COMMITTED, error))
    {
        return false;
    }
    Close();
    return true;
}

bool
FederatedOutputFile::Publish(std::string& error)
{
    return Flush(error) && Rename(State::PUBLISHED, error);
}

bool
FederatedOutputFile::Rename(State state, std::string& error)
{
    if (m_state == State::PUBLISHED)
    {
        error = "Cannot write '" + m_path + "': it was published before.";
        return false;
    }
    if (std::rename(m_partPath.c_str(), m_path.c_str()) != 0)
    {
        return Fail(GetReason(), error);
    }
    m_state = state;
    return true;
}

bool
FederatedOutputFile::Fail(const std::string& reason, std::string& error)
{
    Close();
    m_state = State::FAILED;
    m_error = "Cannot write '" + m_path + "': " + reason + ".";
    error = m_error;
    return false;
}

void
FederatedOutputFile::Close()
{
    if (m_file < 0)
    {
        return;
    }
    if (m_state == State::GROWING)
    {
        unlink(m_partPath.c_str()); // while it is locked
    }
    close(m_file);
    m_file = -1;
}

} // namespace ns3
