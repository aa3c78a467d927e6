// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_TRACE_WRITER_H
#define FEDERATED_TRACE_WRITER_H

#include "federated-output-file.h"
#include "federated-result-line.h"
#include "federated-run-record.h"

#include "ns3/callback.h"
#include "ns3/federated-device.h"
#include "ns3/fusion-center.h"
#include "ns3/learning-task.h"
#include "ns3/ptr.h"
#include "ns3/round-record.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Joins the traces of the devices and the fusion center, keeps totals, and writes tables.
 *
 * PREFIX-rounds.csv has a row for each round, PREFIX-links.csv one for each selected device and
 * round. Only whole rows are written, and they are flushed at the end of each round, so that a
 * program can follow a running simulation. An unknown value is empty, never 0.
 *
 * If the run is described, PREFIX-run.json (FederatedRunRecord) says what was run, and is written
 * again with the result when the last round has ended. PREFIX-devices.csv has a row for the place
 * from which distances are measured, whose device is `center`, and one for each device: device,
 * group, bits, samples, x_m, y_m, z_m, where it was when the files were created.
 *
 * If a row cannot be written, for example because the disk is full, the simulation is stopped at
 * once: Simulator::Run() returns, and IsComplete() gives the reason. The tables hold the whole rows
 * from before.
 *
 * The number of sent fragments and the time of the first one are traced by the device, or known
 * from its DONE; everything else is traced by the center. A device of which neither is known when
 * the round ends does not count in the lost fraction. Distances are those at which the first
 * fragment was received; if none was, those at the end of the round.
 */
class FederatedTraceWriter : public SimpleRefCount<FederatedTraceWriter>
{
  public:
    /** Gives the distance in meters between a device and the center. */
    using DistanceCallback = Callback<double, uint32_t>;

    /** Gives the energy in joules that a device has used since the simulation began. */
    using EnergyCallback = Callback<double, uint32_t>;

    /** @param center A center to listen to. */
    void Watch(const Ptr<FusionCenter>& center);

    /** @param device A device to listen to. */
    void Watch(const Ptr<FederatedDevice>& device);

    /**
     * Create the files. Without this, only totals are kept. Nobody else can open the same files
     * until this object is destroyed (see FederatedOutputFile). On failure earlier files stay.
     * @param prefix Start of the paths.
     * @param links Whether PREFIX-links.csv is written too.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether the files are there, with their header rows.
     */
    [[nodiscard]] bool Open(const std::string& prefix, bool links, std::string& error);

    /**
     * @param awake Returns how long radios have been awake so far, in seconds, the mean of all
     * devices; without it the column awake_fraction is empty.
     */
    void SetAwakeCallback(const Callback<double>& awake);

    /**
     * Say which parts of the data are those of the devices: their ledgers are kept for these. By
     * default all parts of the task.
     * @param first The part of device 0; those of the others follow.
     * @param devices How many.
     */
    void SetShares(uint32_t first, uint32_t devices);

    /**
     * Say which part of the data is that of a visitor. From its first update on, its ledger counts
     * with what it answers elsewhere.
     * @param device Its number, after those of the devices.
     * @param share The part.
     */
    void AddVisitor(uint32_t device, uint32_t share);

    /** Get the ledgers of all devices, also of those that are not watched. */
    void UpdateLedgers();

    /** @param distance Gives the distances; without it they are unknown. */
    void SetDistanceCallback(const DistanceCallback& distance);

    /**
     * @param energy Returns the energy that a device has used so far; without it energies are
     * unknown.
     */
    void SetEnergyCallback(const EnergyCallback& energy);

    /**
     * Describe the run, before Open().
     * @param record What is known of it.
     */
    void Describe(const FederatedRunRecord& record);

    /**
     * Forget how the privacy summary is made, because what it is made of will be destroyed.
     */
    void ForgetPrivacy();

    /**
     * Write PREFIX-run.json again, with a result. Without files nothing is done.
     * @param result The result line.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether it is stored.
     */
    [[nodiscard]] bool WriteResult(const FederatedResultLine& result, std::string& error) const;

    /** @return the last round that ended; its round is 0 if none did. */
    const RoundRecord& GetLastRound() const;

    /** @return update fragments that devices sent so far. */
    uint64_t GetSentFragments() const;

    /** @return how many of these were received before their round ended. */
    uint64_t GetReceivedFragments() const;

    /** @return the fraction of update fragments that were lost; NaN if none was sent. */
    double GetLostFraction() const;

    /**
     * @return the fraction of the coordinates of sent updates that lay outside their interval in
     * the last round; NaN if it is unknown, nobody sent, or the quantizer does not clamp.
     */
    double GetClampedFraction() const;

    /**
     * @param which Which epsilon.
     * @return the largest of a device so far; NaN if no device sent an update, or one of them does
     * not have it.
     */
    double GetLargestEpsilon(PrivacyEpsilon which) const;

    /** @return the largest number of updates that one device sent. */
    uint32_t GetMostAnswers() const;

    /** @return the number of grants that each device declined; devices without any are left out. */
    const std::map<uint32_t, uint32_t>& GetDeclined() const;

    /**
     * @return a result line with rounds, time, accuracy, loss and lost fraction, then the largest
     * true epsilons, the grants declined and, if there is a target, the time at which its accuracy
     * was reached, where there are any. If it was not, that value is empty.
     */
    FederatedResultLine GetResult() const;

    /**
     * To be asked after Simulator::Run().
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether all rows so far are stored.
     */
    [[nodiscard]] bool IsComplete(std::string& error);

  private:
    /**
     * Connect a trace source.
     * @param source The object with the trace source.
     * @param name Its name.
     * @param sink The trace sink.
     */
    template <typename... Arguments>
    void Connect(const Ptr<Object>& source,
                 const std::string& name,
                 void (FederatedTraceWriter::*sink)(Arguments...));

    /**
     * @param round A round that begins.
     * @param selected The selected devices.
     */
    void HandleRoundStart(uint32_t round, const std::vector<uint32_t>& selected);

    /**
     * Write the result.
     * @param rounds Not used.
     */
    void HandleFinished(uint32_t rounds);

    /**
     * Write PREFIX-devices.csv, and PREFIX-run.json without a result.
     * @param prefix Start of the paths.
     * @param [out] error On failure, one sentence.
     * @return whether both are in place; if not, earlier files stay.
     */
    bool WriteRun(const std::string& prefix, std::string& error) const;

    /** @return the content of PREFIX-devices.csv. */
    std::string MakeDeviceTable() const;

    /** @return the names of the tables that are written. */
    std::vector<std::string> GetTables() const;

    /**
     * @param record What a device sent.
     */
    void HandleUpdateSent(const FederatedDevice::SentRecord& record);

    /**
     * @param device A device.
     * @param ledger What it has spent.
     */
    void HandlePrivacySpent(uint32_t device, const PrivacyLedger& ledger);

    /**
     * @param round The round.
     * @param device The device that declined.
     */
    void HandleDeclined(uint32_t round, uint32_t device);

    /**
     * @param record A round that ended.
     */
    void HandleRoundEnd(const RoundRecord& record);

    /**
     * @param round A round that ended.
     * @return the clamped fraction of the updates that are known to be sent in it, NaN if unknown.
     */
    double ComputeClampedFraction(uint32_t round) const;

    /** What a device sent in a round. */
    struct Sent
    {
        uint32_t fragments; //!< Fragments.
        Time first;         //!< When it sent the first one.
    };

    /**
     * @param link A device in a round.
     * @param round The round.
     * @return what it sent in it, if that is known.
     */
    std::optional<Sent> FindSent(const LinkRecord& link, uint32_t round) const;

    /**
     * @param round The round.
     * @param device A device whose first fragment was received.
     */
    void HandleUpdateStarted(uint32_t round, uint32_t device);

    /**
     * @param device A device that was selected.
     * @return its distance; NaN if it is unknown.
     */
    double GetDistance(uint32_t device) const;

    /**
     * @param record The round.
     * @param lostFraction Its lost fraction, NaN if it is unknown.
     * @param meanBurst Lost fragments in a row, on average; NaN if none was lost.
     */
    void WriteRound(const RoundRecord& record, double lostFraction, double meanBurst);

    /**
     * @param record The round.
     */
    void WriteLinks(const RoundRecord& record);

    /**
     * Write rows, or stop the simulation.
     * @param file Their table.
     */
    void Flush(FederatedOutputFile& file);

    // Attributes
    DistanceCallback m_distance;             //!< Gives the distances; may be null.
    EnergyCallback m_energy;                 //!< Gives the energy used; may be null.
    Callback<double> m_awake;                //!< Gives the mean time awake; may be null.
    std::optional<FederatedRunRecord> m_run; //!< Describes the run, if it was described.

    // State
    uint32_t m_firstShare = 0;                                //!< Of device 0.
    uint32_t m_shares = std::numeric_limits<uint32_t>::max(); //!< Those that count.
    std::map<uint32_t, uint32_t> m_visitors;                  //!< By their shares.
    double m_awakeBefore = 0; //!< Mean time awake at the end of the last round.
    Time m_endBefore;         //!< The end of the last round.
    std::string m_prefix;     //!< Start of the paths; empty: none.
    std::unique_ptr<FederatedOutputFile> m_rounds;          //!< A row for each round; may be null.
    std::unique_ptr<FederatedOutputFile> m_links;           //!< A row for each link; may be null.
    std::string m_error;                                    //!< The first failure to write.
    std::map<uint32_t, FederatedDevice::SentRecord> m_sent; //!< Sent updates, by device.
    std::map<uint32_t, double> m_distances;      //!< Where first fragments were received from.
    std::map<uint32_t, double> m_used;           //!< Energy used by the selected before the round.
    Ptr<LearningTask> m_task;                    //!< Of the center; null until it is watched.
    std::map<uint32_t, PrivacyLedger> m_ledgers; //!< Of devices that sent an update.
    std::map<uint32_t, uint32_t> m_declined;     //!< Grants that devices declined.
    RoundRecord m_last;                          //!< The last round.
    double m_clampedFraction = std::numeric_limits<double>::quiet_NaN(); //!< In the last round.
    uint64_t m_sentFragments = 0;                                        //!< Sum over rounds.
    uint64_t m_receivedFragments = 0;                                    //!< Sum over rounds.
};

} // namespace ns3

#endif // FEDERATED_TRACE_WRITER_H
