// SPDX-License-Identifier: GPL-2.0-only

#include "federated-ranks.h"

#include "ns3/simulator.h"

#include <cmath>
#include <limits>

namespace ns3
{

namespace
{

FederatedRanks::Engine* g_engine = nullptr; // may be set before main()
std::function<bool()> g_hasFinished;        // of this rank; empty: nobody asked

/** The simulation is destroyed. */
void
ForgetEnd()
{
    g_hasFinished = nullptr;
}

} // namespace

bool
FederatedRanks::Register(Engine* engine)
{
    g_engine = engine;
    return true;
}

void
FederatedRanks::Begin(int& argc, char**& argv)
{
    if (g_engine)
    {
        g_engine->Begin(argc, argv);
    }
}

int
FederatedRanks::End(int status)
{
    const auto worst = static_cast<int>(GetMax(status));
    if (g_engine)
    {
        g_engine->End();
    }
    return worst;
}

uint32_t
FederatedRanks::GetRank()
{
    return g_engine ? g_engine->GetRank() : 0;
}

uint32_t
FederatedRanks::GetSize()
{
    return g_engine ? g_engine->GetSize() : 1;
}

bool
FederatedRanks::HasMpi()
{
    return g_engine != nullptr;
}

double
FederatedRanks::GetMax(double value)
{
    if (GetSize() == 1)
    {
        return value;
    }
    const double least = -std::numeric_limits<double>::infinity();
    const double most = g_engine->GetMax(std::isnan(value) ? least : value);
    return most == least ? std::nan("") : most;
}

std::vector<std::string>
FederatedRanks::GetAll(const std::string& text)
{
    if (GetSize() == 1)
    {
        return {text};
    }
    std::vector<std::string> all(GetSize());
    for (uint32_t rank = 0; rank < all.size(); ++rank)
    {
        // Only that rank knows a value.
        const bool isOwn = rank == GetRank();
        const double size = GetMax(isOwn ? static_cast<double>(text.size()) : std::nan(""));
        for (std::size_t i = 0; static_cast<double>(i) < size; ++i)
        {
            const double byte = isOwn ? static_cast<unsigned char>(text[i]) : std::nan("");
            all[rank] += static_cast<char>(static_cast<unsigned char>(GetMax(byte)));
        }
    }
    return all;
}

void
FederatedRanks::StopTogether(const std::function<bool()>& hasFinished)
{
    if (!g_hasFinished)
    {
        Simulator::ScheduleDestroy(&ForgetEnd);
        Simulator::Schedule(Seconds(STOP_PERIOD), &FederatedRanks::CheckEnd);
        if (GetSize() > 1)
        {
            g_engine->AlignWindows(); // else ranks would ask each other in different windows
        }
    }
    g_hasFinished = hasFinished;
}

bool
FederatedRanks::IsStoppingTogether()
{
    return g_hasFinished != nullptr;
}

void
FederatedRanks::CheckEnd()
{
    if (GetMax(g_hasFinished() ? 0 : 1) == 0)
    {
        Simulator::Stop();
        return;
    }
    Simulator::Schedule(Seconds(STOP_PERIOD), &FederatedRanks::CheckEnd);
}

} // namespace ns3
