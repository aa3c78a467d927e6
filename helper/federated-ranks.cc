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
    return GetSize() == 1 ? std::vector<std::string>{text} : g_engine->GetAll(text);
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
