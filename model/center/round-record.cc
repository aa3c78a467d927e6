// SPDX-License-Identifier: GPL-2.0-only

#include "round-record.h"

#include <cmath>

namespace ns3
{

const char*
GetParticipantStateName(ParticipantState state)
{
    switch (state)
    {
    case PARTICIPANT_SILENT:
        return "silent";
    case PARTICIPANT_UNREACHABLE:
        return "unreachable";
    case PARTICIPANT_LEFT:
        return "left";
    case PARTICIPANT_NO_MODEL:
        return "no_model";
    case PARTICIPANT_NOT_FINITE:
        return "not_finite";
    case PARTICIPANT_NO_TIME:
        return "no_time";
    case PARTICIPANT_DECLINED:
        return "declined";
    case PARTICIPANT_EMPTY:
        return "empty";
    case PARTICIPANT_LOST:
        return "lost";
    case PARTICIPANT_PARTIAL:
        return "partial";
    case PARTICIPANT_COMPLETE:
        return "complete";
    }
    return "none";
}

void
RoundRecord::Summarize(std::size_t dimension)
{
    double snrSum = 0;
    double sigmaSum = 0;
    uint32_t snrCount = 0;
    uint32_t sigmaCount = 0;
    selected = static_cast<uint32_t>(links.size());
    for (const LinkRecord& link : links)
    {
        grantedBits += link.wireBits;
        sentFragments += link.sentFragments;
        receivedFragments += link.receivedFragments;
        declined += link.state == PARTICIPANT_DECLINED;
        if (link.receivedFragments == 0)
        {
            continue;
        }
        ++received;
        deliveredBits +=
            link.wireBits * static_cast<double>(link.coordinates) / static_cast<double>(dimension);
        if (std::isfinite(link.snr))
        {
            snrSum += link.snr;
            ++snrCount;
        }
        if (std::isfinite(link.sigma))
        {
            sigmaSum += link.sigma;
            ++sigmaCount;
        }
    }
    if (snrCount > 0)
    {
        meanSnr = snrSum / snrCount;
    }
    if (sigmaCount > 0)
    {
        meanSigma = sigmaSum / sigmaCount;
    }
}

} // namespace ns3
