// SPDX-License-Identifier: GPL-2.0-only

#include "federated-progress.h"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace ns3
{

FederatedProgress::FederatedProgress()
    : m_start(std::chrono::steady_clock::now())
{
}

void
FederatedProgress::Watch(const Ptr<FusionCenter>& center)
{
    const auto progress = Ptr<FederatedProgress>(new FederatedProgress, false);
    center->TraceConnectWithoutContext("RoundEnd",
                                       MakeCallback(&FederatedProgress::HandleRoundEnd, progress));
}

void
FederatedProgress::HandleRoundEnd(const RoundRecord& record)
{
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - m_start;
    const uint32_t last = record.before + record.planned;
    const double left = elapsed.count() / ++m_ended * (last - record.round);
    std::ostringstream line;
    line << "round " << record.round << '/' << last << std::fixed;
    if (!std::isnan(record.testAccuracy))
    {
        line << std::setprecision(4) << "  accuracy " << record.testAccuracy << "  loss "
             << record.trainLoss;
    }
    line << "  received " << record.received << '/' << record.selected << " of " << record.joined
         << std::setprecision(2) << "  simulated " << record.end.GetSeconds() << " s"
         << std::setprecision(1) << "  real " << elapsed.count() << " s  left " << left << " s"
         << (record.skipped ? "  (skipped)" : "") << '\n';
    std::cerr << line.str();
}

} // namespace ns3
