// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_HELPER_H
#define FEDERATED_HELPER_H

#include "federated-result-line.h"
#include "federated-run-record.h"
#include "federated-trace-writer.h"

#include "ns3/application-container.h"
#include "ns3/federated-dataset.h"
#include "ns3/federated-device.h"
#include "ns3/federated-partition.h"
#include "ns3/fusion-center.h"
#include "ns3/ipv4-address.h"
#include "ns3/learning-task.h"
#include "ns3/link-probe.h"
#include "ns3/node-container.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/quantizer.h"
#include "ns3/saved-model.h"
#include "ns3/socket-address.h"

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

class FederatedSummary;

/**
 * @ingroup federated
 * @brief Sets up a federation: a FusionCenter on one node, a FederatedDevice on each of the others,
 * and the LearningTask that they share.
 *
 * A profile is a reading of the paper (pixels, learning rate, clipping, interval, ...). An
 * algorithm is a quantizer, a fusion rule and a cluster-size policy. A cell (FederatedWifiHelper,
 * FederatedLteHelper, FederatedStarHelper) adds what its links need. Attributes that are set here
 * override all of these.
 *
 * @code
    FederatedHelper federation;
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    federation.SetData(data);
    if (!federation.Check(error)) { ... }
    federation.Install(centerNode, InetSocketAddress(centerAddress, FederatedPort::CENTER));
   @endcode
 *
 * In a cell, its helper makes the links and installs the federation, with cell.Install(federation,
 * accessPoint) instead of the last line.
 *
 * Random streams are numbered independently of the algorithm, so that equal RngRun gives equal
 * splits, first models, cluster draws and batches whatever the algorithm is. Two federations in one
 * simulation have equal streams as well, unless AssignStreams() gives them different ones.
 */
class FederatedHelper
{
  public:
    /** Attributes by name, in the order in which they were set. */
    using Attributes = std::vector<std::pair<std::string, Ptr<const AttributeValue>>>;

    /** Settings that suit the links of a cell. */
    struct LinkDefaults
    {
        Attributes center;               //!< Of the center.
        Attributes devices;              //!< Of every device.
        std::optional<Time> joinSpacing; //!< As SetJoinSpacing() takes it.
        std::optional<bool> enrolled;    //!< As SetEnrolled() takes it.
        Ipv4Address group;               //!< As SetGroupAddress() takes it.
        uint16_t groupPort = 0;          //!< Likewise; 0: no group.
        Ptr<LinkProbe> probe;            //!< As SetProbe() takes it; may be null.
        Ptr<Node> distanceReference;     //!< As SetDistanceReference() takes it; may be null.
    };

    /** @return the names of the profiles. */
    static std::vector<std::string> GetProfiles();

    /** @return the names of the algorithms. */
    static std::vector<std::string> GetAlgorithms();

    /** @return the names of the weights; the first one is `default`, that of the algorithm. */
    static std::vector<std::string> GetWeights();

    /**
     * @param algorithm Name of an algorithm.
     * @param weights Name of weights.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether there are such weights, and the algorithm leaves them open.
     */
    [[nodiscard]] static bool CheckWeights(const std::string& algorithm,
                                           const std::string& weights,
                                           std::string& error);

    /** Profile sound, algorithm fwo-cso, i.i.d. split, UDP. */
    FederatedHelper();

    ~FederatedHelper();

    FederatedHelper(const FederatedHelper&) = delete;
    FederatedHelper& operator=(const FederatedHelper&) = delete;

    /** @param name One of GetProfiles(). */
    void SetProfile(const std::string& name);

    /** @param name One of GetAlgorithms(). */
    void SetAlgorithm(const std::string& name);

    /**
     * Weigh the updates otherwise than the algorithm does. fwo and fwo-cso define their weights;
     * the other algorithms leave them open.
     * @param name One of GetWeights().
     */
    void SetWeights(const std::string& name);

    /**
     * @param epsilon epsilon_1, of one encoded coordinate of one update: the same-cell epsilon of
     * the paper's quantizer, and 1/d of that of LaplaceSQ.
     */
    void SetEpsilon(double epsilon);

    /**
     * Quantize on another public interval than that of the profile, as rotated updates need: their
     * coordinates are about ||v|| / sqrt(P).
     * @param halfWidth The interval is [-halfWidth, halfWidth].
     */
    void SetInterval(double halfWidth);

    /**
     * Clip at another norm than the profile does. The constant of CSO and the sensitivity of
     * LaplaceSQ follow it.
     * @param bound C.
     */
    void SetClipBound(double bound);

    /**
     * Use another quantizer than the one of the algorithm, on both sides: the devices encode with
     * it, and the center decodes. Its attributes stay as they are.
     * @param quantizer The quantizer.
     */
    void SetQuantizer(Ptr<Quantizer> quantizer);

    /**
     * The same with a text; aborts with a sentence if it names no quantizer.
     * @param text Such as ns3::DpStochasticQuantizer[Epsilon=0.5].
     */
    void SetQuantizer(const std::string& text);

    /**
     * Add a group of devices; devices are numbered from 0 on, group by group.
     * @param nodes Their nodes.
     * @param bits Their resolution, b.
     */
    void AddGroup(const NodeContainer& nodes, unsigned bits);

    /** @param data Training and test set. */
    void SetData(const FederatedData& data);

    /**
     * Begin with a given model instead of a random one. If it says a round, the run continues: its
     * first round is the next one (FusionCenter::SetModel).
     * @param model The model, from SavedModel::Read() or made by the script.
     */
    void SetStart(const SavedModel& model);

    /**
     * Let Finish() write PREFIX-model.npy (SavedModel), with the prefix of EnableTraces().
     * @param save Whether it is written.
     */
    void SetSave(bool save);

    /** @param partition How the training set is split: the attribute Partition of the task. */
    void SetPartition(Ptr<FederatedPartition> partition);

    /** @param protocol udp or tcp. */
    void SetProtocol(const std::string& protocol);

    /**
     * Protect all messages: they are encrypted and authenticated.
     * @param key Key of the federation, any text; only the center gets it, devices get what is
     * derived from it for them. Empty: no protection.
     */
    void SetEncryptionKey(const std::string& key);

    /**
     * Rotate updates before they are clipped and quantized (PublicRotation): lost fragments then
     * take a little of every coordinate. An update is sent as P coordinates, the smallest power of
     * two that is not below d. Interval and clip are those of the rotated coordinates.
     * @param rotation Whether the devices rotate, and the center rotates back.
     */
    void SetRotation(bool rotation);

    /**
     * Send the coordinates of updates in a public order (PublicInterleaving): a burst of lost
     * fragments then takes a share of every layer. It needs one interval for the whole update.
     * @param interleave Whether the devices do, and the center puts them back.
     */
    void SetInterleave(bool interleave);

    /**
     * Send all messages, up and down, to a broadcast or multicast address, as on a radio without
     * acknowledgments. Center and devices have different ports; a sender is identified by its
     * device id. Only UDP over IPv4.
     * @param group Address that center and devices send to.
     * @param devicePort Port of the devices, other than that of the center.
     */
    void SetGroupAddress(Ipv4Address group, uint16_t devicePort);

    /**
     * Register all devices at the center before the simulation starts, so that none has to join
     * over a bad link. Needs a group address.
     * @param enrolled Whether they are registered.
     */
    void SetEnrolled(bool enrolled);

    /**
     * @param probe Measures the links of the devices; may be set before or after Install().
     */
    void SetProbe(const Ptr<LinkProbe>& probe);

    /**
     * Measure the distances in PREFIX-links.csv from another node than that of the center, such as
     * the access point if the center is wired to it.
     * @param node A node with a mobility model.
     */
    void SetDistanceReference(const Ptr<Node>& node);

    /**
     * Devices start one after the other, so that they do not all join at the same instant.
     * @param spacing Time from one start to the next.
     */
    void SetJoinSpacing(const Time& spacing);

    /**
     * @param name Name of an attribute of FusionCenter.
     * @param value Its value.
     */
    void SetCenterAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param name Name of an attribute of FederatedDevice.
     * @param value Its value, for every device; a strategy that is given as a text is created for
     * each device.
     */
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param name Name of an attribute of LearningTask.
     * @param value Its value.
     */
    void SetTaskAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Add the settings of a cell; its helper calls this. Whatever the script sets, before or after
     * this, overrides them.
     * @param defaults The settings.
     */
    void SetLinkDefaults(const LinkDefaults& defaults);

    /** @return FragmentSize of the center, as it is set so far. */
    uint32_t GetFragmentSize() const;

    /** @return the task that center and devices share. */
    Ptr<LearningTask> GetTask() const;

    /**
     * Check whether the settings fit together. Nothing is installed.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether Install() will succeed, if node and address of the center are right.
     */
    [[nodiscard]] bool Check(std::string& error);

    /**
     * Check the place of the center, too.
     * @param centerNode Node of the fusion center.
     * @param centerAddress Address and port of the center as the devices reach it.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether Install() will succeed with them.
     */
    [[nodiscard]] bool Check(const Ptr<Node>& centerNode,
                             const Address& centerAddress,
                             std::string& error);

    /**
     * Install the applications, once. Aborts with the error of Check() if there is one.
     *
     * A device whose node has exactly one usable address of the center's family is bound to it: a
     * JOIN from another address is dropped.
     * @param centerNode Node of the fusion center.
     * @param centerAddress Address and port of the center as the devices reach it
     * (InetSocketAddress or Inet6SocketAddress).
     * @return the center, then the devices in the order of their numbers.
     */
    ApplicationContainer Install(Ptr<Node> centerNode, const Address& centerAddress);

    /** @return the nodes of the devices, in the order of their numbers. */
    NodeContainer GetNodes() const;

    /** @return the devices in the order of their numbers, once they are installed. */
    const std::vector<Ptr<FederatedDevice>>& GetDevices() const;

    /** @return the center, once it is installed. */
    Ptr<FusionCenter> GetCenter() const;

    /**
     * Learn what other federations learn too, as the cells of a hierarchy do; before Install(). The
     * data is split among the devices of all of them. What is set on one of them about the task
     * (data, profile, attributes) holds for all: set the same on each.
     * @param task The task. Its groups are set, and its stream.
     * @param first Number of the first device of this federation in the split.
     * @param cell Number of this federation among those that share the task, from 0 on. It draws
     * other devices and other link noise than the others, and has random streams of its own.
     */
    void ShareTask(const Ptr<LearningTask>& task, uint32_t first, uint32_t cell);

    /**
     * Let a device learn by rounds of a cell instead of on samples of its own: it is an edge. After
     * Install() of both; the attribute OnRequest of the center of the cell is set.
     * @param device The device. Nothing is done if another process simulates it.
     * @param cell The federation of the cell, whose center is on the node of the device. Finish()
     * counts its devices too, also if the helper is out of scope then.
     * @param rounds Rounds of the cell in a round of this federation.
     */
    void SetEdge(uint32_t device, const FederatedHelper& cell, uint32_t rounds);

    /**
     * Say that a device is an edge whose cell another process simulates; after Install().
     * @param device The device, which is not enrolled: here it is not known how many samples it
     * has.
     */
    void SetEdge(uint32_t device);

    /**
     * Add a device that joins by itself, after Install() and before the simulation starts: one that
     * comes from another cell (FederatedRoaming). It is never enrolled.
     * @param node Its node.
     * @param address Its IP address in this federation: a JOIN from another address is dropped.
     * @param group Its group.
     * @param share Its part of the data, in the split of the task.
     * @return the application, which starts when it is added to the node. Its number is the next
     * one after those of all other devices.
     */
    Ptr<FederatedDevice> AddVisitor(const Ptr<Node>& node,
                                    const Address& address,
                                    uint32_t group,
                                    uint32_t share);

    /** @return whether the center is simulated by this process; after Install(). */
    bool HasCenter() const;

    /**
     * Fix the random streams in use, before or after Install(). By default the helper uses fixed
     * numbers.
     * @param stream First stream number.
     * @return how many streams are used.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Say how the program was called, for PREFIX-run.json; before EnableTraces().
     * @param command From FederatedCommandLine::GetCommand(), or what a script knows of it.
     */
    void SetCommand(const FederatedCommand& command);

    /**
     * Write PREFIX-rounds.csv, PREFIX-links.csv, PREFIX-devices.csv and PREFIX-run.json
     * (FederatedTraceWriter); after Install(), and after the nodes have their places.
     * @param prefix Start of the paths.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @param links Whether the links are written too.
     * @return whether the files could be created.
     */
    [[nodiscard]] bool EnableTraces(const std::string& prefix,
                                    std::string& error,
                                    bool links = true);

    /** Print a line on standard error at the end of each round; after Install(). */
    void EnableProgress();

    /**
     * Stop the simulation at the end of the last round; after Install(). If several federations of
     * a simulation are to stop it, the last one does. Not for the cell of an edge (OnRequest),
     * which never finishes by itself: call it on the federation of the edges.
     */
    void StopWhenFinished();

    /**
     * What examples do after Install(): EnableProgress(), StopWhenFinished() and, if there is a
     * prefix, EnableTraces().
     * @param prefix Start of the paths; empty: no files.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @param links Whether the links are written too.
     * @return whether the files could be created.
     */
    [[nodiscard]] bool EnableOutput(const std::string& prefix,
                                    std::string& error,
                                    bool links = true);

    /**
     * Write the model that the center has now as a file of NumPy, with its round (SavedModel).
     * @param path Path of the file.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether it is stored.
     */
    [[nodiscard]] bool SaveModel(const std::string& path, std::string& error) const;

    /**
     * End a script, on all ranks: PrintPrivacy() and PrintWarnings() on standard error, the result
     * in PREFIX-run.json and the model in PREFIX-model.npy if they are written,
     * Simulator::Destroy(), and the result line on standard output.
     * @param result The result line. It gets start_round, rounds behind the model that the run
     * began with, if there was one, and model_round, that of the written model.
     * @return the exit code of the script: 1 if nothing was learned and the channel is not the
     * reason, or if a file could not be written, with one sentence; else 0.
     */
    [[nodiscard]] int Finish(const FederatedResultLine& result) const;

    /**
     * Finish() with the result line of GetTraceWriter().
     * @return the exit code of the script.
     */
    [[nodiscard]] int Finish() const;

    /**
     * Print what went wrong in a run, a sentence each with its probable reason: in this federation,
     * if its center is simulated by this process, and in the cells of its edges that are. Call it
     * after Simulator::Run() and before Simulator::Destroy().
     * @param stream Where to, standard error in examples.
     * @return whether this federation learned nothing, and not because of the channel.
     */
    [[nodiscard]] bool PrintWarnings(std::ostream& stream) const;

    /**
     * Count a packet if it carries a fragment of an update. A sink for trace sources of net
     * devices, such as PhyRxDrop; its first two arguments are bound.
     * @param [in,out] count The count.
     * @param headers Bytes of the headers below a message: link, IP and UDP.
     * @param packet The packet.
     */
    static void CountUpdate(uint64_t* count, uint32_t headers, Ptr<const Packet> packet);

    /**
     * Print the privacy summary: the claim that follows from the configuration, the largest
     * epsilons of a device so far, side information that is sent without protection, and how many
     * devices declined. Call it after Simulator::Run() and before Simulator::Destroy().
     * @param stream Where to, standard error in examples.
     */
    void PrintPrivacy(std::ostream& stream) const;

    /** @return the trace writer, which joins the traces of center and devices; after Install(). */
    Ptr<FederatedTraceWriter> GetTraceWriter() const;

  private:
    /** A reading of the paper. */
    struct Profile
    {
        const char* name;            //!< Its name.
        LearningTask::Pixels pixels; //!< Scale of the pixels.
        double learningRate;         //!< eta_0.
        double learningRateDecay;    //!< c in eta_0 / (1 + c t).
        ClipNorm clipNorm;           //!< Norm that is clipped.
        double clipBound;            //!< C.
        double halfWidth;            //!< Interval [-h, h]; 0: [-max|v|, max|v|] per update.
        bool exactDistortion;        //!< Whether FWO uses the reported distortion.
        double clusterConstant;      //!< C in CSO.
        double laplaceSensitivity;   //!< rho of LaplaceSQ; 0: the step of that update.
    };

    /** An algorithm. */
    struct Algorithm
    {
        const char* name;         //!< Its name.
        const char* quantizer;    //!< TypeId of the quantizer.
        const char* fusionRule;   //!< TypeId of the fusion rule.
        const char* clusterSizes; //!< TypeId of the cluster-size policy.
        bool definesWeights;      //!< Whether it is not that algorithm with another fusion rule.
    };

    /** Weights of the updates. */
    struct Weights
    {
        const char* name;       //!< Their name.
        const char* fusionRule; //!< TypeId of the fusion rule; empty: that of the algorithm.
    };

    /** Devices with one resolution. */
    struct Group
    {
        NodeContainer nodes; //!< Their nodes.
        unsigned bits;       //!< b.
    };

    static const std::vector<Profile> PROFILES;     //!< All profiles.
    static const std::vector<Algorithm> ALGORITHMS; //!< All algorithms.
    static const std::vector<Weights> WEIGHTS;      //!< All weights.

    /**
     * Find a row of a table.
     * @param table The table.
     * @param name The name of the row.
     * @return the row, or nullptr.
     */
    template <typename Row>
    static const Row* Find(const std::vector<Row>& table, const std::string& name);

    /**
     * List the names of a table.
     * @param table The table.
     * @return the names.
     */
    template <typename Row>
    static std::vector<std::string> ListNames(const std::vector<Row>& table);

    /**
     * Set attributes.
     * @param object Of what.
     * @param attributes The attributes.
     */
    static void Apply(const Ptr<Object>& object, const Attributes& attributes);

    /**
     * Abort if the federation is installed already: a setter would change nothing.
     * @param setter Its name.
     */
    void CheckOpen(const char* setter) const;

    /**
     * @param type Of what.
     * @param attributes Attributes that a cell sets.
     * @return those whose default the user has not changed: that wins over what a cell sets.
     */
    static Attributes WithoutChangedDefaults(const TypeId& type, const Attributes& attributes);

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the attributes of the center fit its network.
     */
    bool CheckCenter(std::string& error) const;

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether all attributes that are set exist, and can have their values.
     */
    bool CheckValues(std::string& error) const;

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether profile, algorithm and groups are right; then the task is prepared.
     */
    bool CheckTask(std::string& error);

    /**
     * After CheckTask().
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the model to begin with is one of the task, if there is one.
     */
    bool CheckStart(std::string& error) const;

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether center and devices have the same protocol, quantizer and rotation, and the
     * center knows no other interval rule and clip than those of the devices.
     */
    bool CheckSides(std::string& error) const;

    /**
     * Print the privacy summary of the devices of all cells, if this is the federation of edges.
     * By all ranks or none.
     * @param stream Where to.
     * @param [in,out] line The result line, which gets their totals.
     */
    void PrintCells(std::ostream& stream, FederatedResultLine& line) const;

    /**
     * Abort with a sentence if messages do not fit into a packet from one rank to another.
     * @param centerNode The node of the center.
     */
    void CheckRanks(const Ptr<Node>& centerNode) const;

    /** @return the number of devices. */
    uint32_t CountDevices() const;

    /** @return how many training samples a device has. */
    uint32_t GetSamples(uint32_t device) const;

    /** @return the attributes of a center that sends to the group. */
    Attributes GetGroupAttributes() const;

    /** @return the time from the start of one device to the next. */
    Time GetJoinSpacing() const;

    /** @return whether devices need not join. */
    bool IsEnrolled() const;

    /** @return the TypeId of the fusion rule. */
    std::string GetFusionRule() const;

    /** @return the profile, with the interval and the bound that were set instead of its own. */
    Profile GetProfile() const;

    /** @return how many coordinates of an update are encoded: d, or P if updates are rotated. */
    std::size_t GetEncodedSize() const;

    /**
     * @param name Name of a Boolean attribute of devices.
     * @return its value for the devices that this helper makes.
     */
    bool IsSetForDevices(const std::string& name) const;

    /** @return the socket factory of the protocol. */
    TypeId GetProtocol() const;

    /**
     * @return a factory of devices with their common attributes, but not their addresses;
     * after MakeStrategies().
     */
    ObjectFactory MakeDeviceFactory() const;

    /**
     * @param attribute An attribute.
     * @param attributes Attributes that are set.
     * @return what it was set to last, else its default; it may be a text.
     */
    static Ptr<const AttributeValue> FindSetting(const TypeId::AttributeInformation& attribute,
                                                 const Attributes& attributes);

    /**
     * @param type Of what.
     * @param attributes Attributes that are set.
     * @param name Name of an attribute of the type.
     * @return the value that it will have: as it was set last, else its default; null if it was
     * set to a value that it cannot have.
     */
    static Ptr<const AttributeValue> FindValue(const TypeId& type,
                                               const Attributes& attributes,
                                               const std::string& name);

    /**
     * Like FindValue(), but makes no object.
     * @param type Of what.
     * @param attributes Attributes that are set.
     * @param name Name of an attribute of the type that holds a strategy.
     * @return the name of its class; empty: none.
     */
    static std::string FindStrategy(const TypeId& type,
                                    const Attributes& attributes,
                                    const std::string& name);

    /**
     * @param attributes Attributes that are set.
     * @param name Name of an attribute.
     * @return whether it is set.
     */
    static bool IsSet(const Attributes& attributes, const std::string& name);

    /**
     * @param type Of what.
     * @param attributes Attributes that are set, to values that they can have.
     * @param name Name of an attribute of the type.
     * @return the value that it will have, to compare it with another one; none: no object.
     */
    static std::string DescribeValue(const TypeId& type,
                                     const Attributes& attributes,
                                     const std::string& name);

    /**
     * Make the strategies, and check them.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether quantizer and interval rule of the devices can be used with their bits.
     */
    bool CheckStrategies(std::string& error);

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether there is no key, or messages can be protected.
     */
    bool CheckProtection(std::string& error) const;

    /**
     * After MakeStrategies().
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the devices have the epsilon that their privacy budget limits, if they have
     * a budget.
     */
    bool CheckPrivacyBudgets(std::string& error);

    /** Make quantizer and interval rule, which the center and all devices share. */
    void MakeStrategies();

    /**
     * @param address Address and port of the center.
     * @return the center.
     */
    Ptr<FusionCenter> MakeCenter(const Address& address) const;

    /**
     * Make the traces, and what the end of the script asks; as yet without devices.
     * @param centerAddress Address and port of the center.
     */
    void MakeSummary(const Address& centerAddress);

    /** Tell the traces where devices are. */
    void SetPlaces();

    /** @return what PREFIX-run.json and PREFIX-devices.csv say; after Install(). */
    FederatedRunRecord MakeRunRecord();

    /**
     * Tell the center what is public about the devices, for which a user may have set attributes:
     * interval rule and clip.
     */
    void TellCenter();

    /** Register all devices at the center. */
    void Enroll();

    /**
     * Register a device at the center, with the samples of its cell if it is an edge.
     * @param device The device, whose address is known.
     */
    void EnrollDevice(uint32_t device);

    /**
     * Note that a device is an edge.
     * @param device The device.
     * @param samples Samples of its cell; 0: not known here.
     */
    void AddEdge(uint32_t device, uint32_t samples);

    /** Assign the random streams of center and devices. */
    void ApplyStreams();

    // Attributes
    std::string m_profile;            //!< Name of the profile.
    std::string m_algorithm;          //!< Name of the algorithm.
    std::string m_weights;            //!< Name of the weights.
    double m_epsilon;                 //!< epsilon_1.
    double m_halfWidth = 0;           //!< Of the interval; 0: that of the profile.
    double m_clipBound = 0;           //!< C; 0: that of the profile.
    Ptr<Quantizer> m_customQuantizer; //!< Instead of that of the algorithm; may be null.
    bool m_isShared = false;          //!< Whether other federations learn the same task.
    uint32_t m_first = 0;             //!< Number of the first device in its split.
    uint32_t m_cell = 0;              //!< Attribute Cell of the center.
    SavedModel m_start;               //!< The model to begin with; without values: a random one.
    bool m_save = false;              //!< Whether the last model is written.
    std::vector<Group> m_groups;      //!< The devices.
    FederatedData m_data;             //!< Training and test set.
    std::string m_protocol;           //!< udp or tcp.
    std::optional<Time> m_spacing;    //!< From one start to the next.
    std::optional<bool> m_enrolled;   //!< Whether devices need not join.
    Ipv4Address m_group;              //!< Destination of all messages, if m_groupPort is not 0.
    uint16_t m_groupPort = 0;         //!< Port of the devices there; 0: no group.
    Ptr<LinkProbe> m_probe;           //!< Observes the links; may be null.
    Ptr<Node> m_reference;            //!< Where distances are measured from.
    Attributes m_centerAttributes;    //!< Of the center, those of the cell first.
    Attributes m_deviceAttributes;    //!< Of every device, those of the cell first.
    Attributes m_taskAttributes;      //!< Of the task.
    int64_t m_stream;                 //!< First stream.
    FederatedCommand m_command;       //!< How the program was called; may be unknown.

    // State
    bool m_checked = false;                      //!< Whether nothing changed since Check().
    Ptr<LearningTask> m_task;                    //!< What is learned.
    Ptr<Quantizer> m_quantizer;                  //!< Shared by all.
    Ptr<IntervalRule> m_interval;                //!< Shared by all.
    Ptr<FusionCenter> m_center;                  //!< The center.
    std::vector<Ptr<FederatedDevice>> m_devices; //!< The devices.
    std::vector<std::pair<uint32_t, Ptr<FederatedSummary>>> m_cells; //!< Of edges on this rank.
    std::vector<Address> m_enrolledAt;    //!< Addresses of enrolled devices.
    std::map<uint32_t, uint32_t> m_edges; //!< Samples of the cells of edges.
    ObjectFactory m_visitorFactory;       //!< Makes visitors.
    std::vector<std::pair<Ptr<Node>, Ptr<FederatedDevice>>> m_visitors; //!< With their nodes.
    Ptr<FederatedSummary> m_summary;                                    //!< Says how it ended.
    Ptr<FederatedTraceWriter> m_traces;                                 //!< Joins the traces.
    federated::SocketAddress m_address; //!< Of the center, as devices reach it.
    std::string m_prefix;               //!< Start of the paths of files; empty: none.
};

} // namespace ns3

#endif // FEDERATED_HELPER_H
