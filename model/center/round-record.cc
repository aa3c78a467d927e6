// SPDX-License-Identifier: GPL-2.0-only

#include "round-record.h"

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
    case PARTICIPANT_LOST:
        return "lost";
    case PARTICIPANT_PARTIAL:
        return "partial";
    case PARTICIPANT_COMPLETE:
        return "complete";
    }
    return "none";
}

} // namespace ns3
