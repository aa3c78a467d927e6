// SPDX-License-Identifier: GPL-2.0-only

#include "drop-reason.h"

namespace ns3
{

const char*
GetDropReasonName(DropReason reason)
{
    static const char* const names[] = {"malformed",
                                        "version",
                                        "checksum",
                                        "foreign",
                                        "unknown",
                                        "unexpected",
                                        "unselected",
                                        "old",
                                        "late",
                                        "duplicate",
                                        "invalid",
                                        "not_finite"};
    static_assert(sizeof(names) / sizeof(names[0]) == DROP_REASONS, "a name for every reason");
    return reason < DROP_REASONS ? names[reason] : "none";
}

} // namespace ns3
