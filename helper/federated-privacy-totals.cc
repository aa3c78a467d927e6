// SPDX-License-Identifier: GPL-2.0-only

#include "federated-privacy-totals.h"

#include "federated-ranks.h"
#include "federated-trace-writer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <vector>

namespace ns3
{

namespace
{

const char CLAIM = 'c';
const char INFORMATION = 'i';

/** Write sentences, a line each: their kind, the cells and the text. */
void
WriteSentences(std::ostream& stream, char kind, const federated::CellSentences& sentences)
{
    for (const auto& [text, cells] : sentences.GetAll())
    {
        stream << kind << ' ' << cells.size();
        for (uint32_t cell : cells)
        {
            stream << ' ' << cell;
        }
        stream << ' ' << text << '\n';
    }
}

/** @return sentences, those of the least cell first. */
std::vector<federated::CellSentences::Sentence>
Sort(const federated::CellSentences& sentences)
{
    auto sorted = sentences.GetAll();
    std::stable_sort(sorted.begin(),
                     sorted.end(),
                     [](const auto& one, const auto& other)
                     { return *one.cells.begin() < *other.cells.begin(); });
    return sorted;
}

} // namespace

void
FederatedPrivacyTotals::Add(const Ptr<FederatedTraceWriter>& traces)
{
    traces->UpdateLedgers();
    if (traces->GetMostAnswers() == 0)
    {
        return; // nobody lost anything
    }
    m_answers = std::max<double>(m_answers, traces->GetMostAnswers());
    for (PrivacyEpsilon which : KINDS)
    {
        const double epsilon = traces->GetLargestEpsilon(which);
        const double largest =
            std::isnan(epsilon) ? std::numeric_limits<double>::infinity() : epsilon;
        const auto known = m_epsilons.find(which);
        m_epsilons[which] = known == m_epsilons.end() ? largest : std::max(largest, known->second);
    }
}

void
FederatedPrivacyTotals::AddDevice(const Ptr<LearningTask>& task,
                                  uint32_t share,
                                  double delta,
                                  uint32_t declined)
{
    m_devices[{task, share}] += declined;
    m_delta = std::max(m_delta, delta);
}

void
FederatedPrivacyTotals::AddClaim(const std::string& claim, uint32_t cell)
{
    m_claims.Add(claim, cell);
}

void
FederatedPrivacyTotals::AddSideInformation(const std::string& information, uint32_t cell)
{
    m_information.Add(information, cell);
}

void
FederatedPrivacyTotals::AddOtherRanks()
{
    if (FederatedRanks::GetSize() == 1)
    {
        return;
    }
    m_answers = FederatedRanks::GetMax(m_answers);
    m_delta = FederatedRanks::GetMax(m_delta);
    for (PrivacyEpsilon which : KINDS)
    {
        const auto known = m_epsilons.find(which);
        const double largest =
            FederatedRanks::GetMax(known == m_epsilons.end() ? std::nan("") : known->second);
        if (!std::isnan(largest))
        {
            m_epsilons[which] = largest;
        }
    }
    const std::vector<std::string> texts = FederatedRanks::GetAll(Write());
    m_devices.clear(); // they are in the text of this rank
    m_ofRanks = {};
    for (const std::string& text : texts)
    {
        Read(text);
    }
}

std::string
FederatedPrivacyTotals::Write() const
{
    std::ostringstream text;
    const Declined declined = CountDeclined();
    text << declined.all << ' ' << declined.devices << ' ' << declined.grants << '\n';
    WriteSentences(text, CLAIM, m_claims);
    WriteSentences(text, INFORMATION, m_information);
    return text.str();
}

void
FederatedPrivacyTotals::Read(const std::string& text)
{
    std::istringstream stream(text);
    Declined declined;
    stream >> declined.all >> declined.devices >> declined.grants;
    m_ofRanks.all += declined.all;
    m_ofRanks.devices += declined.devices;
    m_ofRanks.grants += declined.grants;
    char kind = 0;
    for (std::size_t count = 0; stream >> kind >> count;)
    {
        std::vector<uint32_t> cells(count);
        for (uint32_t& cell : cells)
        {
            stream >> cell;
        }
        stream.ignore(); // the space
        std::string sentence;
        std::getline(stream, sentence);
        for (uint32_t cell : cells)
        {
            (kind == CLAIM ? m_claims : m_information).Add(sentence, cell);
        }
    }
}

FederatedPrivacyTotals::Declined
FederatedPrivacyTotals::CountDeclined() const
{
    Declined declined = m_ofRanks;
    declined.all += m_devices.size();
    for (const auto& [device, grants] : m_devices)
    {
        declined.devices += grants > 0 ? 1 : 0;
        declined.grants += grants;
    }
    return declined;
}

uint64_t
FederatedPrivacyTotals::GetMostAnswers() const
{
    return static_cast<uint64_t>(m_answers);
}

double
FederatedPrivacyTotals::GetLargestEpsilon(PrivacyEpsilon which) const
{
    const auto known = m_epsilons.find(which);
    return known == m_epsilons.end() || std::isinf(known->second) ? std::nan("") : known->second;
}

void
FederatedPrivacyTotals::Print(std::ostream& stream) const
{
    std::set<uint32_t> all; // a claim is made for each cell
    for (const auto& claim : m_claims.GetAll())
    {
        all.insert(claim.cells.begin(), claim.cells.end());
    }
    const auto name = [&all](const std::set<uint32_t>& cells)
    { return cells == all ? "" : federated::CellSentences::Describe(cells) + ": "; };
    for (const auto& [claim, cells] : Sort(m_claims))
    {
        stream << "privacy: " << name(cells) << claim << '\n';
    }
    const double basic = GetLargestEpsilon(EPSILON_BASIC);
    const double zcdp = GetLargestEpsilon(EPSILON_ZCDP);
    const double sameCell = GetLargestEpsilon(EPSILON_SAME_CELL);
    stream << "privacy: most answers of a device: " << GetMostAnswers();
    if (!std::isnan(zcdp))
    {
        stream << ", epsilon " << zcdp << " at delta " << m_delta;
    }
    if (!std::isnan(basic))
    {
        stream << ", epsilon " << basic << " (basic), " << GetLargestEpsilon(EPSILON_SAMPLED)
               << " for one sample with its random batches";
    }
    else if (!std::isnan(sameCell))
    {
        stream << ", same-cell epsilon " << sameCell << ", no differential privacy";
    }
    stream << '\n';
    for (const auto& [information, cells] : Sort(m_information))
    {
        stream << "privacy: " << name(cells) << "sent without protection: " << information << '\n';
    }
    const Declined declined = CountDeclined();
    if (declined.devices > 0)
    {
        stream << "privacy: " << declined.devices << " of " << declined.all << " devices declined "
               << declined.grants << " grants, their budget being spent\n";
    }
}

} // namespace ns3
