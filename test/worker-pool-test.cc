// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/worker-pool.h"

#include "ns3/federated-random.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>

using namespace ns3;
using namespace ns3::federated;

TEST(WorkerPool, ParallelForVisitsEveryIndexOnce)
{
    for (std::size_t workers : {1, 2, 5})
    {
        WorkerPool pool(workers);
        EXPECT_EQ(pool.GetWorkers(), workers);
        for (std::size_t count : {0, 1, 3, 1000})
        {
            std::vector<int> visits(count, 0);
            pool.ParallelFor(count,
                             [&visits, workers](std::size_t index, std::size_t worker)
                             {
                                 EXPECT_LT(worker, workers);
                                 ++visits[index];
                             });
            EXPECT_EQ(visits, std::vector<int>(count, 1));
        }
    }
}

TEST(WorkerPool, AWorkerRunsOneJobAtATime)
{
    WorkerPool pool(3);
    std::vector<std::size_t> sums(3, 0); // one per worker, without a lock
    pool.ParallelFor(10000,
                     [&sums](std::size_t index, std::size_t worker) { sums[worker] += index; });
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::size_t{0}), 9999U * 10000 / 2);
}

TEST(WorkerPool, WaitSeesWhatTheJobWrote)
{
    for (std::size_t workers : {1, 3})
    {
        WorkerPool pool(workers);
        std::vector<uint64_t> results(200, 0);
        std::vector<WorkerPool::Ticket> tickets;
        for (uint64_t k = 0; k < results.size(); ++k)
        {
            tickets.push_back(pool.Submit([&results, k](std::size_t) { results[k] = k * k; }));
        }
        for (std::size_t k = results.size(); k-- > 0;)
        {
            pool.Wait(tickets[k]);
            EXPECT_EQ(results[k], k * k);
        }
        pool.Wait(tickets[0]); // again
    }
}

TEST(WorkerPool, WaitsForOneJobWhileAnotherStillRuns)
{
    std::atomic<bool> release{false};
    WorkerPool pool(2);
    const auto slow = pool.Submit(
        [&release](std::size_t)
        {
            while (!release)
            {
                std::this_thread::yield();
            }
        });
    pool.Wait(pool.Submit([](std::size_t) {}));
    release = true;
    pool.Wait(slow);
}

TEST(WorkerPool, CanEndWhileJobsRunAndWait)
{
    for (int repeat = 0; repeat < 50; ++repeat)
    {
        std::atomic<int> begun{0};
        std::atomic<int> ended{0};
        auto data = std::make_shared<int>(0);
        {
            WorkerPool pool(2);
            for (int k = 0; k < 20; ++k)
            {
                pool.Submit(
                    [&begun, &ended, data](std::size_t)
                    {
                        ++begun;
                        std::this_thread::yield();
                        ++ended;
                    });
            }
        }
        EXPECT_EQ(begun, ended) << "a job that began is never cut off";
        EXPECT_EQ(data.use_count(), 1) << "jobs that never began are destroyed";
    }
}

TEST(WorkerPool, CancelDropsAJobThatHasNotBegun)
{
    std::atomic<bool> release{false};
    auto data = std::make_shared<std::atomic<int>>(0);
    WorkerPool pool(2);
    const auto block = [&release](std::size_t)
    {
        while (!release)
        {
            std::this_thread::yield();
        }
    };
    const auto first = pool.Submit(block);
    const auto second = pool.Submit(block);
    std::vector<WorkerPool::Ticket> tickets;
    for (int k = 0; k < 3; ++k)
    {
        tickets.push_back(pool.Submit([data](std::size_t) { ++*data; }));
    }
    pool.Cancel(tickets[1]);
    EXPECT_EQ(data.use_count(), 3) << "what the job held is gone";
    pool.Wait(tickets[1]); // at once, while the others wait for a worker
    pool.Cancel(tickets[1]);
    release = true;
    for (auto ticket : {first, second, tickets[0], tickets[2]})
    {
        pool.Wait(ticket);
    }
    EXPECT_EQ(data.use_count(), 1);
    EXPECT_EQ(*data, 2);
}

TEST(WorkerPool, CancelWaitsForAJobThatRuns)
{
    std::atomic<bool> begun{false};
    bool ended = false; // without a lock
    WorkerPool pool(2);
    const auto ticket = pool.Submit(
        [&begun, &ended](std::size_t)
        {
            begun = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            ended = true;
        });
    while (!begun)
    {
        std::this_thread::yield();
    }
    pool.Cancel(ticket);
    EXPECT_TRUE(ended);
}

TEST(WorkerPool, CancelOfAnEndedJobHasNoEffect)
{
    for (std::size_t workers : {1, 2})
    {
        WorkerPool pool(workers);
        int runs = 0;
        const auto ticket = pool.Submit([&runs](std::size_t) { ++runs; });
        pool.Wait(ticket);
        pool.Cancel(ticket);
        EXPECT_EQ(runs, 1);
        pool.Wait(pool.Submit([&runs](std::size_t) { ++runs; }));
        EXPECT_EQ(runs, 2);
    }
}

TEST(WorkerPool, NothingOfACancelledJobIsTouched)
{
    WorkerPool pool(3);
    FederatedRandom random(5);
    for (int repeat = 0; repeat < 300; ++repeat)
    {
        constexpr std::size_t JOBS = 20;
        std::vector<std::unique_ptr<int>> memory(JOBS); // without a lock
        std::vector<WorkerPool::Ticket> tickets(JOBS);
        for (std::size_t k = 0; k < JOBS; ++k)
        {
            memory[k] = std::make_unique<int>(0);
            tickets[k] = pool.Submit([value = memory[k].get()](std::size_t) { ++*value; });
        }
        std::vector<std::size_t> order(JOBS);
        std::iota(order.begin(), order.end(), 0);
        random.Shuffle(order);
        for (std::size_t k : order)
        {
            if (k % 3 == 0)
            {
                pool.Wait(tickets[k]);
                EXPECT_EQ(*memory[k], 1);
            }
            else
            {
                pool.Cancel(tickets[k]);
                EXPECT_LE(*memory[k], 1);
            }
            memory[k].reset();
        }
    }
}

TEST(WorkerPool, HasAWorkerPerCoreByDefault)
{
    EXPECT_GE(WorkerPool().GetWorkers(), 1U);
    EXPECT_GE(WorkerPool().GetWorkers(), std::thread::hardware_concurrency());
}
