// SPDX-License-Identifier: GPL-2.0-only

#include "federated-summary.h"

#include "ns3/interval-rule.h"
#include "ns3/ipv6-address.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/privacy-ledger.h"
#include "ns3/quantizer.h"
#include "ns3/socket-check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace ns3
{

namespace
{

/**
 * @param claim What is claimed.
 * @return a verdict and its reason.
 */
std::string
Describe(const PrivacyClaim& claim)
{
    std::ostringstream text;
    const std::string each = claim.scope == PrivacyClaim::UPDATE ? " an update" : " a coordinate";
    switch (claim.kind)
    {
    case PrivacyClaim::NONE:
        text << "no claim";
        break;
    case PrivacyClaim::SAME_CELL:
        text << "no claim but a same-cell epsilon of " << claim.epsilon << each;
        break;
    case PrivacyClaim::TRUE_EPSILON:
        text << "differential privacy, epsilon " << claim.epsilon << each;
        if (claim.updateRho > 0)
        {
            text << ", rho " << claim.updateRho << " an update";
        }
        if (claim.tightRho > 0)
        {
            text << " (" << claim.tightRho << " by a form that is checked but not proven)";
        }
        break;
    case PrivacyClaim::ZCDP:
        text << "zero-concentrated differential privacy, rho " << claim.rho << each;
        break;
    }
    text << ": " << claim.reason;
    return text.str();
}

/**
 * @param device A device.
 * @param bits Those of its group.
 * @return the bits of a coordinate that it sends: floats have 32.
 */
unsigned
GetWireBits(const FederatedDevice& device, unsigned bits)
{
    PointerValue quantizer;
    device.GetAttribute("Quantizer", quantizer);
    return quantizer.Get<Quantizer>()->GetWireBits(bits);
}

} // namespace

FederatedSummary::FederatedSummary(const Federation& federation)
    : m_federation(federation)
{
}

FederatedSummary::~FederatedSummary()
{
    m_federation.traces->ForgetPrivacy(); // it asks this object
}

void
FederatedSummary::AddDevice(const Ptr<FederatedDevice>& device, uint32_t group)
{
    m_devices.push_back({device, group, false});
}

void
FederatedSummary::AddVisitor(const Ptr<FederatedDevice>& visitor, uint32_t group)
{
    m_federation.traces->AddVisitor(static_cast<uint32_t>(m_devices.size()), visitor->GetShare());
    m_devices.push_back({visitor, group, true});
}

void
FederatedSummary::SetHasEdges()
{
    m_hasEdges = true;
}

RunFacts
FederatedSummary::GetFacts() const
{
    RunFacts facts = m_federation.diagnosis->GetFacts(m_federation.center);
    facts.hasEdges = m_hasEdges;
    facts.clampedFraction = m_federation.traces->GetClampedFraction();
    facts.interval = DescribeInterval();
    const PrivacyClaim::Kind claim = m_devices.front().application->GetPrivacyClaim().kind;
    facts.isPrivate = claim == PrivacyClaim::TRUE_EPSILON || claim == PrivacyClaim::ZCDP;
    if (facts.joined < facts.devices || facts.states[PARTICIPANT_UNREACHABLE] > 0)
    {
        facts.obstacle = FindObstacle();
    }
    return facts;
}

std::string
FederatedSummary::FindObstacle() const
{
    const bool v6 = Ipv6Address::IsMatchingType(m_federation.address.ip);
    for (std::size_t i = 0; i < m_devices.size() && !m_federation.hasGroupAddress; ++i)
    {
        const Ptr<Node> node = m_devices[i].application->GetNode();
        if (!node || m_devices[i].isVisitor)
        {
            continue; // another rank simulates it, or it visits another cell
        }
        std::string obstacle = federated::FindRouteMistake(node, m_federation.address.ip);
        if (!obstacle.empty())
        {
            return obstacle + " (device " + std::to_string(i) + ")";
        }
        const std::vector<Address> addresses = federated::ListAddresses(node, v6);
        obstacle = addresses.size() == 1
                       ? federated::FindRouteMistake(m_federation.center->GetNode(), addresses[0])
                       : "";
        if (!obstacle.empty())
        {
            return obstacle + " (the center to device " + std::to_string(i) + ")";
        }
    }
    return "";
}

std::string
FederatedSummary::DescribeInterval() const
{
    PointerValue value;
    m_devices.front().application->GetAttribute("IntervalRule", value);
    const auto rule = value.Get<IntervalRule>();
    const PrivacyContext context =
        rule->GetPrivacyContext(CLIP_NONE, 0, m_federation.bits[m_devices.front().group]);
    std::ostringstream text;
    if (context.intervalIsPublic)
    {
        text << "[" << context.low << ", " << context.high << "]";
    }
    else
    {
        text << "of " << rule->GetInstanceTypeId().GetName();
    }
    return text.str();
}

std::vector<std::string>
FederatedSummary::ListClaims() const
{
    struct Verdict
    {
        std::string text;
        std::set<uint32_t> groups; // of its devices
        std::set<unsigned> bits;   // of a coordinate
        uint32_t devices = 0;      // that have this verdict
    };

    std::vector<Verdict> verdicts;
    std::map<uint32_t, uint32_t> sizes; // of groups
    for (const Device& device : m_devices)
    {
        ++sizes[device.group];
        const PrivacyClaim claim = device.application->GetPrivacyClaim();
        const std::string text = Describe(claim);
        auto same = std::find_if(verdicts.begin(),
                                 verdicts.end(),
                                 [&text](const auto& other) { return other.text == text; });
        if (same == verdicts.end())
        {
            same = verdicts.insert(verdicts.end(), Verdict());
            same->text = text;
        }
        same->groups.insert(device.group);
        // A claim depends on the bits of the group; where there is none, what is sent counts.
        const unsigned bits = m_federation.bits[device.group];
        same->bits.insert(claim.kind == PrivacyClaim::NONE ? GetWireBits(*device.application, bits)
                                                           : bits);
        ++same->devices;
    }
    std::vector<std::string> claims;
    for (const Verdict& verdict : verdicts)
    {
        uint32_t devices = 0; // that the groups have
        for (uint32_t group : verdict.groups)
        {
            devices += sizes[group];
        }
        std::string bits;
        for (unsigned one : verdict.bits)
        {
            bits += (bits.empty() ? "" : ", ") + std::to_string(one);
        }
        const std::string some = verdict.devices < devices
                                     ? ", " + std::to_string(verdict.devices) + " of " +
                                           std::to_string(devices) + " devices"
                                     : "";
        claims.push_back(verdict.text + " (" + bits + (bits == "1" ? " bit" : " bits") + some +
                         ")");
    }
    return claims;
}

bool
FederatedSummary::HasAllDevices() const
{
    return std::all_of(m_devices.begin(),
                       m_devices.end(),
                       [](const Device& device)
                       { return device.isVisitor || device.application->GetNode(); });
}

void
FederatedSummary::PrintPrivacy(std::ostream& stream)
{
    if (!HasAllDevices())
    {
        stream << "privacy: what devices on other ranks have spent is not known here\n";
    }
    FederatedPrivacyTotals totals;
    AddLosses(totals);
    AddClaims(totals, 0);
    totals.Print(stream);
}

void
FederatedSummary::AddLosses(FederatedPrivacyTotals& totals)
{
    totals.Add(m_federation.traces);
    const auto& declined = m_federation.traces->GetDeclined();
    for (uint32_t i = 0; i < m_devices.size(); ++i)
    {
        const FederatedDevice& device = *m_devices[i].application;
        if (m_devices[i].isVisitor || device.GetNode())
        {
            const auto grants = declined.find(i);
            totals.AddDevice(m_federation.task,
                             device.GetShare(),
                             device.GetPrivacyLedger().GetDelta(),
                             grants == declined.end() ? 0 : grants->second);
        }
    }
}

void
FederatedSummary::AddClaims(FederatedPrivacyTotals& totals, uint32_t cell) const
{
    for (const std::string& claim : ListClaims())
    {
        totals.AddClaim(claim, cell);
    }
    if (m_federation.center->IsContinued())
    {
        const uint32_t rounds = m_federation.center->GetRoundsBefore();
        totals.AddClaim(
            "the run began with a given model of " +
                (rounds > 0 ? "round " + std::to_string(rounds) : "no known round") +
                ": what devices spent for it is not counted here" +
                (rounds > 0 ? "" : ", and an earlier run with this RngRun tossed the same coins"),
            cell);
    }
    std::set<std::string> information;
    for (const Device& device : m_devices)
    {
        const auto more = device.application->GetSideInformation();
        information.insert(more.begin(), more.end());
    }
    for (const std::string& one : information)
    {
        totals.AddSideInformation(one, cell);
    }
}

} // namespace ns3
