// SPDX-License-Identifier: GPL-2.0-only

#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Worker threads that run jobs in the order in which they were submitted.
 *
 * A job gets the number of its worker, so that it can use memory that belongs to that worker alone.
 * It must touch no ns-3 object (reference counts are not atomic), throw nothing and not use the
 * pool itself. With one worker there is no thread: jobs run where they are submitted.
 */
class WorkerPool
{
  public:
    using Job = std::function<void(std::size_t worker)>; //!< What a worker runs.
    using Ticket = uint64_t;                             //!< Names a submitted job.

    /** @param workers Number of workers; 0 means one per core. */
    explicit WorkerPool(std::size_t workers = 0);

    /** Waits for the running jobs, and drops those that have not begun. */
    ~WorkerPool();

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /** @return the number of workers; they are called 0, 1, ... */
    std::size_t GetWorkers() const;

    /**
     * @param job A job; it begins when a worker is free.
     * @return its ticket.
     */
    Ticket Submit(Job job);

    /**
     * Return when a job has ended; its writes are then visible to the caller.
     * @param ticket The job's ticket. It may be waited for more than once.
     */
    void Wait(Ticket ticket);

    /**
     * Drop a job that has not begun, or wait for one that runs: afterwards nothing of it is touched
     * any more. Waiting for a dropped job returns at once.
     * @param ticket The job's ticket; no effect if the job has ended.
     */
    void Cancel(Ticket ticket);

    /**
     * Call function(index, worker) for index = 0..count-1, in any order, and wait for all.
     * @param count How many indices.
     * @param function What to call.
     */
    void ParallelFor(std::size_t count,
                     const std::function<void(std::size_t index, std::size_t worker)>& function);

  private:
    /** A job that waits for a worker. */
    struct QueuedJob
    {
        Ticket ticket; //!< Its ticket.
        Job job;       //!< What to run.
    };

    /**
     * What a thread does until the pool ends.
     * @param worker Its number.
     */
    void Run(std::size_t worker);

    std::mutex m_mutex;                 //!< Guards what follows.
    std::condition_variable m_begin;    //!< A job was queued, or the pool ends.
    std::condition_variable m_end;      //!< A job has ended.
    std::deque<QueuedJob> m_queue;      //!< Jobs that have not begun, in order of their tickets.
    std::set<Ticket> m_unfinished;      //!< Jobs that have not ended.
    Ticket m_next = 0;                  //!< The next ticket.
    bool m_stop = false;                //!< The pool ends.
    std::vector<std::thread> m_threads; //!< The threads; none if there is one worker.
};

} // namespace ns3::federated

#endif // WORKER_POOL_H
