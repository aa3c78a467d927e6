// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_OUTPUT_FILE_H
#define FEDERATED_OUTPUT_FILE_H

#include <cstddef>
#include <sstream>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A file that appears under its name only when it is complete, and holds only whole rows.
 *
 * Data is written to PATH.part, which Commit renames to PATH; without Commit it is removed, and an
 * earlier file PATH stays. A file that others read while it grows is renamed by Publish instead,
 * and flushed whenever it ends with a whole row.
 *
 * What is written to the stream stays in memory until Flush, Commit or Publish writes it. If that
 * fails, for example because the disk is full, the file is truncated to what it held before, and no
 * more can be written. A table is flushed after each row, so that a failure is noticed at once.
 *
 * While the object exists, nobody else writes the file: neither another process nor another object
 * of this one can open the same path. The lock is a property of the open file (flock): it ends with
 * the process, and a forked process does not have it and cannot write. A file system without locks
 * is used without them.
 */
class FederatedOutputFile
{
  public:
    /**
     * Open the file. A failure is reported by Flush, Commit or Publish.
     * @param path Path of the file.
     */
    explicit FederatedOutputFile(const std::string& path);

    /** Remove what was not committed. */
    ~FederatedOutputFile();

    FederatedOutputFile(const FederatedOutputFile&) = delete;
    FederatedOutputFile& operator=(const FederatedOutputFile&) = delete;

    /** @return where to write. */
    std::ostream& GetStream();

    /**
     * Put the file in place.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether the file is complete and in place.
     */
    [[nodiscard]] bool Commit(std::string& error);

    /**
     * Put the file in place with what it holds so far, which must be whole rows; more may follow.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether the file is in place.
     */
    [[nodiscard]] bool Publish(std::string& error);

    /**
     * Write what is in memory, which must be whole rows.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether all data so far could be written.
     */
    [[nodiscard]] bool Flush(std::string& error);

    /**
     * Flush, and wait until the data is stored: some file systems report a full disk only then.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether all data so far is stored.
     */
    [[nodiscard]] bool Sync(std::string& error);

  private:
    class Registry;

    /** What may be done with the file. */
    enum class State
    {
        GROWING,   //!< PATH.part is written.
        PUBLISHED, //!< PATH is written.
        COMMITTED, //!< PATH is complete.
        FORKED,    //!< Another process writes it, from which this one was forked.
        FAILED     //!< It could not be opened or written.
    };

    /** @return the files of this process that are open. */
    static Registry& GetRegistry();

    /**
     * Open and lock PATH.part.
     * @return what was wrong; empty if nothing was.
     */
    std::string Open();

    /** @return whether somebody writes PATH. */
    bool IsWritten() const;

    /**
     * @param [out] error On failure, one sentence.
     * @return whether more can be written.
     */
    bool IsWritable(std::string& error) const;

    /**
     * Append to the file.
     * @param text What to append.
     * @return whether it succeeded; if not, the reason is in errno.
     */
    bool Write(const std::string& text) const;

    /**
     * Rename PATH.part to PATH.
     * @param state The state after that.
     * @param [out] error On failure, one sentence.
     * @return whether it succeeded.
     */
    bool Rename(State state, std::string& error);

    /**
     * Give up the file, remove PATH.part and keep the reason.
     * @param reason What was wrong, without a period.
     * @param [out] error One sentence with the path and the reason.
     * @return false.
     */
    bool Fail(const std::string& reason, std::string& error);

    /** Close the file, which unlocks it, and remove what was neither committed nor published. */
    void Close();

    std::string m_path;             //!< Path of the file.
    std::string m_partPath;         //!< Where it is being written.
    std::ostringstream m_stream;    //!< What is not written yet.
    State m_state = State::GROWING; //!< What may be done.
    int m_file = -1;                //!< The open file, which holds the lock; -1: none.
    std::size_t m_size = 0;         //!< Bytes that are written.
    std::string m_error;            //!< Why it failed.
};

} // namespace ns3

#endif // FEDERATED_OUTPUT_FILE_H
