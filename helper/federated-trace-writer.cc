// SPDX-License-Identifier: GPL-2.0-only

#include "federated-trace-writer.h"

#include "ns3/device-registry.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

namespace ns3
{

namespace
{

/** A row of a table. */
class Row
{
  public:
    Row()
    {
        m_text.imbue(std::locale::classic());
        m_text.precision(10);
    }

    /**
     * Add a value.
     * @param value The value.
     * @return this row.
     */
    template <typename T>
    Row& operator<<(const T& value)
    {
        m_text << (m_first ? "" : ",") << value;
        m_first = false;
        return *this;
    }

    /**
     * Add a number.
     * @param value The number; NaN, which means unknown, becomes an empty value.
     * @return this row.
     */
    Row& operator<<(double value)
    {
        m_text << (m_first ? "" : ",");
        m_first = false;
        if (!std::isnan(value))
        {
            m_text << value;
        }
        return *this;
    }

    /** @return the row with its end. */
    std::string Get() const
    {
        return m_text.str() + "\n";
    }

  private:
    std::ostringstream m_text; //!< What was added.
    bool m_first = true;       //!< Whether nothing was.
};

constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

/**
 * @param ratio A linear ratio.
 * @return it in dB.
 */
double
ToDb(double ratio)
{
    return 10 * std::log10(ratio);
}

/**
 * @param sent Fragments sent.
 * @param received How many of these were received.
 * @return the lost fraction; NaN if none was sent.
 */
double
GetFraction(uint64_t sent, uint64_t received)
{
    return sent == 0 ? UNKNOWN : 1 - static_cast<double>(received) / static_cast<double>(sent);
}

} // namespace

template <typename... Arguments>
void
FederatedTraceWriter::Connect(const Ptr<Object>& source,
                              const std::string& name,
                              void (FederatedTraceWriter::*sink)(Arguments...))
{
    source->TraceConnectWithoutContext(name, MakeCallback(sink, Ptr<FederatedTraceWriter>(this)));
}

void
FederatedTraceWriter::Watch(const Ptr<FusionCenter>& center)
{
    PointerValue task;
    center->GetAttribute("Task", task);
    m_task = task.Get<LearningTask>();
    Connect(center, "RoundEnd", &FederatedTraceWriter::HandleRoundEnd);
    Connect(center, "Finished", &FederatedTraceWriter::HandleFinished);
    Connect(center, "RoundStart", &FederatedTraceWriter::HandleRoundStart);
    Connect(center, "UpdateStarted", &FederatedTraceWriter::HandleUpdateStarted);
}

void
FederatedTraceWriter::Watch(const Ptr<FederatedDevice>& device)
{
    Connect(device, "UpdateSent", &FederatedTraceWriter::HandleUpdateSent);
    Connect(device, "PrivacySpent", &FederatedTraceWriter::HandlePrivacySpent);
    Connect(device, "Declined", &FederatedTraceWriter::HandleDeclined);
}

bool
FederatedTraceWriter::Open(const std::string& prefix, bool links, std::string& error)
{
    m_rounds.reset();
    m_links.reset();
    m_prefix.clear();
    m_error.clear();
    m_rounds = std::make_unique<FederatedOutputFile>(prefix + "-rounds.csv");
    m_rounds->GetStream() << "round,time_s,train_loss,test_accuracy,selected,received,bit_budget,"
                             "granted_bits,delivered_bits,lost_fraction,mean_snr_db,mean_sigma,"
                             "same_cell_epsilon,skipped,untouched_fraction,joined,dropped,"
                             "uplink_budget_s,mean_rate_bps,true_epsilon,zcdp_epsilon,"
                             "sampled_epsilon,declined,start_s,clamped_fraction,mean_burst,"
                             "repair_s,awake_fraction\n";
    if (links)
    {
        m_links = std::make_unique<FederatedOutputFile>(prefix + "-links.csv");
        m_links->GetStream()
            << "round,device,group,bits,snr_db,sigma,sent_fragments,"
               "received_fragments,weight,distance_m,uplink_s,state,phy_rate_bps,frames_ok,"
               "frames_failed,energy_j\n";
    }
    // Earlier files are replaced only if all new ones can be written.
    if (m_rounds->Flush(error) && (!m_links || m_links->Flush(error)) &&
        (!m_run || WriteRun(prefix, error)) && (!m_links || m_links->Publish(error)) &&
        m_rounds->Publish(error))
    {
        m_prefix = prefix;
        return true;
    }
    m_rounds.reset();
    m_links.reset();
    return false;
}

void
FederatedTraceWriter::SetDistanceCallback(const DistanceCallback& distance)
{
    m_distance = distance;
}

void
FederatedTraceWriter::SetAwakeCallback(const Callback<double>& awake)
{
    m_awake = awake;
}

void
FederatedTraceWriter::SetEnergyCallback(const EnergyCallback& energy)
{
    m_energy = energy;
}

void
FederatedTraceWriter::Describe(const FederatedRunRecord& record)
{
    m_run = record;
}

void
FederatedTraceWriter::ForgetPrivacy()
{
    if (m_run)
    {
        m_run->privacy = nullptr;
    }
}

std::vector<std::string>
FederatedTraceWriter::GetTables() const
{
    std::vector<std::string> tables{"rounds", "devices"};
    if (m_links)
    {
        tables.emplace_back("links");
    }
    return tables;
}

std::string
FederatedTraceWriter::MakeDeviceTable() const
{
    Row center;
    center << "center"
           << ""
           << ""
           << "" << m_run->center.x << m_run->center.y << m_run->center.z;
    std::string table = "device,group,bits,samples,x_m,y_m,z_m\n" + center.Get();
    for (std::size_t i = 0; i < m_run->devices.size(); ++i)
    {
        const FederatedRunRecord::Device& device = m_run->devices[i];
        Row row;
        row << i << device.group << device.bits
            << (device.samples > 0 ? std::to_string(device.samples) : "") << device.place.x
            << device.place.y << device.place.z;
        table += row.Get();
    }
    return table;
}

bool
FederatedTraceWriter::WriteRun(const std::string& prefix, std::string& error) const
{
    FederatedOutputFile devices(prefix + "-devices.csv");
    devices.GetStream() << MakeDeviceTable();
    FederatedOutputFile run(prefix + "-run.json");
    run.GetStream() << m_run->ToJson(GetTables(), FederatedJson::NOTHING);
    return devices.Sync(error) && run.Commit(error) && devices.Commit(error);
}

bool
FederatedTraceWriter::WriteResult(const FederatedResultLine& result, std::string& error) const
{
    if (!m_run || m_prefix.empty())
    {
        return true;
    }
    FederatedOutputFile run(m_prefix + "-run.json");
    run.GetStream() << m_run->ToJson(GetTables(), result.ToJson());
    return run.Commit(error);
}

const RoundRecord&
FederatedTraceWriter::GetLastRound() const
{
    return m_last;
}

uint64_t
FederatedTraceWriter::GetSentFragments() const
{
    return m_sentFragments;
}

uint64_t
FederatedTraceWriter::GetReceivedFragments() const
{
    return m_receivedFragments;
}

double
FederatedTraceWriter::GetLostFraction() const
{
    return GetFraction(m_sentFragments, m_receivedFragments);
}

FederatedResultLine
FederatedTraceWriter::GetResult() const
{
    FederatedResultLine result;
    result.AddCount("rounds", m_last.round - m_last.before);
    result.AddReal("time_s", m_last.end.GetSeconds());
    result.AddReal("test_accuracy", m_last.testAccuracy);
    result.AddReal("train_loss", m_last.trainLoss);
    result.AddReal("lost_fraction", GetLostFraction());
    const auto add = [this, &result](const std::string& key, PrivacyEpsilon which)
    {
        if (!std::isnan(GetLargestEpsilon(which)))
        {
            result.AddReal(key, GetLargestEpsilon(which));
        }
    };
    add("true_epsilon", EPSILON_BASIC);
    add("zcdp_epsilon", EPSILON_ZCDP);
    add("sampled_epsilon", EPSILON_SAMPLED);
    if (!m_declined.empty())
    {
        uint64_t declined = 0;
        for (const auto& [device, count] : m_declined)
        {
            declined += count;
        }
        result.AddCount("declined", declined);
    }
    if (m_last.target > 0)
    {
        result.AddReal("target_s", m_last.HasReachedTarget() ? m_last.end.GetSeconds() : UNKNOWN);
    }
    return result;
}

double
FederatedTraceWriter::GetClampedFraction() const
{
    return m_clampedFraction;
}

double
FederatedTraceWriter::GetLargestEpsilon(PrivacyEpsilon which) const
{
    double largest = m_ledgers.empty() ? UNKNOWN : 0;
    for (const auto& [device, ledger] : m_ledgers)
    {
        largest = std::max(largest, ledger.GetEpsilon(which));
    }
    return std::isinf(largest) ? UNKNOWN : largest;
}

uint32_t
FederatedTraceWriter::GetMostAnswers() const
{
    uint32_t most = 0;
    for (const auto& [device, ledger] : m_ledgers)
    {
        most = std::max(most, ledger.GetAnswers());
    }
    return most;
}

const std::map<uint32_t, uint32_t>&
FederatedTraceWriter::GetDeclined() const
{
    return m_declined;
}

bool
FederatedTraceWriter::IsComplete(std::string& error)
{
    const bool isStored = m_error.empty() && (!m_rounds || m_rounds->Sync(m_error)) &&
                          (!m_links || m_links->Sync(m_error));
    error = m_error;
    return isStored;
}

void
FederatedTraceWriter::Flush(FederatedOutputFile& file)
{
    if (!file.Flush(m_error))
    {
        Simulator::Stop();
    }
}

void
FederatedTraceWriter::HandleRoundStart(uint32_t, const std::vector<uint32_t>& selected)
{
    m_used.clear();
    for (uint32_t device : selected)
    {
        if (!m_energy.IsNull())
        {
            m_used[device] = m_energy(device);
        }
    }
}

void
FederatedTraceWriter::HandleFinished(uint32_t)
{
    if (m_error.empty() && !WriteResult(GetResult(), m_error))
    {
        Simulator::Stop();
    }
}

void
FederatedTraceWriter::HandleUpdateStarted(uint32_t, uint32_t device)
{
    if (m_links && !m_distance.IsNull())
    {
        m_distances[device] = m_distance(device);
    }
}

double
FederatedTraceWriter::GetDistance(uint32_t device) const
{
    const auto found = m_distances.find(device);
    return found != m_distances.end() ? found->second
           : m_distance.IsNull()      ? UNKNOWN
                                      : m_distance(device);
}

void
FederatedTraceWriter::HandleUpdateSent(const FederatedDevice::SentRecord& record)
{
    m_sent[record.device] = record;
}

void
FederatedTraceWriter::HandlePrivacySpent(uint32_t device, const PrivacyLedger& ledger)
{
    m_ledgers[device] = ledger;
}

void
FederatedTraceWriter::SetShares(uint32_t first, uint32_t devices)
{
    m_firstShare = first;
    m_shares = devices;
}

void
FederatedTraceWriter::AddVisitor(uint32_t device, uint32_t share)
{
    m_visitors[share] = device;
}

void
FederatedTraceWriter::UpdateLedgers()
{
    // A device may have had another life, in an application that nobody watches.
    federated::DeviceRegistry::Visit(
        m_task,
        [this](uint32_t share, const federated::DeviceAccount& account)
        {
            const bool isOwn = share >= m_firstShare && share - m_firstShare < m_shares;
            const auto visitor = m_visitors.find(share);
            if (!isOwn && visitor == m_visitors.end())
            {
                return; // of another cell
            }
            const uint32_t device = isOwn ? share - m_firstShare : visitor->second;
            const PrivacyLedger& ledger = account.accountant.GetLedger();
            const auto known = m_ledgers.find(device);
            if (!isOwn && known == m_ledgers.end())
            {
                return; // it has not taken part here
            }
            if (ledger.GetAnswers() > (known == m_ledgers.end() ? 0 : known->second.GetAnswers()))
            {
                m_ledgers[device] = ledger;
            }
        });
}

void
FederatedTraceWriter::HandleDeclined(uint32_t, uint32_t device)
{
    ++m_declined[device];
}

std::optional<FederatedTraceWriter::Sent>
FederatedTraceWriter::FindSent(const LinkRecord& link, uint32_t round) const
{
    const auto found = m_sent.find(link.device);
    if (found != m_sent.end() && found->second.round == round)
    {
        return Sent{found->second.fragments, found->second.firstSent};
    }
    if (link.sentKnown && link.sentFragments > 0)
    {
        return Sent{link.sentFragments, link.firstSent};
    }
    return std::nullopt;
}

double
FederatedTraceWriter::ComputeClampedFraction(uint32_t round) const
{
    // All updates of a federation have equally many coordinates.
    double sum = 0;
    uint32_t count = 0;
    for (const auto& [device, sent] : m_sent)
    {
        if (sent.round == round && sent.fragments > 0 && !std::isnan(sent.clampedFraction))
        {
            sum += sent.clampedFraction;
            ++count;
        }
    }
    return count > 0 ? sum / count : UNKNOWN;
}

void
FederatedTraceWriter::HandleRoundEnd(const RoundRecord& record)
{
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t bursts = 0; // runs of lost fragments
    for (const LinkRecord& link : record.links)
    {
        if (const auto device = FindSent(link, record.round))
        {
            sent += device->fragments;
            received += link.receivedFragments;
            bursts +=
                device->fragments > link.receivedFragments ? std::max(1U, link.lostBursts) : 0;
        }
    }
    m_sentFragments += sent;
    m_receivedFragments += received;
    m_last = record;
    m_clampedFraction = ComputeClampedFraction(record.round);
    UpdateLedgers();
    if (m_rounds && m_error.empty())
    {
        WriteRound(record,
                   GetFraction(sent, received),
                   bursts == 0
                       ? UNKNOWN
                       : static_cast<double>(sent - received) / static_cast<double>(bursts));
    }
    if (m_links && m_error.empty())
    {
        WriteLinks(record);
    }
    m_sent.clear();
    m_distances.clear();
}

void
FederatedTraceWriter::WriteRound(const RoundRecord& record, double lostFraction, double meanBurst)
{
    uint64_t dropped = 0;
    for (uint64_t count : record.drops)
    {
        dropped += count;
    }
    double awakeFraction = UNKNOWN;
    if (!m_awake.IsNull())
    {
        const double awake = m_awake();
        awakeFraction = (awake - m_awakeBefore) / (record.end - m_endBefore).GetSeconds();
        m_awakeBefore = awake;
        m_endBefore = record.end;
    }
    Row row;
    row << record.round << record.end.GetSeconds() << record.trainLoss << record.testAccuracy
        << record.selected << record.received << record.bitBudget << record.grantedBits
        << record.deliveredBits << lostFraction << ToDb(record.meanSnr) << record.meanSigma
        << record.sameCellEpsilon << record.skipped << record.untouchedFraction << record.joined
        << dropped << record.uplinkSeconds << record.meanRate << GetLargestEpsilon(EPSILON_BASIC)
        << GetLargestEpsilon(EPSILON_ZCDP) << GetLargestEpsilon(EPSILON_SAMPLED) << record.declined
        << record.start.GetSeconds() << m_clampedFraction << meanBurst
        << record.repairTime.GetSeconds() << awakeFraction;
    m_rounds->GetStream() << row.Get();
    Flush(*m_rounds);
}

void
FederatedTraceWriter::WriteLinks(const RoundRecord& record)
{
    std::string rows;
    for (const LinkRecord& link : record.links)
    {
        const auto sent = FindSent(link, record.round);
        const double used = m_used.count(link.device) > 0
                                ? m_energy(link.device) - m_used.at(link.device)
                                : UNKNOWN;
        Row row;
        row << record.round << link.device << link.group << link.bits << ToDb(link.snr)
            << link.sigma << (sent ? sent->fragments : UNKNOWN) << link.receivedFragments
            << link.weight << GetDistance(link.device)
            << (sent && link.receivedFragments > 0 ? (link.lastReceived - sent->first).GetSeconds()
                                                   : UNKNOWN)
            << GetParticipantStateName(link.state) << link.rate << link.framesOk
            << link.framesFailed << used;
        rows += row.Get();
    }
    m_links->GetStream() << rows;
    Flush(*m_links);
}

} // namespace ns3
