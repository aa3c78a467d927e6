// SPDX-License-Identifier: GPL-2.0-only

#ifndef MODEL_SENDER_H
#define MODEL_SENDER_H

#include "ns3/data-rate.h"
#include "ns3/drop-reason.h"
#include "ns3/event-id.h"
#include "ns3/federated-header.h"
#include "ns3/fragmentation.h"
#include "ns3/message-endpoint.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::federated
{

/**
 * @brief Sends the model of a round to the selected devices: over UDP paced, to a group or to one
 * device after the other, with repairs in between; over TCP as fast as the connections accept it.
 */
class ModelSender
{
  public:
    /** A device that receives the model. */
    struct Recipient
    {
        uint32_t device;  //!< The device.
        MessagePeer peer; //!< Its destination.
    };

    /** @param endpoint Sends the messages. */
    explicit ModelSender(MessageEndpoint& endpoint);
    ~ModelSender();

    /**
     * Set how models are sent.
     * @param dimension d.
     * @param fragmentSize Bytes of the largest message.
     * @param rate Pace over UDP.
     * @param group Group to which the model is sent once; invalid: it is sent to each device.
     * @param maxRepairs How many models may be sent again to a device in a round, as repairs.
     */
    void SetUp(std::size_t dimension,
               uint32_t fragmentSize,
               const DataRate& rate,
               const Address& group,
               uint32_t maxRepairs);

    /** @return how many fragments the model has. */
    uint32_t GetFragments() const
    {
        return static_cast<uint32_t>(m_plan.size());
    }

    /** @return how long it takes to send the model once. */
    Time GetModelTime() const;

    /**
     * Begin to send a model.
     * @param round The round.
     * @param model d coordinates, which must not change until Stop().
     * @param recipients The devices, ascending.
     * @param delay Time until the first fragment is sent.
     * @param [in,out] sequence Sequence number of the sender's last message. The same fragment
     * is the same message for every device, however often it is sent.
     */
    void Start(uint32_t round,
               const std::vector<float>& model,
               const std::vector<Recipient>& recipients,
               const Time& delay,
               uint32_t& sequence);

    /**
     * A device requests fragments (UDP). A first model's worth of them is sent at once, one in turn
     * with the models of others; what it requests beyond waits until all have been sent their
     * models.
     * @param recipient The device.
     * @param header Header of its REPAIR.
     * @param payload Its body.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> Repair(const Recipient& recipient,
                                     const FederatedHeader& header,
                                     const uint8_t* payload);

    /**
     * A device needs no more fragments.
     * @param device The device.
     */
    void Forget(uint32_t device);

    /** @return how long the repairs of the last model took to send. */
    Time GetRepairTime() const
    {
        return m_repairTime;
    }

    /** End: the round is over. */
    void Stop();

  private:
    /** Fragments that are still to be sent to a device. */
    struct Pending
    {
        MessagePeer peer;                                 //!< Where it is.
        std::deque<std::pair<uint32_t, uint32_t>> ranges; //!< First fragment and how many.
        uint64_t repairs = 0; //!< Fragments that it requested in this round.
    };

    /** Send the first fragment, or all over TCP. */
    void Begin();

    /**
     * @param index Index of a fragment.
     * @param recipient The device that it is for, or ALL_DEVICES.
     * @return its message.
     */
    Ptr<Packet> MakeMessage(std::size_t index, uint32_t recipient);

    /**
     * Send the next pending fragment.
     * @param queue Devices with pending fragments.
     * @param inTurns Whether the devices take turns, or one follows the other.
     * @return the size of the message, 0 if nothing is pending.
     */
    uint32_t SendPending(std::deque<uint32_t>& queue, bool inTurns);

    /** Send the next fragment, and schedule the one after it. */
    void SendNext();

    MessageEndpoint& m_endpoint;                 //!< Sends the messages.
    std::vector<Fragment> m_plan;                //!< How the model is cut.
    DataRate m_rate;                             //!< Pace.
    Address m_group;                             //!< Group to which the model is sent once.
    uint32_t m_round = 0;                        //!< The round.
    const std::vector<float>* m_model = nullptr; //!< w.
    uint32_t m_sequence = 0;                     //!< Sequence number of the first fragment.
    std::map<uint32_t, MessagePeer> m_waiting;   //!< Devices that wait for the model's start.
    std::size_t m_groupNext = 0;                 //!< Next fragment to send to the group.
    std::map<uint32_t, Pending> m_pending;       //!< By device.
    std::deque<uint32_t> m_sending;              //!< Devices whose model is being sent.
    std::deque<uint32_t> m_repairing;            //!< Devices that requested fragments.
    std::deque<uint32_t> m_patient;              //!< Those whose requests wait for all models.
    uint32_t m_maxRepairs = 0;                   //!< Models that are sent again to a device.
    bool m_repairsTurn = false;                  //!< Whether the last message was for a repair.
    Time m_repairTime;                           //!< How long repairs took.
    uint32_t m_pacedSize = 0;                    //!< Size of the last message that was paced.
    Time m_pacedTime;                            //!< How long it takes at the rate.
    FederatedHeader m_header;                    //!< Of the fragment that is being sent.
    EventId m_event;                             //!< Sends the next fragment.
};

} // namespace ns3::federated

#endif // MODEL_SENDER_H
