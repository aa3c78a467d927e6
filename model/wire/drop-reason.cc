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
                                        "not_finite",
                                        "unauthentic",
                                        "replayed"};
    static_assert(sizeof(names) / sizeof(names[0]) == DROP_REASONS, "a name for every reason");
    return reason < DROP_REASONS ? names[reason] : "none";
}

std::optional<DropReason>
GetDropReason(FederatedHeader::ReadResult result)
{
    switch (result)
    {
    case FederatedHeader::READ_OK:
        return std::nullopt;
    case FederatedHeader::READ_VERSION:
        return DROP_VERSION;
    case FederatedHeader::READ_CHECKSUM:
        return DROP_CHECKSUM;
    case FederatedHeader::READ_MALFORMED:
        break;
    }
    return DROP_MALFORMED;
}

std::optional<DropReason>
GetDropReason(federated::FragmentAssembler::Result result)
{
    switch (result)
    {
    case federated::FragmentAssembler::ACCEPTED:
        return std::nullopt;
    case federated::FragmentAssembler::DUPLICATE:
        return DROP_DUPLICATE;
    case federated::FragmentAssembler::NOT_FINITE:
        return DROP_NOT_FINITE;
    case federated::FragmentAssembler::INVALID:
        break;
    }
    return DROP_INVALID;
}

} // namespace ns3
