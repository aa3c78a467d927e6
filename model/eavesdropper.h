// SPDX-License-Identifier: GPL-2.0-only

#ifndef EAVESDROPPER_H
#define EAVESDROPPER_H

#include "ns3/application.h"
#include "ns3/drop-reason.h"
#include "ns3/federated-header.h"
#include "ns3/fragment-assembler.h"
#include "ns3/quantizer.h"
#include "ns3/traced-callback.h"
#include "ns3/wifi-phy.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Listens to a federation with a wifi radio, and reassembles what its radio could decode:
 * the model w^t and the update of each device, with gaps.
 *
 * It receives the frames that the radio of its node decodes, whatever their destination, alone or
 * in an A-MPDU or A-MSDU, and parses 802.11, LLC/SNAP, IPv4, UDP and our messages. (IPv6, TCP,
 * fragments of IP and frames protected by 802.11 are counted, not read.) It sends nothing and needs
 * no IP stack: on a node with a radio only, other nodes cannot detect it. It knows what is public:
 * the protocol, the dimension of the model, the quantizer and the seed of rotations and orders.
 * Bytes may have any values; memory follows from the attributes, never from a header.
 *
 * It keeps the latest round, and the last model, whose values replace missing coordinates of the
 * next one. A round is over when a message of a later one is received, when EndRound() is called,
 * or when the application stops; RoundOverheard then reports what was captured of each device.
 *
 * Several of them can cooperate: each then also gets the messages that the others' radios decoded.
 * One without a node only collects those of others.
 * @code
 * auto notebook = CreateObject<Eavesdropper>(); // with Dimension and Quantizer
 * first->ShareWith(notebook);
 * second->ShareWith(notebook);
 * @endcode
 */
class Eavesdropper : public Application
{
  public:
    /** Why a frame was not read. */
    enum Unread : uint8_t
    {
        UNREAD_NOT_DATA,   //!< Management, control, or no data.
        UNREAD_PROTECTED,  //!< Encrypted by 802.11.
        UNREAD_NOT_IPV4,   //!< Another protocol: ARP, IPv6.
        UNREAD_NOT_UDP,    //!< Another protocol over IPv4: TCP.
        UNREAD_FRAGMENTED, //!< A fragment of 802.11 or IPv4.
        UNREAD_TRUNCATED,  //!< Shorter than the length in its headers.
        UNREAD_FOREIGN,    //!< A datagram of another protocol.
        UNREAD_ENCRYPTED,  //!< One of our messages, encrypted: only size and time are known.
        UNREAD_REASONS,    //!< How many reasons there are.
    };

    /** What was captured of a device in a round that is over. */
    struct CaptureRecord
    {
        uint32_t round = 0;        //!< The round.
        uint32_t device = 0;       //!< The device.
        unsigned wireBits = 0;     //!< Bits of a coordinate; 0 if no fragment was captured.
        double updateFraction = 0; //!< Coordinates of its update that were captured, 0 to 1.
        double modelFraction = 0;  //!< Coordinates of w^t that were captured in this round.
        uint32_t fragments = 0;    //!< Fragments of the update that were captured.
        uint32_t planned = 0;      //!< Fragments that it has; 0 if that is unknown.
        uint32_t frames = 0;       //!< Frames with its fragments, retransmissions included.
        double snr = std::numeric_limits<double>::quiet_NaN(); //!< Mean of these frames, linear;
                                                               //!< those that failed are unknown.
    };

    /**
     * TracedCallback signature of RoundOverheard.
     * @param record What was captured.
     */
    using RoundOverheardTracedCallback = void (*)(const CaptureRecord& record);

    /**
     * TracedCallback signature of Unread.
     * @param reason Why.
     * @param size Bytes of the frame, or of the message if it is encrypted.
     */
    using UnreadTracedCallback = void (*)(Unread reason, uint32_t size);

    /**
     * TracedCallback signature of Drop.
     * @param reason Why.
     * @param size Bytes of the message.
     */
    using DropTracedCallback = void (*)(DropReason reason, uint32_t size);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @param reason A reason.
     * @return its name, in lower case.
     */
    static const char* GetUnreadName(Unread reason);

    Eavesdropper();
    ~Eavesdropper() override;

    /**
     * Pass all messages that the radio of this object decodes from now on to another one.
     * @param other The receiver; may share with this object as well.
     */
    void ShareWith(const Ptr<Eavesdropper>& other);

    /**
     * Set a model that is known from elsewhere, such as the initial one, which is public.
     * @param model The coordinates.
     */
    void SetModel(std::vector<float> model);

    /** End the round, if there is one: later messages of it do not count. */
    void EndRound();

    /** @return the latest round; 0 if there was none. */
    uint32_t GetRound() const;

    /** @return the devices observed in the round, and those of the attribute Devices. */
    std::vector<uint32_t> GetDevices() const;

    /**
     * @param device A device.
     * @return what was captured of it in the round so far.
     */
    CaptureRecord GetRecord(uint32_t device) const;

    /**
     * @param device A device.
     * @param [out] update Its update as the center would decode it, 0 where nothing was captured.
     * @param [out] captured Which coordinates were captured; all of a rotated update, as soon as
     * any was: each is then known in part.
     * @return whether any was.
     */
    bool GetUpdate(uint32_t device, std::vector<float>& update, std::vector<bool>& captured) const;

    /**
     * @param [out] model w^t; coordinates that were not captured have their last known value, else
     * 0.
     * @param [out] known Which coordinates were captured, now or earlier, or set by SetModel().
     * @return whether any is.
     */
    bool GetModel(std::vector<float>& model, std::vector<bool>& known) const;

    /**
     * @param reason A reason.
     * @return how many frames were not read for this reason.
     */
    uint64_t GetUnread(Unread reason) const;

    /**
     * @param reason A reason.
     * @return how many messages were dropped for this reason.
     */
    uint64_t GetDropped(DropReason reason) const;

    /** @return frames that the radio decoded, all kinds. */
    uint64_t GetFrames() const;

    /** @return how much memory models and updates take, in bytes. */
    std::size_t GetBufferedBytes() const;

    /**
     * Process a frame. The radio of the node calls this.
     * @param frame 802.11 header and payload; any bytes.
     * @param size How many.
     * @param snr Linear.
     */
    void HearFrame(const uint8_t* frame, std::size_t size, double snr);

    /**
     * Process a datagram: the payload of UDP.
     * @param message Any bytes.
     * @param size How many.
     * @param snr Linear.
     */
    void HearMessage(const uint8_t* message, std::size_t size, double snr);

  protected:
    void DoDispose() override;

  private:
    /** What was captured of a device. */
    struct Capture
    {
        std::unique_ptr<federated::FragmentAssembler>
            update;                 //!< Its update; null before its first fragment.
        std::size_t size = 0;       //!< Coordinates of it as it is encoded.
        bool isRotated = false;     //!< Whether they are rotated.
        bool isInterleaved = false; //!< Whether they are interleaved.
        unsigned wireBits = 0;      //!< Bits of a coordinate of it.
        unsigned bits = 0;          //!< Granted resolution, b; 0: unknown.
        uint32_t frames = 0;        //!< Frames with fragments.
        double snrSum = 0;          //!< Over these frames.
    };

    void StartApplication() override;
    void StopApplication() override;

    /**
     * MonitorSnifferRx.
     * @param packet A frame that was decoded; of an A-MPDU, with its delimiter.
     * @param frequency Of the channel, in MHz.
     * @param txVector How it was sent.
     * @param info Whether it is of an A-MPDU.
     * @param signalNoise In dBm.
     * @param staId To whom in a multi-user PPDU.
     */
    void Sniff(Ptr<const Packet> packet,
               uint16_t frequency,
               WifiTxVector txVector,
               MpduInfo info,
               SignalNoiseDbm signalNoise,
               uint16_t staId);

    /**
     * Process a packet that begins with LLC/SNAP.
     * @param bytes Any bytes.
     * @param size How many.
     * @param snr Linear.
     * @return why it was not read, UNREAD_REASONS if it was.
     */
    Unread HearPacket(const uint8_t* bytes, std::size_t size, double snr);

    /**
     * Use a message.
     * @param message Any bytes.
     * @param size How many.
     * @param snr Linear.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> Use(const uint8_t* message, std::size_t size, double snr);

    /**
     * Count and trace a frame that was not read.
     * @param reason Why.
     * @param size Bytes.
     */
    void CountUnread(Unread reason, std::size_t size);

    /**
     * Forget a round, apart from its model.
     * @param round The next one.
     */
    void BeginRound(uint32_t round);

    /**
     * @param device A device.
     * @return what was captured of it; nullptr if it is not to be kept.
     */
    Capture* FindCapture(uint32_t device);

    /**
     * @param list The devices to observe, separated by commas.
     */
    void SetWatched(std::string list);

    /** @return the attribute Devices. */
    std::string GetWatched() const;

    // Attributes
    uint32_t m_dimension;       //!< d.
    Ptr<Quantizer> m_quantizer; //!< That the devices use.
    uint32_t m_bits;            //!< Their resolution b without a grant.
    uint64_t m_rotationSeed;    //!< Of rotated and interleaved updates.
    std::string m_watchedText;  //!< The devices to observe.
    uint32_t m_maxDevices;      //!< Largest number of devices to observe.

    // State
    Ptr<WifiPhy> m_phy;                                    //!< The radio.
    std::vector<uint32_t> m_watched;                       //!< Devices to observe; empty: all.
    std::vector<Ptr<Eavesdropper>> m_others;               //!< Receivers of the decoded messages.
    uint32_t m_round = 0;                                  //!< The latest round.
    bool m_over = false;                                   //!< Whether it is over.
    std::map<uint32_t, Capture> m_captures;                //!< By device.
    std::unique_ptr<federated::FragmentAssembler> m_model; //!< w^t, if any of it was captured.
    std::vector<float> m_lastModel;                        //!< Values known before; may be empty.
    std::vector<bool> m_lastKnown;                         //!< Which of them are.
    FederatedHeader m_header;                              //!< Of the message that is being read.
    std::vector<uint8_t> m_bytes;                          //!< The frame that is being read.
    uint64_t m_frames = 0;                                 //!< Decoded by the radio.
    std::array<uint64_t, UNREAD_REASONS> m_unread{};       //!< Frames not read.
    DropCounters m_drops{};                                //!< Messages not used.

    // Trace sources
    TracedCallback<const CaptureRecord&> m_roundTrace; //!< RoundOverheard.
    TracedCallback<Unread, uint32_t> m_unreadTrace;    //!< Unread.
    TracedCallback<DropReason, uint32_t> m_dropTrace;  //!< Drop.
};

} // namespace ns3

#endif // EAVESDROPPER_H
