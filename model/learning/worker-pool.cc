// SPDX-License-Identifier: GPL-2.0-only

#include "worker-pool.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

namespace ns3::federated
{

WorkerPool::WorkerPool(std::size_t workers)
{
    if (workers == 0)
    {
        workers = std::max(1U, std::thread::hardware_concurrency());
    }
    if (workers > 1)
    {
        try
        {
            for (std::size_t worker = 0; worker < workers; ++worker)
            {
                m_threads.emplace_back(&WorkerPool::Run, this, worker);
            }
        }
        catch (const std::system_error&)
        {
            // The system has no more threads to give: those that began do the work.
        }
    }
}

WorkerPool::~WorkerPool()
{
    {
        std::lock_guard<std::mutex> lock(m_mutex);
        m_stop = true;
    }
    m_begin.notify_all();
    for (std::thread& thread : m_threads)
    {
        thread.join();
    }
}

std::size_t
WorkerPool::GetWorkers() const
{
    return std::max<std::size_t>(1, m_threads.size());
}

WorkerPool::Ticket
WorkerPool::Submit(Job job)
{
    if (m_threads.empty())
    {
        job(0);
        return m_next++;
    }
    Ticket ticket;
    {
        std::lock_guard<std::mutex> lock(m_mutex);
        ticket = m_next++;
        m_unfinished.insert(ticket);
        // cppcheck-suppress danglingLifetime ; ParallelFor waits for its jobs
        m_queue.push_back({ticket, std::move(job)});
    }
    m_begin.notify_one();
    return ticket;
}

void
WorkerPool::Wait(Ticket ticket)
{
    std::unique_lock<std::mutex> lock(m_mutex);
    m_end.wait(lock, [this, ticket]() { return m_unfinished.count(ticket) == 0; });
}

void
WorkerPool::Cancel(Ticket ticket)
{
    {
        std::lock_guard<std::mutex> lock(m_mutex);
        const auto queued = std::lower_bound(m_queue.begin(),
                                             m_queue.end(),
                                             ticket,
                                             [](const QueuedJob& entry, Ticket value)
                                             { return entry.ticket < value; });
        if (queued != m_queue.end() && queued->ticket == ticket)
        {
            m_queue.erase(queued);
            m_unfinished.erase(ticket);
            m_end.notify_all();
        }
    }
    Wait(ticket);
}

void
WorkerPool::ParallelFor(std::size_t count,
                        const std::function<void(std::size_t index, std::size_t worker)>& function)
{
    std::atomic<std::size_t> next{0};
    const std::size_t jobs = std::min(count, GetWorkers());
    std::vector<Ticket> tickets(jobs);
    for (Ticket& ticket : tickets)
    {
        ticket = Submit(
            [&next, &function, count](std::size_t worker)
            {
                for (std::size_t index = next++; index < count; index = next++)
                {
                    function(index, worker);
                }
            });
    }
    for (Ticket ticket : tickets)
    {
        Wait(ticket);
    }
}

void
WorkerPool::Run(std::size_t worker)
{
    std::unique_lock<std::mutex> lock(m_mutex);
    while (true)
    {
        m_begin.wait(lock, [this]() { return m_stop || !m_queue.empty(); });
        if (m_stop)
        {
            return;
        }
        QueuedJob next = std::move(m_queue.front());
        m_queue.pop_front();
        lock.unlock();
        next.job(worker);
        next.job = nullptr; // what it captured ends before the job counts as ended
        lock.lock();
        m_unfinished.erase(next.ticket);
        m_end.notify_all();
    }
}

} // namespace ns3::federated
