// SPDX-License-Identifier: GPL-2.0-only

#include "federated-helper.h"

#include "federated-cell-sentences.h"
#include "federated-privacy-totals.h"
#include "federated-progress.h"
#include "federated-ranks.h"
#include "federated-summary.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/device-registry.h"
#include "ns3/double.h"
#include "ns3/edge-training.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/enum.h"
#include "ns3/federated-header.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/message-protection.h"
#include "ns3/mobility-model.h"
#include "ns3/node-list.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/socket-check.h"
#include "ns3/strategy-checker.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>

namespace ns3
{

namespace
{

const char* const NO_PREFIX = "The model cannot be saved without a prefix of files.";

uint32_t g_federations = 0; // installed in this simulation

/** @return the number of one more federation in this simulation, from 0 on. */
uint32_t
CountFederation()
{
    if (g_federations == 0)
    {
        Simulator::ScheduleDestroy(+[]() { g_federations = 0; });
    }
    return g_federations++;
}

/** Centers with OnRequest that have no edge, in this simulation; their nodes hold them. */
std::set<const FusionCenter*> g_withoutEdge;

/** The simulation is destroyed, and its centers with it. */
void
ForgetWithoutEdge()
{
    g_withoutEdge.clear();
}

/** Centers whose last round the simulation waits for; only addresses, which are never followed. */
std::set<const FusionCenter*> g_unfinished;

/** The simulation is destroyed, and its centers with it. */
void
ForgetUnfinished()
{
    g_unfinished.clear();
}

/**
 * Simulator::Stop as a trace sink, once all centers that were to be waited for have finished.
 * @param center The center that has finished.
 * @param rounds Not used.
 */
void
StopSimulation(const FusionCenter* center, uint32_t /* rounds */)
{
    if (g_unfinished.erase(center) > 0 && g_unfinished.empty() &&
        !FederatedRanks::IsStoppingTogether())
    {
        Simulator::Stop();
    }
}

/**
 * Abort if a center that the simulation waits for never finishes.
 * @param center The center.
 */
void
CheckFinishes(const Ptr<FusionCenter>& center)
{
    BooleanValue onRequest;
    center->GetAttribute("OnRequest", onRequest);
    NS_ABORT_MSG_IF(onRequest.Get(),
                    "FederatedHelper: StopWhenFinished (or EnableOutput) of a federation whose "
                    "center has OnRequest: it never finishes by itself; call it on the federation "
                    "of the edges, and EnableTraces on this one");
}

/**
 * @param object An object.
 * @return its TypeId and attributes, to compare it with another one.
 */
std::string
DescribeObject(const Ptr<Object>& object)
{
    const TypeId type = object->GetInstanceTypeId();
    std::string text = type.GetName() + "[";
    for (TypeId level = type;; level = level.GetParent())
    {
        for (std::size_t i = 0; i < level.GetAttributeN(); ++i)
        {
            StringValue value;
            if (object->GetAttributeFailSafe(level.GetAttribute(i).name, value))
            {
                text += (text.back() == '[' ? "" : "|") + level.GetAttribute(i).name + "=" +
                        value.Get();
            }
        }
        if (!level.HasParent())
        {
            return text + "]";
        }
    }
}

/**
 * @param node A node.
 * @param v6 Whether to look for IPv6 addresses.
 * @return its address, if there is exactly one that others can reach; else an invalid one.
 */
Address
GetOnlyAddress(const Ptr<Node>& node, bool v6)
{
    const std::vector<Address> addresses = federated::ListAddresses(node, v6);
    return addresses.size() == 1 ? addresses.front() : Address();
}

/** @return whether this process simulates a node; the others are those of other ranks. */
bool
IsLocal(const Ptr<Node>& node)
{
    return node->GetSystemId() == Simulator::GetSystemId();
}

/** @return whether a node can be reached at an address that not every node has. */
bool
IsReachable(const Address& ip)
{
    if (Ipv4Address::IsMatchingType(ip))
    {
        const auto address = Ipv4Address::ConvertFrom(ip);
        return address != Ipv4Address::GetAny() && !address.IsLocalhost();
    }
    const auto address = Ipv6Address::ConvertFrom(ip);
    return !address.IsAny() && !address.IsLocalhost();
}

/**
 * Abort if a radio of wifi has no place, when the simulation begins: without one ns-3 crashes at
 * the first frame.
 */
void
CheckPlaces()
{
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        for (uint32_t i = 0; i < (*node)->GetNDevices() && !(*node)->GetObject<MobilityModel>();
             ++i)
        {
            const TypeId type = (*node)->GetDevice(i)->GetInstanceTypeId();
            NS_ABORT_MSG_IF(type.GetName() == "ns3::WifiNetDevice",
                            "FederatedHelper: node "
                                << (*node)->GetId()
                                << " has a wifi radio, but no mobility model: install one");
        }
    }
}

/**
 * @param names Some names.
 * @return them with commas between.
 */
std::string
JoinNames(const std::vector<std::string>& names)
{
    std::string text;
    for (const auto& name : names)
    {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

/**
 * @param reference Identifier of a node.
 * @param nodes Identifiers of the nodes of all devices.
 * @param device A device.
 * @return its distance from the reference in meters; NaN if one of them has no position.
 */
double
GetDistance(uint32_t reference, std::vector<uint32_t> nodes, uint32_t device)
{
    const auto from = NodeList::GetNode(reference)->GetObject<MobilityModel>();
    const auto to = NodeList::GetNode(nodes.at(device))->GetObject<MobilityModel>();
    return from && to ? from->GetDistanceFrom(to) : std::nan("");
}

/**
 * @param node A node.
 * @return its place; unknown if it has no mobility model.
 */
FederatedRunRecord::Place
GetPlace(const Ptr<Node>& node)
{
    const auto mobility = node->GetObject<MobilityModel>();
    if (!mobility)
    {
        return {};
    }
    const Vector position = mobility->GetPosition();
    return {position.x, position.y, position.z};
}

/**
 * @param object An object.
 * @param isPart Whether it is an attribute itself; then objects in it are named only.
 * @return its attributes as texts that ns-3 reads, but no keys.
 */
FederatedCommand::Values
ListAttributes(const Ptr<Object>& object, bool isPart = false)
{
    FederatedCommand::Values values;
    const TypeId type = object->GetInstanceTypeId();
    for (TypeId level = type;; level = level.GetParent())
    {
        for (std::size_t i = 0; i < level.GetAttributeN(); ++i)
        {
            const TypeId::AttributeInformation& attribute = level.GetAttribute(i);
            const bool isKey = attribute.name.find("Key") != std::string::npos;
            if (isKey || attribute.supportLevel != TypeId::SupportLevel::SUPPORTED ||
                (attribute.flags & TypeId::ATTR_GET) == 0 || !attribute.accessor->HasGetter())
            {
                continue;
            }
            const Ptr<AttributeValue> value = attribute.checker->Create();
            object->GetAttribute(attribute.name, *value);
            const auto pointer = DynamicCast<PointerValue>(value);
            if (!pointer)
            {
                values.emplace_back(attribute.name, value->SerializeToString(attribute.checker));
                continue;
            }
            const Ptr<Object> part = pointer->GetObject();
            std::string text = part ? part->GetInstanceTypeId().GetName() : "0";
            if (part && !isPart)
            {
                std::string list;
                for (const auto& [name, setting] : ListAttributes(part, true))
                {
                    list += (list.empty() ? "" : "|") + name + "=" + setting;
                }
                text += list.empty() ? "" : "[" + list + "]";
            }
            values.emplace_back(attribute.name, text);
        }
        if (!level.HasParent() || level.GetParent() == level)
        {
            return values;
        }
    }
}

} // namespace

// The readings of the paper. `literal` is its text; `fitted` was found by a search for its figures,
// after the fact; the interval of `sound` was chosen by the test accuracy of one seed.
const std::vector<FederatedHelper::Profile> FederatedHelper::PROFILES = {
    // name, pixels, learning rate, decay, clip norm, C, interval, exact D, C in CSO, rho
    {"literal", LearningTask::PIXELS_UNIT, 0.1, 0, CLIP_L1, 10, 10, true, 10, 20},
    {"fitted", LearningTask::PIXELS_STANDARD, 0.1, 0.2, CLIP_NONE, 10, 0, true, 10, 0},
    {"sound", LearningTask::PIXELS_UNIT, 0.1, 0, CLIP_L1, 100, 0.01, false, 100, 200},
};

const std::vector<FederatedHelper::Algorithm> FederatedHelper::ALGORITHMS = {
    {"alg1", "ns3::DpStochasticQuantizer", "ns3::UniformFusion", "ns3::RandomClusterSizes", false},
    {"fwo",
     "ns3::DpStochasticQuantizer",
     "ns3::EffectiveSnrFusion",
     "ns3::RandomClusterSizes",
     true},
    {"fwo-cso",
     "ns3::DpStochasticQuantizer",
     "ns3::EffectiveSnrFusion",
     "ns3::OptimalClusterSizes",
     true},
    {"laplacesq",
     "ns3::LaplaceQuantizer",
     "ns3::ResolutionFusion",
     "ns3::RandomClusterSizes",
     false},
    {"sq",
     "ns3::UnbiasedStochasticQuantizer",
     "ns3::UniformFusion",
     "ns3::RandomClusterSizes",
     false},
    {"fedavg", "ns3::IdentityQuantizer", "ns3::UniformFusion", "ns3::RandomClusterSizes", false},
};

const std::vector<FederatedHelper::Weights> FederatedHelper::WEIGHTS = {
    {"default", ""},
    {"uniform", "ns3::UniformFusion"},
    {"resolution", "ns3::ResolutionFusion"},
    {"effective-snr", "ns3::EffectiveSnrFusion"},
    {"samples", "ns3::SampleFusion"},
};

template <typename Row>
const Row*
FederatedHelper::Find(const std::vector<Row>& table, const std::string& name)
{
    for (const Row& row : table)
    {
        if (name == row.name)
        {
            return &row;
        }
    }
    return nullptr;
}

template <typename Row>
std::vector<std::string>
FederatedHelper::ListNames(const std::vector<Row>& table)
{
    std::vector<std::string> names;
    for (const Row& row : table)
    {
        names.emplace_back(row.name);
    }
    return names;
}

std::vector<std::string>
FederatedHelper::GetProfiles()
{
    return ListNames(PROFILES);
}

std::vector<std::string>
FederatedHelper::GetAlgorithms()
{
    return ListNames(ALGORITHMS);
}

std::vector<std::string>
FederatedHelper::GetWeights()
{
    return ListNames(WEIGHTS);
}

bool
FederatedHelper::CheckWeights(const std::string& algorithm,
                              const std::string& weights,
                              std::string& error)
{
    if (!Find(WEIGHTS, weights))
    {
        error = "There are no weights '" + weights + "', only " + JoinNames(GetWeights()) + ".";
        return false;
    }
    const Algorithm* chosen = Find(ALGORITHMS, algorithm);
    if (weights == "default" || !chosen || !chosen->definesWeights)
    {
        return true;
    }
    std::vector<std::string> open;
    for (const Algorithm& other : ALGORITHMS)
    {
        if (!other.definesWeights)
        {
            open.emplace_back(other.name);
        }
    }
    error = "Algorithm " + algorithm + " defines its weights, which cannot be '" + weights +
            "'; those of " + JoinNames(open) + " can be chosen.";
    return false;
}

FederatedHelper::FederatedHelper()
    : m_profile("sound"),
      m_algorithm("fwo-cso"),
      m_weights(WEIGHTS.front().name),
      m_epsilon(1e-6),
      m_protocol("udp"),
      m_stream(FederatedStreams::FEDERATION),
      m_task(CreateObject<LearningTask>())
{
}

FederatedHelper::~FederatedHelper() = default;

void
FederatedHelper::CheckOpen(const char* setter) const
{
    NS_ABORT_MSG_IF(m_center,
                    "FederatedHelper: " << setter
                                        << " comes too late, after Install; set attributes of "
                                           "GetCenter() and GetDevices() instead");
}

void
FederatedHelper::SetProfile(const std::string& name)
{
    CheckOpen("SetProfile");
    m_profile = name;
    m_checked = false;
}

void
FederatedHelper::SetAlgorithm(const std::string& name)
{
    CheckOpen("SetAlgorithm");
    m_algorithm = name;
    m_checked = false;
}

void
FederatedHelper::SetWeights(const std::string& name)
{
    CheckOpen("SetWeights");
    m_weights = name;
    m_checked = false;
}

void
FederatedHelper::SetEpsilon(double epsilon)
{
    CheckOpen("SetEpsilon");
    m_epsilon = epsilon;
    m_checked = false;
}

void
FederatedHelper::SetInterval(double halfWidth)
{
    CheckOpen("SetInterval");
    NS_ABORT_MSG_IF(!std::isfinite(halfWidth) || halfWidth <= 0,
                    "FederatedHelper: the interval has a half width of "
                        << halfWidth << ", not a number above 0");
    m_halfWidth = halfWidth;
    m_checked = false;
}

void
FederatedHelper::SetClipBound(double bound)
{
    CheckOpen("SetClipBound");
    NS_ABORT_MSG_IF(!std::isfinite(bound) || bound <= 0,
                    "FederatedHelper: the clip bound is " << bound << ", not a number above 0");
    m_clipBound = bound;
    m_checked = false;
}

void
FederatedHelper::SetQuantizer(Ptr<Quantizer> quantizer)
{
    CheckOpen("SetQuantizer");
    m_customQuantizer = quantizer;
    m_checked = false;
}

void
FederatedHelper::SetQuantizer(const std::string& text)
{
    federated::StrategyValue value;
    value.DeserializeFromString(text, federated::MakeStrategyChecker<Quantizer>());
    SetQuantizer(value.Get<Quantizer>());
}

void
FederatedHelper::SetStart(const SavedModel& model)
{
    CheckOpen("SetStart");
    NS_ABORT_MSG_IF(model.values.empty(),
                    "FederatedHelper: the model of SetStart is empty: was it read?");
    m_start = model;
}

void
FederatedHelper::SetSave(bool save)
{
    CheckOpen("SetSave");
    m_save = save;
}

void
FederatedHelper::AddGroup(const NodeContainer& nodes, unsigned bits)
{
    CheckOpen("AddGroup");
    m_groups.push_back({nodes, bits});
    m_checked = false;
}

void
FederatedHelper::SetData(const FederatedData& data)
{
    CheckOpen("SetData");
    m_data = data;
    m_checked = false;
}

void
FederatedHelper::SetPartition(Ptr<FederatedPartition> partition)
{
    SetTaskAttribute("Partition", PointerValue(partition));
}

void
FederatedHelper::SetProtocol(const std::string& protocol)
{
    CheckOpen("SetProtocol");
    m_protocol = protocol;
    m_checked = false;
}

void
FederatedHelper::SetEncryptionKey(const std::string& key)
{
    SetCenterAttribute("EncryptionKey", StringValue(key));
}

void
FederatedHelper::SetRotation(bool rotation)
{
    SetCenterAttribute("Rotation", BooleanValue(rotation));
    SetDeviceAttribute("Rotation", BooleanValue(rotation));
}

void
FederatedHelper::SetInterleave(bool interleave)
{
    SetCenterAttribute("Interleave", BooleanValue(interleave));
    SetDeviceAttribute("Interleave", BooleanValue(interleave));
}

void
FederatedHelper::SetGroupAddress(Ipv4Address group, uint16_t devicePort)
{
    CheckOpen("SetGroupAddress");
    m_group = group;
    m_groupPort = devicePort;
    const Attributes attributes = GetGroupAttributes();
    m_centerAttributes.insert(m_centerAttributes.end(), attributes.begin(), attributes.end());
}

FederatedHelper::Attributes
FederatedHelper::GetGroupAttributes() const
{
    return {{"Downlink", EnumValue(FusionCenter::GROUP).Copy()},
            {"MulticastGroup", AddressValue(InetSocketAddress(m_group, m_groupPort)).Copy()}};
}

void
FederatedHelper::SetEnrolled(bool enrolled)
{
    CheckOpen("SetEnrolled");
    m_enrolled = enrolled;
}

void
FederatedHelper::SetProbe(const Ptr<LinkProbe>& probe)
{
    m_probe = probe;
    if (m_center)
    {
        m_center->SetAttribute("Probe", PointerValue(probe));
    }
}

void
FederatedHelper::SetDistanceReference(const Ptr<Node>& node)
{
    CheckOpen("SetDistanceReference");
    m_reference = node;
}

void
FederatedHelper::SetJoinSpacing(const Time& spacing)
{
    CheckOpen("SetJoinSpacing");
    NS_ABORT_MSG_IF(spacing.IsStrictlyNegative(),
                    "FederatedHelper: the time of SetJoinSpacing is negative, "
                        << spacing.As(Time::S));
    m_spacing = spacing;
}

void
FederatedHelper::SetCenterAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOpen("SetCenterAttribute");
    m_centerAttributes.emplace_back(name, value.Copy());
}

void
FederatedHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOpen("SetDeviceAttribute");
    m_deviceAttributes.emplace_back(name, value.Copy());
}

void
FederatedHelper::SetTaskAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOpen("SetTaskAttribute");
    m_taskAttributes.emplace_back(name, value.Copy());
    m_checked = false;
}

FederatedHelper::Attributes
FederatedHelper::WithoutChangedDefaults(const TypeId& type, const Attributes& attributes)
{
    Attributes others;
    for (const auto& [name, value] : attributes)
    {
        TypeId::AttributeInformation known;
        const bool isKnown = type.LookupAttributeByName(name, &known);
        if (!isKnown || known.initialValue->SerializeToString(known.checker) ==
                            known.originalInitialValue->SerializeToString(known.checker))
        {
            others.emplace_back(name, value);
        }
    }
    return others;
}

void
FederatedHelper::SetLinkDefaults(const LinkDefaults& defaults)
{
    CheckOpen("SetLinkDefaults");
    // In front of what the script sets: the last value of an attribute counts.
    const auto add = [](Attributes& all, const Attributes& some)
    { all.insert(all.begin(), some.begin(), some.end()); };
    add(m_centerAttributes, WithoutChangedDefaults(FusionCenter::GetTypeId(), defaults.center));
    add(m_deviceAttributes, WithoutChangedDefaults(FederatedDevice::GetTypeId(), defaults.devices));
    m_spacing = m_spacing ? m_spacing : defaults.joinSpacing;
    m_enrolled = m_enrolled ? m_enrolled : defaults.enrolled;
    m_probe = m_probe ? m_probe : defaults.probe;
    m_reference = m_reference ? m_reference : defaults.distanceReference;
    if (m_groupPort == 0 && defaults.groupPort != 0)
    {
        m_group = defaults.group;
        m_groupPort = defaults.groupPort;
        add(m_centerAttributes, GetGroupAttributes());
    }
}

void
FederatedHelper::Apply(const Ptr<Object>& object, const Attributes& attributes)
{
    for (const auto& [name, value] : attributes)
    {
        object->SetAttribute(name, *value);
    }
}

Ptr<const AttributeValue>
FederatedHelper::FindSetting(const TypeId::AttributeInformation& attribute,
                             const Attributes& attributes)
{
    Ptr<const AttributeValue> value = attribute.initialValue;
    for (const auto& [name, other] : attributes)
    {
        value = name == attribute.name ? other : value;
    }
    return value;
}

Ptr<const AttributeValue>
FederatedHelper::FindValue(const TypeId& type,
                           const Attributes& attributes,
                           const std::string& name)
{
    TypeId::AttributeInformation attribute;
    type.LookupAttributeByName(name, &attribute);
    return attribute.checker->CreateValidValue(*FindSetting(attribute, attributes));
}

std::string
FederatedHelper::FindStrategy(const TypeId& type,
                              const Attributes& attributes,
                              const std::string& name)
{
    TypeId::AttributeInformation attribute;
    type.LookupAttributeByName(name, &attribute);
    const Ptr<const AttributeValue> value = FindSetting(attribute, attributes);
    if (const auto text = DynamicCast<const StringValue>(value))
    {
        return text->Get().substr(0, text->Get().find('['));
    }
    const auto pointer = DynamicCast<const PointerValue>(value);
    return pointer && pointer->GetObject() ? pointer->GetObject()->GetInstanceTypeId().GetName()
                                           : "";
}

bool
FederatedHelper::IsSet(const Attributes& attributes, const std::string& name)
{
    return std::any_of(attributes.begin(),
                       attributes.end(),
                       [&name](const auto& attribute) { return attribute.first == name; });
}

std::string
FederatedHelper::DescribeValue(const TypeId& type,
                               const Attributes& attributes,
                               const std::string& name)
{
    TypeId::AttributeInformation information;
    type.LookupAttributeByName(name, &information);
    const Ptr<const AttributeValue> value = FindValue(type, attributes, name);
    const auto pointer = DynamicCast<const PointerValue>(value);
    if (!pointer)
    {
        return value->SerializeToString(information.checker);
    }
    return pointer->GetObject() ? DescribeObject(pointer->GetObject()) : "none";
}

uint32_t
FederatedHelper::GetFragmentSize() const
{
    const auto size = DynamicCast<const UintegerValue>(
        FindValue(FusionCenter::GetTypeId(), m_centerAttributes, "FragmentSize"));
    NS_ABORT_MSG_IF(!size, "FederatedHelper: FragmentSize of the center is no valid size");
    return static_cast<uint32_t>(size->Get());
}

void
FederatedHelper::ShareTask(const Ptr<LearningTask>& task, uint32_t first, uint32_t cell)
{
    CheckOpen("ShareTask");
    NS_ABORT_MSG_IF(!task, "FederatedHelper: ShareTask needs a task");
    NS_ABORT_MSG_IF(cell >= FederatedStreams::CELLS,
                    "FederatedHelper: cell " << cell << " is not below "
                                             << FederatedStreams::CELLS);
    m_task = task;
    m_isShared = true;
    m_first = first;
    m_cell = cell + 1; // 0 is a federation alone
    m_stream = FederatedStreams::FEDERATION + m_cell * FederatedStreams::CELL;
    m_checked = false;
}

void
FederatedHelper::SetEdge(uint32_t device, const FederatedHelper& cell, uint32_t rounds)
{
    NS_ABORT_MSG_IF(!m_center || !cell.m_center,
                    "FederatedHelper: SetEdge comes before Install of both federations");
    uint32_t samples = 0;
    for (uint32_t i = 0; i < cell.CountDevices(); ++i)
    {
        samples += cell.GetSamples(i);
    }
    AddEdge(device, samples);
    BooleanValue onRequest;
    cell.m_center->GetAttribute("OnRequest", onRequest);
    NS_ABORT_MSG_IF(!onRequest.Get(),
                    "FederatedHelper: the center of the cell of edge "
                        << device << " begins rounds by itself: set its attribute OnRequest");
    NS_ABORT_MSG_IF(rounds == 0, "FederatedHelper: an edge needs at least a round of its cell");
    const Ptr<Node> node = m_devices[device]->GetNode();
    if (!node)
    {
        return; // another rank simulates it
    }
    NS_ABORT_MSG_IF(node != cell.m_center->GetNode(),
                    "FederatedHelper: the center of the cell of edge "
                        << device << " is on another node than the edge");
    if (!m_task->GetFirstModel().empty())
    {
        cell.m_task->SetFirstModel(m_task->GetFirstModel());
    }
    // A cell without a number of its own has that of its edge.
    m_cells.emplace_back(cell.m_cell > 0 ? cell.m_cell - 1 : device, cell.m_summary);
    g_withoutEdge.erase(PeekPointer(cell.m_center));
    m_devices[device]->SetTraining(
        std::make_unique<federated::EdgeTraining>(cell.m_center, m_task, rounds, samples));
}

void
FederatedHelper::SetEdge(uint32_t device)
{
    NS_ABORT_MSG_IF(!m_center, "FederatedHelper: SetEdge comes before Install");
    NS_ABORT_MSG_IF(IsEnrolled(),
                    "FederatedHelper: device "
                        << device
                        << " is enrolled, and an edge whose samples only another rank knows: "
                           "let it join, with SetEnrolled(false)");
    AddEdge(device, 0);
}

void
FederatedHelper::AddEdge(uint32_t device, uint32_t samples)
{
    NS_ABORT_MSG_IF(device >= m_devices.size(),
                    "FederatedHelper: there is no device " << device << " that could be an edge");
    m_edges[device] = samples;
    m_summary->SetHasEdges();
    if (IsEnrolled())
    {
        EnrollDevice(device);
    }
}

bool
FederatedHelper::HasCenter() const
{
    return m_center && m_center->GetNode();
}

uint32_t
FederatedHelper::GetSamples(uint32_t device) const
{
    return m_task->GetSamples(m_first + device);
}

Ptr<LearningTask>
FederatedHelper::GetTask() const
{
    return m_task;
}

NodeContainer
FederatedHelper::GetNodes() const
{
    NodeContainer nodes;
    for (const Group& group : m_groups)
    {
        nodes.Add(group.nodes);
    }
    return nodes;
}

const std::vector<Ptr<FederatedDevice>>&
FederatedHelper::GetDevices() const
{
    return m_devices;
}

uint32_t
FederatedHelper::CountDevices() const
{
    uint32_t devices = 0;
    for (const Group& group : m_groups)
    {
        devices += group.nodes.GetN();
    }
    return devices;
}

Time
FederatedHelper::GetJoinSpacing() const
{
    return m_spacing.value_or(MicroSeconds(100));
}

bool
FederatedHelper::IsEnrolled() const
{
    return m_enrolled.value_or(false);
}

bool
FederatedHelper::Check(std::string& error)
{
    return CheckValues(error) && (m_checked || CheckTask(error)) && CheckStart(error) &&
           CheckProtection(error) && CheckStrategies(error) && CheckSides(error) &&
           CheckPrivacyBudgets(error);
}

bool
FederatedHelper::Check(const Ptr<Node>& centerNode,
                       const Address& centerAddress,
                       std::string& error)
{
    if (!Check(error))
    {
        return false;
    }
    const federated::SocketAddress address(centerAddress);
    const NodeContainer nodes = GetNodes();
    error.clear();
    if (!centerNode)
    {
        error = "The node of the center is null.";
    }
    else if (!address.IsValid() || address.port == 0)
    {
        error = "The center's address is no IP address with a port.";
    }
    else if (m_groupPort != 0 && (m_protocol != "udp" || m_groupPort == address.port))
    {
        error = "A group address needs UDP and two different ports.";
    }
    else if (IsEnrolled() && m_groupPort == 0)
    {
        error = "Devices that need not join need a group address.";
    }
    else if (!IsReachable(address.ip) &&
             std::any_of(nodes.Begin(),
                         nodes.End(),
                         [&centerNode](const Ptr<Node>& node) { return node != centerNode; }))
    {
        std::ostringstream text;
        text << "The center's address is " << address
             << ", which is one of every node: devices on other nodes do not reach it.";
        error = text.str();
    }
    else if (!CheckCenter(error))
    {
        return false;
    }
    else if (IsLocal(centerNode))
    {
        const std::string mistake = federated::FindAddressMistake(centerNode, centerAddress);
        error = mistake.empty() ? "" : "The center's address is wrong: " + mistake + ".";
    }
    return error.empty();
}

bool
FederatedHelper::CheckCenter(std::string& error) const
{
    const auto find = [this](const std::string& name)
    { return FindValue(FusionCenter::GetTypeId(), m_centerAttributes, name); };
    const Time deadline = DynamicCast<const TimeValue>(find("Deadline"))->Get();
    const Time wake = DynamicCast<const TimeValue>(find("WakeTime"))->Get();
    if (wake >= deadline)
    {
        std::ostringstream text;
        text << "Deadline is " << deadline.As(Time::MS) << ", but radios that sleep need "
             << wake.As(Time::MS) << " to wake (WakeTime of the center).";
        error = text.str();
        return false;
    }
    const bool hasProbe = m_probe || DynamicCast<const PointerValue>(find("Probe"))->GetObject();
    for (const std::string name : {"LinkNoise", "SelectionPolicy"})
    {
        const std::string type = FindStrategy(FusionCenter::GetTypeId(), m_centerAttributes, name);
        if (!hasProbe && (type == "ns3::SnrLinkNoise" || type == "ns3::BestSnrSelection"))
        {
            error = type + " needs radios whose SNR a probe measures (SetProbe).";
            return false;
        }
    }
    return true;
}

bool
FederatedHelper::CheckValues(std::string& error) const
{
    struct Side
    {
        TypeId type;                     // of what
        const Attributes* attributes;    // that are set
        std::set<std::string> fromGroup; // those that AddGroup sets
    };

    const Side sides[] = {
        {FusionCenter::GetTypeId(), &m_centerAttributes, {"GroupBits"}},
        {FederatedDevice::GetTypeId(), &m_deviceAttributes, {"DeviceId", "Group", "Bits"}},
        {LearningTask::GetTypeId(), &m_taskAttributes, {}},
    };
    for (const Side& side : sides)
    {
        for (const auto& [name, value] : *side.attributes)
        {
            const std::string shown = name + " of " + side.type.GetName();
            TypeId::AttributeInformation attribute;
            if (!side.type.LookupAttributeByName(name, &attribute))
            {
                error = "There is no attribute " + shown + ".";
                return false;
            }
            if (side.fromGroup.count(name) > 0)
            {
                error = shown + " follows from AddGroup and cannot be set.";
                return false;
            }
            const auto text = DynamicCast<const StringValue>(value);
            const std::string mistake =
                text ? federated::FindStrategyMistake(text->Get(), *attribute.checker) : "";
            if (!mistake.empty())
            {
                error = shown + ": " + mistake + ".";
                return false;
            }
            if (!attribute.checker->CreateValidValue(*value))
            {
                error = shown + " cannot be '" + value->SerializeToString(attribute.checker) +
                        "', only " + attribute.checker->GetUnderlyingTypeInformation() + ".";
                return false;
            }
        }
    }
    return true;
}

bool
FederatedHelper::CheckStart(std::string& error) const
{
    const std::size_t size = m_start.values.size();
    if (size == 0 || size == m_task->GetDimension())
    {
        return true;
    }
    error = "The model " + (m_start.path.empty() ? "to begin with" : "'" + m_start.path + "'") +
            " has " + std::to_string(size) + " parameters, but the task has " +
            std::to_string(m_task->GetDimension()) + ".";
    return false;
}

bool
FederatedHelper::CheckTask(std::string& error)
{
    std::ostringstream text;
    const Profile* profile = Find(PROFILES, m_profile);
    if (!profile)
    {
        text << "There is no profile '" << m_profile << "', only " << JoinNames(GetProfiles())
             << ".";
    }
    else if (!Find(ALGORITHMS, m_algorithm))
    {
        text << "There is no algorithm '" << m_algorithm << "', only " << JoinNames(GetAlgorithms())
             << ".";
    }
    else if (!CheckWeights(m_algorithm, m_weights, error))
    {
        text << error;
    }
    else if (m_clipBound > 0 && profile->clipNorm == CLIP_NONE)
    {
        text << "Profile " << m_profile << " does not clip updates: there is no bound to set.";
    }
    else if (!std::isfinite(m_epsilon) || m_epsilon <= 0)
    {
        text << "Epsilon is " << m_epsilon << ", not a number above 0.";
    }
    else if (m_protocol != "udp" && m_protocol != "tcp")
    {
        text << "There is no protocol '" << m_protocol << "', only udp, tcp.";
    }
    else if (m_groups.empty())
    {
        text << "The federation has no group of devices.";
    }
    std::vector<uint32_t> sizes;
    for (std::size_t i = 0; i < m_groups.size() && text.str().empty(); ++i)
    {
        sizes.push_back(m_groups[i].nodes.GetN());
        if (sizes.back() == 0)
        {
            text << "Group " << i << " has no devices.";
        }
        else if (m_groups[i].bits < 1 || m_groups[i].bits > Quantizer::MAX_BITS)
        {
            text << "Group " << i << " has " << m_groups[i].bits << " bits, not 1 to "
                 << Quantizer::MAX_BITS << ".";
        }
    }
    error = text.str();
    if (!error.empty())
    {
        return false;
    }
    m_task->SetAttribute("Pixels", EnumValue(profile->pixels));
    Apply(m_task, m_taskAttributes);
    m_task->SetData(m_data);
    if (!m_isShared)
    {
        m_task->SetGroups(sizes);
        m_task->AssignStreams(m_stream);
    }
    m_checked = m_task->Prepare(error);
    if (m_checked && m_first + CountDevices() > m_task->GetDevices())
    {
        error = "The data of the shared task is split among " +
                std::to_string(m_task->GetDevices()) +
                " devices, but this federation has those from " + std::to_string(m_first) + " to " +
                std::to_string(m_first + CountDevices() - 1) + ".";
        m_checked = false;
    }
    return m_checked;
}

bool
FederatedHelper::CheckProtection(std::string& error) const
{
    const auto value = DynamicCast<const StringValue>(
        FindValue(FusionCenter::GetTypeId(), m_centerAttributes, "EncryptionKey"));
    error.clear();
    if (value && !value->Get().empty())
    {
        error = federated::MessageProtection::FindObstacle(GetFragmentSize(), m_groupPort != 0);
    }
    if (!error.empty())
    {
        error = "A key is set (EncryptionKey, --encrypt), but " + error;
    }
    return error.empty();
}

bool
FederatedHelper::CheckSides(std::string& error) const
{
    const Profile profile = GetProfile();
    const Attributes both{{"Protocol", Create<TypeIdValue>(GetProtocol())},
                          {"Quantizer", Create<PointerValue>(m_quantizer)}};
    Attributes device = both;
    device.emplace_back("IntervalRule", Create<PointerValue>(m_interval));
    device.emplace_back("ClipNorm", EnumValue(profile.clipNorm).Copy());
    device.emplace_back("ClipBound", Create<DoubleValue>(profile.clipBound));
    device.insert(device.end(), m_deviceAttributes.begin(), m_deviceAttributes.end());
    Attributes center = both;
    center.insert(center.end(), m_centerAttributes.begin(), m_centerAttributes.end());

    const std::string told = "set only that of the devices, which the center is told";
    const std::pair<std::string, std::string> names[] = {{"Protocol", "SetProtocol sets both"},
                                                         {"Quantizer", "SetQuantizer sets both"},
                                                         {"Rotation", "SetRotation sets both"},
                                                         {"IntervalRule", told},
                                                         {"ClipNorm", told},
                                                         {"ClipBound", told}};
    for (const auto& [name, advice] : names)
    {
        if (advice == told && !IsSet(m_centerAttributes, name))
        {
            continue;
        }
        const std::string ofCenter = DescribeValue(FusionCenter::GetTypeId(), center, name);
        const std::string ofDevices = DescribeValue(FederatedDevice::GetTypeId(), device, name);
        if (advice == told && ofCenter == "none")
        {
            continue; // what the center does not know is not compared
        }
        if (ofCenter != ofDevices)
        {
            error = name + " of the center is " + ofCenter + ", and that of the devices " +
                    ofDevices + "; " + advice + ".";
            return false;
        }
    }
    return true;
}

bool
FederatedHelper::CheckStrategies(std::string& error)
{
    MakeStrategies();
    Attributes attributes{{"Quantizer", Create<PointerValue>(m_quantizer)},
                          {"IntervalRule", Create<PointerValue>(m_interval)}};
    attributes.insert(attributes.end(), m_deviceAttributes.begin(), m_deviceAttributes.end());
    const auto find = [&attributes](const std::string& name)
    {
        return DynamicCast<const PointerValue>(
            FindValue(FederatedDevice::GetTypeId(), attributes, name));
    };
    // A text makes a new object, which stands for those that the devices will have.
    const auto quantizer = find("Quantizer");
    const auto interval = find("IntervalRule");
    if (!quantizer || !interval || !quantizer->GetObject() || !interval->GetObject())
    {
        return true; // devices that are not complete abort when they start
    }
    UpdateSettings settings;
    settings.quantizer = PeekPointer(quantizer->Get<Quantizer>());
    settings.intervalRule = PeekPointer(interval->Get<IntervalRule>());
    if (IsSetForDevices("Rotation"))
    {
        settings.rotation = PublicRotation(m_task->GetRotationSeed(), 0);
    }
    if (IsSetForDevices("Interleave"))
    {
        settings.interleaving = PublicInterleaving(m_task->GetRotationSeed(), 0);
    }
    for (std::size_t i = 0; i < m_groups.size(); ++i)
    {
        settings.bits = m_groups[i].bits;
        if (!CheckUpdateSettings(settings, m_task->GetDimension(), error))
        {
            error = "Group " + std::to_string(i) + ": " + error;
            return false;
        }
    }
    return true;
}

bool
FederatedHelper::CheckPrivacyBudgets(std::string& error)
{
    // Devices are created only if needed: each takes automatic random streams.
    TypeId::AttributeInformation budget;
    FederatedDevice::GetTypeId().LookupAttributeByName("PrivacyBudget", &budget);
    const bool isSet = IsSet(m_deviceAttributes, "PrivacyBudget");
    if (!isSet && DynamicCast<const DoubleValue>(budget.initialValue)->Get() == 0)
    {
        return true;
    }
    ObjectFactory factory = MakeDeviceFactory();
    for (const Group& group : m_groups)
    {
        factory.Set("Bits", UintegerValue(group.bits));
        const auto device = factory.Create<FederatedDevice>();
        Apply(device, m_deviceAttributes);
        if (!device->CheckPrivacyBudget(error))
        {
            return false;
        }
    }
    return true;
}

void
FederatedHelper::MakeStrategies()
{
    const Profile profile = GetProfile();
    ObjectFactory interval(profile.halfWidth > 0 ? "ns3::FixedInterval" : "ns3::MaxAbsInterval");
    if (profile.halfWidth > 0)
    {
        interval.Set("Low", DoubleValue(-profile.halfWidth));
        interval.Set("High", DoubleValue(profile.halfWidth));
    }
    m_interval = interval.Create<IntervalRule>();
    m_quantizer = m_customQuantizer;
    if (m_quantizer)
    {
        return;
    }
    const std::string name = Find(ALGORITHMS, m_algorithm)->quantizer;
    ObjectFactory quantizer(name);
    if (name == "ns3::LaplaceQuantizer")
    {
        // One epsilon for the whole update: d times that of a coordinate.
        const auto coordinates = static_cast<double>(GetEncodedSize());
        quantizer.Set("Epsilon", DoubleValue(coordinates * m_epsilon));
        quantizer.Set("Sensitivity", DoubleValue(profile.laplaceSensitivity));
    }
    else if (name == "ns3::DpStochasticQuantizer")
    {
        quantizer.Set("Epsilon", DoubleValue(m_epsilon));
    }
    m_quantizer = quantizer.Create<Quantizer>();
}

std::string
FederatedHelper::GetFusionRule() const
{
    const std::string chosen = Find(WEIGHTS, m_weights)->fusionRule;
    return chosen.empty() ? Find(ALGORITHMS, m_algorithm)->fusionRule : chosen;
}

FederatedHelper::Profile
FederatedHelper::GetProfile() const
{
    Profile profile = *Find(PROFILES, m_profile);
    if (m_halfWidth > 0)
    {
        profile.halfWidth = m_halfWidth;
    }
    if (m_clipBound > 0)
    {
        profile.clipBound = m_clipBound;
        profile.clusterConstant = m_clipBound;
        profile.laplaceSensitivity = 2 * m_clipBound;
    }
    return profile;
}

bool
FederatedHelper::IsSetForDevices(const std::string& name) const
{
    const auto value = DynamicCast<const BooleanValue>(
        FindValue(FederatedDevice::GetTypeId(), m_deviceAttributes, name));
    return value && value->Get();
}

std::size_t
FederatedHelper::GetEncodedSize() const
{
    return ns3::GetEncodedSize(IsSetForDevices("Rotation"), m_task->GetDimension());
}

TypeId
FederatedHelper::GetProtocol() const
{
    return m_protocol == "tcp" ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId();
}

Ptr<FusionCenter>
FederatedHelper::MakeCenter(const Address& address) const
{
    const Profile profile = GetProfile();
    const Algorithm& algorithm = *Find(ALGORITHMS, m_algorithm);
    const std::string fusionName = GetFusionRule();
    ObjectFactory fusion(fusionName);
    if (fusionName == "ns3::EffectiveSnrFusion")
    {
        fusion.Set("Distortion",
                   EnumValue(profile.exactDistortion ? EffectiveSnrFusion::EXACT
                                                     : EffectiveSnrFusion::CELL));
    }
    const std::string policyName = algorithm.clusterSizes;
    ObjectFactory policy(policyName);
    if (policyName == "ns3::OptimalClusterSizes")
    {
        policy.Set("ClippingConstant", DoubleValue(profile.clusterConstant));
    }
    std::string bits;
    for (const Group& group : m_groups)
    {
        bits += (bits.empty() ? "" : ",") + std::to_string(group.bits);
    }
    const uint32_t devices = CountDevices();
    ObjectFactory center("ns3::FusionCenter");
    center.Set("Local", AddressValue(address));
    center.Set("Protocol", TypeIdValue(GetProtocol()));
    center.Set("Task", PointerValue(m_task));
    center.Set("Cell", UintegerValue(m_cell));
    center.Set("Quantizer", PointerValue(m_quantizer));
    center.Set("FusionRule", PointerValue(fusion.Create()));
    center.Set("ClusterSizePolicy", PointerValue(policy.Create()));
    center.Set("GroupBits", StringValue(bits));
    center.Set("ExpectedDevices", UintegerValue(devices));
    center.Set("MaxDevices", UintegerValue(devices));
    center.Set("JoinTimeout",
               TimeValue(Seconds(2) + GetJoinSpacing() * static_cast<int64_t>(devices)));
    center.Set("Probe", PointerValue(m_probe));
    if (m_groupPort != 0)
    {
        // Bound to any address, because messages to a group would not be delivered otherwise.
        center.Set("Local",
                   AddressValue(InetSocketAddress(Ipv4Address::GetAny(),
                                                  federated::SocketAddress(address).port)));
    }
    return center.Create<FusionCenter>();
}

ObjectFactory
FederatedHelper::MakeDeviceFactory() const
{
    const Profile profile = GetProfile();
    const bool report = profile.exactDistortion && GetFusionRule() == "ns3::EffectiveSnrFusion";
    ObjectFactory factory("ns3::FederatedDevice");
    factory.Set("Protocol", TypeIdValue(GetProtocol()));
    factory.Set("Task", PointerValue(m_task));
    factory.Set("Quantizer", PointerValue(m_quantizer));
    factory.Set("IntervalRule", PointerValue(m_interval));
    factory.Set("ClipNorm", EnumValue(profile.clipNorm));
    factory.Set("ClipBound", DoubleValue(profile.clipBound));
    factory.Set("LearningRate", DoubleValue(profile.learningRate));
    factory.Set("LearningRateDecay", DoubleValue(profile.learningRateDecay));
    factory.Set("ReportDistortion", BooleanValue(report));
    return factory;
}

ApplicationContainer
FederatedHelper::Install(Ptr<Node> centerNode, const Address& centerAddress)
{
    NS_ABORT_MSG_IF(m_center, "FederatedHelper: a federation is installed once");
    std::string error;
    NS_ABORT_MSG_IF(!Check(centerNode, centerAddress, error), "FederatedHelper: " << error);
    CheckRanks(centerNode);
    m_address = federated::SocketAddress(centerAddress);
    m_reference = m_reference ? m_reference : centerNode;
    MakeStrategies();
    m_center = MakeCenter(centerAddress);
    m_center->SetAttribute("Federation", UintegerValue(CountFederation()));
    Apply(m_center, m_centerAttributes);
    if (!m_start.values.empty())
    {
        m_task->SetFirstModel(m_start.values); // devices on other ranks know it too
        m_center->SetModel(std::move(m_start.values), m_start.round);
    }
    ApplicationContainer applications;
    if (IsLocal(centerNode)) // else it only says here how it is set
    {
        centerNode->AddApplication(m_center);
        applications.Add(m_center);
        BooleanValue onRequest;
        m_center->GetAttribute("OnRequest", onRequest);
        if (onRequest.Get())
        {
            if (g_withoutEdge.empty())
            {
                Simulator::ScheduleDestroy(&ForgetWithoutEdge);
            }
            g_withoutEdge.insert(PeekPointer(m_center));
        }
    }
    federated::DeviceRegistry::Enter(m_task);
    Simulator::ScheduleNow(&CheckPlaces);

    ObjectFactory factory = MakeDeviceFactory();
    factory.Set("Remote", AddressValue(centerAddress));
    if (m_groupPort != 0)
    {
        factory.Set("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), m_groupPort)));
        factory.Set("Enrolled", BooleanValue(IsEnrolled()));
        factory.Set("UplinkGroup", AddressValue(InetSocketAddress(m_group, m_address.port)));
    }
    m_visitorFactory = factory;
    m_visitorFactory.Set("Enrolled", BooleanValue(false));
    const bool v6 = Ipv6Address::IsMatchingType(m_address.ip);
    MakeSummary(centerAddress);
    for (uint32_t m = 0; m < m_groups.size(); ++m)
    {
        factory.Set("Group", UintegerValue(m));
        factory.Set("Bits", UintegerValue(m_groups[m].bits));
        for (uint32_t i = 0; i < m_groups[m].nodes.GetN(); ++i)
        {
            const Ptr<Node> node = m_groups[m].nodes.Get(i);
            const auto id = static_cast<uint32_t>(m_devices.size());
            factory.Set("DeviceId", UintegerValue(id));
            factory.Set("Share", UintegerValue(m_first + id));
            const auto device = factory.Create<FederatedDevice>();
            device->SetAttribute("DeviceKey", StringValue(m_center->GetDeviceKey(id)));
            Apply(device, m_deviceAttributes);
            m_traces->Watch(device);
            m_devices.push_back(device);
            m_summary->AddDevice(device, m);
            if (!IsLocal(node))
            {
                continue;
            }
            device->SetStartTime(GetJoinSpacing() * static_cast<int64_t>(id));
            node->AddApplication(device);
            const Address only = GetOnlyAddress(node, v6);
            if (!only.IsInvalid())
            {
                m_center->BindDevice(id, only);
            }
            applications.Add(device);
        }
    }
    TellCenter();
    SetPlaces();
    ApplyStreams();
    if (IsEnrolled())
    {
        Enroll();
    }
    return applications;
}

void
FederatedHelper::MakeSummary(const Address& centerAddress)
{
    m_traces = Create<FederatedTraceWriter>();
    m_traces->Watch(m_center);
    m_traces->SetShares(m_first, CountDevices());
    FederatedSummary::Federation federation;
    federation.task = m_task;
    federation.center = m_center;
    federation.address = m_address;
    federation.hasGroupAddress = m_groupPort != 0;
    federation.diagnosis = Create<FederatedDiagnosis>(m_center, CountDevices(), centerAddress);
    federation.traces = m_traces;
    std::transform(m_groups.begin(),
                   m_groups.end(),
                   std::back_inserter(federation.bits),
                   [](const Group& group) { return group.bits; });
    m_summary = Create<FederatedSummary>(federation);
}

Ptr<FederatedDevice>
FederatedHelper::AddVisitor(const Ptr<Node>& node,
                            const Address& address,
                            uint32_t group,
                            uint32_t share)
{
    NS_ABORT_MSG_IF(!m_center, "FederatedHelper: AddVisitor comes before Install");
    NS_ABORT_MSG_IF(group >= m_groups.size(),
                    "FederatedHelper: a visitor is of group " << group << ", but there are only "
                                                              << m_groups.size());
    NS_ABORT_MSG_IF(share >= m_task->GetDevices(),
                    "FederatedHelper: a visitor has the part "
                        << share << " of the data, which is split among " << m_task->GetDevices()
                        << " devices");
    const auto id = CountDevices() + static_cast<uint32_t>(m_visitors.size());
    UintegerValue most;
    m_center->GetAttribute("MaxDevices", most);
    if (!IsSet(m_centerAttributes, "MaxDevices"))
    {
        m_center->SetAttribute("MaxDevices", UintegerValue(std::max<uint64_t>(most.Get(), id + 1)));
    }
    m_visitorFactory.Set("DeviceId", UintegerValue(id));
    m_visitorFactory.Set("Share", UintegerValue(share));
    m_visitorFactory.Set("Group", UintegerValue(group));
    m_visitorFactory.Set("Bits", UintegerValue(m_groups[group].bits));
    const auto device = m_visitorFactory.Create<FederatedDevice>();
    device->SetAttribute("DeviceKey", StringValue(m_center->GetDeviceKey(id)));
    Apply(device, m_deviceAttributes);
    m_center->BindDevice(id, address, true);
    TimeValue timeout;
    m_center->GetAttribute("VisitorTimeout", timeout);
    if (!IsSet(m_deviceAttributes, "CenterTimeout"))
    {
        // Several messages in that time, of which some may be lost.
        device->SetAttribute("CenterTimeout", TimeValue(timeout.Get() / 4));
    }
    m_traces->Watch(device);
    m_visitors.emplace_back(node, device);
    m_summary->AddVisitor(device, group);
    SetPlaces();
    device->AssignStreams(m_stream + 1 + FederatedStreams::CENTER + FederatedStreams::DEVICE * id);
    return device;
}

void
FederatedHelper::SetPlaces()
{
    std::vector<uint32_t> places;
    const NodeContainer nodes = GetNodes();
    std::transform(nodes.Begin(),
                   nodes.End(),
                   std::back_inserter(places),
                   [](const Ptr<Node>& node) { return node->GetId(); });
    for (const auto& [node, device] : m_visitors)
    {
        places.push_back(node->GetId());
    }
    m_traces->SetDistanceCallback(MakeBoundCallback(&GetDistance, m_reference->GetId(), places));
}

void
FederatedHelper::TellCenter()
{
    const auto tell = [this](const std::string& name, AttributeValue&& value)
    {
        if (!IsSet(m_centerAttributes, name))
        {
            m_devices.front()->GetAttribute(name, value);
            m_center->SetAttribute(name, value);
        }
    };
    tell("IntervalRule", PointerValue());
    tell("ClipNorm", EnumValue(CLIP_NONE));
    tell("ClipBound", DoubleValue());
}

void
FederatedHelper::Enroll()
{
    const NodeContainer nodes = GetNodes();
    for (uint32_t id = 0; id < m_devices.size(); ++id)
    {
        if (m_enrolledAt.size() == id)
        {
            // Once: an edge gets a second address when its cell is made.
            const Address only = GetOnlyAddress(nodes.Get(id), false);
            NS_ABORT_MSG_IF(only.IsInvalid(),
                            "FederatedHelper: the node of device "
                                << id << " has not exactly one IPv4 address to enroll it with");
            m_enrolledAt.push_back(InetSocketAddress(Ipv4Address::ConvertFrom(only), m_groupPort));
        }
        EnrollDevice(id);
    }
}

void
FederatedHelper::EnrollDevice(uint32_t device)
{
    UintegerValue group;
    m_devices[device]->GetAttribute("Group", group);
    const auto edge = m_edges.find(device);
    m_center->Enroll(device,
                     m_enrolledAt[device],
                     static_cast<uint32_t>(group.Get()),
                     m_devices[device]->DrawTrainingTime(),
                     edge == m_edges.end() ? GetSamples(device) : edge->second);
}

Ptr<FusionCenter>
FederatedHelper::GetCenter() const
{
    return m_center;
}

int64_t
FederatedHelper::AssignStreams(int64_t stream)
{
    m_stream = stream;
    m_checked = false;
    if (m_center)
    {
        if (!m_isShared)
        {
            m_task->AssignStreams(stream);
        }
        ApplyStreams();
        if (IsEnrolled())
        {
            Enroll(); // the split has changed, and with it the samples of the devices
        }
    }
    const auto devices = CountDevices() + static_cast<int64_t>(m_visitors.size());
    return 1 + FederatedStreams::CENTER + FederatedStreams::DEVICE * devices;
}

void
FederatedHelper::ApplyStreams()
{
    int64_t stream = m_stream + 1; // the first is the task's
    const int64_t used = m_center->AssignStreams(stream);
    NS_ABORT_MSG_IF(used > FederatedStreams::CENTER,
                    "FederatedHelper: the center uses too many streams");
    stream += FederatedStreams::CENTER;
    for (const auto& device : m_devices)
    {
        const int64_t streams = device->AssignStreams(stream);
        NS_ABORT_MSG_IF(streams != FederatedStreams::DEVICE,
                        "FederatedHelper: a device uses other streams");
        stream += streams;
    }
    for (const auto& [node, device] : m_visitors)
    {
        stream += device->AssignStreams(stream);
    }
}

void
FederatedHelper::SetCommand(const FederatedCommand& command)
{
    NS_ABORT_MSG_IF(!m_prefix.empty(),
                    "FederatedHelper: SetCommand comes too late, after EnableTraces");
    m_command = command;
}

FederatedRunRecord
FederatedHelper::MakeRunRecord()
{
    FederatedRunRecord record;
    record.command = m_command;
    record.center = GetPlace(m_reference);
    std::vector<std::string> groups;
    for (uint32_t m = 0; m < m_groups.size(); ++m)
    {
        const Group& group = m_groups[m];
        groups.push_back(FederatedJson::Object({{"devices", std::to_string(group.nodes.GetN())},
                                                {"bits", std::to_string(group.bits)}}));
        for (uint32_t i = 0; i < group.nodes.GetN(); ++i)
        {
            const auto id = static_cast<uint32_t>(record.devices.size());
            const uint32_t samples = m_edges.count(id) > 0 ? 0 : GetSamples(id); // it says later
            record.devices.push_back({m, group.bits, samples, GetPlace(group.nodes.Get(i))});
        }
    }
    for (const auto& [node, device] : m_visitors)
    {
        UintegerValue group;
        device->GetAttribute("Group", group);
        const auto m = static_cast<uint32_t>(group.Get());
        record.devices.push_back(
            {m, m_groups[m].bits, m_task->GetSamples(device->GetShare()), GetPlace(node)});
    }
    record.facts = {
        {"d", std::to_string(m_task->GetDimension())},
        {"encoded", std::to_string(GetEncodedSize())},
        {"devices", std::to_string(CountDevices())},
        {"groups", FederatedJson::List(groups)},
        {"profile", FederatedJson::Text(m_profile)},
        {"algorithm", FederatedJson::Text(m_algorithm)},
        {"weights", FederatedJson::Text(m_weights)},
        {"protocol", FederatedJson::Text(m_protocol)},
        {"start_round",
         m_center->IsContinued() ? std::to_string(m_center->GetRoundsBefore())
                                 : FederatedJson::NOTHING},
    };
    if (!m_visitors.empty())
    {
        record.facts.emplace_back("visitors", std::to_string(m_visitors.size()));
    }
    record.attributes = {
        {"FusionCenter", ListAttributes(m_center)},
        {"FederatedDevice", ListAttributes(m_devices.front())},
        {"LearningTask", ListAttributes(m_task)},
    };
    record.privacy = [summary = PeekPointer(m_summary)] // which holds the traces
    {
        std::ostringstream text;
        summary->PrintPrivacy(text);
        return text.str();
    };
    return record;
}

bool
FederatedHelper::EnableTraces(const std::string& prefix, std::string& error, bool links)
{
    NS_ABORT_MSG_IF(!m_traces, "FederatedHelper: EnableTraces comes before Install");
    if (!HasCenter())
    {
        return true; // the rank of the center writes them
    }
    m_traces->Describe(MakeRunRecord());
    const bool isOpen = m_traces->Open(prefix, links, error);
    m_prefix = isOpen ? prefix : "";
    return isOpen;
}

void
FederatedHelper::EnableProgress()
{
    NS_ABORT_MSG_IF(!m_center, "FederatedHelper: EnableProgress comes before Install");
    FederatedProgress::Watch(m_center);
}

void
FederatedHelper::StopWhenFinished()
{
    NS_ABORT_MSG_IF(!m_center, "FederatedHelper: StopWhenFinished comes before Install");
    CheckFinishes(m_center);
    Simulator::ScheduleNow(&CheckFinishes, m_center); // the attribute may be set until then
    // Edges may be in the middle of a round then: on one rank they end it as on several.
    if (FederatedRanks::GetSize() > 1 || !m_cells.empty())
    {
        FederatedRanks::StopTogether([]() { return g_unfinished.empty(); });
    }
    if (!HasCenter())
    {
        return; // another rank waits for it
    }
    if (g_unfinished.empty())
    {
        Simulator::ScheduleDestroy(&ForgetUnfinished);
    }
    const FusionCenter* center = PeekPointer(m_center);
    if (g_unfinished.insert(center).second)
    {
        m_center->TraceConnectWithoutContext("Finished",
                                             MakeBoundCallback(&StopSimulation, center));
    }
}

bool
FederatedHelper::EnableOutput(const std::string& prefix, std::string& error, bool links)
{
    EnableProgress();
    StopWhenFinished();
    if (prefix.empty() && m_save)
    {
        error = NO_PREFIX;
        return false;
    }
    return prefix.empty() || EnableTraces(prefix, error, links);
}

bool
FederatedHelper::SaveModel(const std::string& path, std::string& error) const
{
    NS_ABORT_MSG_IF(!m_center, "FederatedHelper: SaveModel comes before Install");
    // The round that was the last to begin: whether or not it ended, its coins have been tossed.
    const SavedModel model{path, m_center->GetModel(), m_center->GetRound()};
    if (model.values.empty())
    {
        error = "There is no model for '" + path + "': the center has not started.";
        return false;
    }
    FederatedOutputFile file(path);
    file.GetStream() << model.ToNpy();
    return file.Commit(error);
}

int
FederatedHelper::Finish(const FederatedResultLine& result) const
{
    NS_ABORT_MSG_IF(!m_traces, "FederatedHelper: Finish comes before Install");
    NS_ABORT_MSG_IF(!HasCenter() && FederatedRanks::GetSize() == 1,
                    "FederatedHelper: Finish comes once, and before Simulator::Destroy, which it "
                    "calls itself");
    FederatedResultLine line = result;
    PrintCells(std::cerr, line);
    FederatedPrivacyTotals totals;
    m_summary->AddLosses(totals);
    if (HasCenter())
    {
        m_summary->AddClaims(totals, 0);
    }
    totals.AddOtherRanks();
    if (!HasCenter())
    {
        // The rank of the center says what came of it.
        const bool isMistake = PrintWarnings(std::cerr);
        Simulator::Destroy();
        return isMistake ? 1 : 0;
    }
    if (m_center->IsContinued())
    {
        line.AddCount("start_round", m_center->GetRoundsBefore());
    }
    if (m_save)
    {
        line.AddCount("model_round", m_center->GetRound());
    }
    std::string error;
    bool isComplete = m_traces->IsComplete(error);
    if (isComplete)
    {
        totals.Print(std::cerr);
    }
    if (isComplete && m_save && m_prefix.empty())
    {
        error = NO_PREFIX;
        isComplete = false;
    }
    if (!isComplete || (m_save && !SaveModel(m_prefix + "-model.npy", error)) ||
        !m_traces->WriteResult(line, error))
    {
        std::cerr << m_command.program << (m_command.program.empty() ? "" : ": ") << error
                  << std::endl;
        Simulator::Destroy();
        return 1;
    }
    const bool isMistake = PrintWarnings(std::cerr);
    Simulator::Destroy();
    line.Print(std::cout);
    return isMistake ? 1 : 0;
}

int
FederatedHelper::Finish() const
{
    NS_ABORT_MSG_IF(!m_traces, "FederatedHelper: Finish comes before Install");
    return Finish(m_traces->GetResult());
}

bool
FederatedHelper::PrintWarnings(std::ostream& stream) const
{
    NS_ABORT_MSG_IF(!m_summary, "FederatedHelper: PrintWarnings comes before Install");
    bool isMistake = false;
    if (HasCenter())
    {
        const RunFacts facts = m_summary->GetFacts();
        for (const std::string& warning : FindWarnings(facts))
        {
            stream << "warning: " << warning << '\n';
        }
        isMistake = IsMistake(facts);
    }
    const auto unused = std::count_if(g_withoutEdge.begin(),
                                      g_withoutEdge.end(),
                                      [](const auto* center) { return center->GetRound() == 0; });
    if (unused > 0)
    {
        stream << "warning: The centers of " << unused
               << " federations have OnRequest, but nobody asked for rounds: is SetEdge missing?\n";
    }
    federated::CellSentences ofCells;
    for (const auto& [number, cell] : m_cells)
    {
        if (Simulator::Now().IsZero())
        {
            break; // that is the reason for all
        }
        for (const std::string& warning : FindWarnings(cell->GetFacts()))
        {
            ofCells.Add(warning, number);
        }
    }
    for (const auto& [warning, cells] : ofCells.GetAll())
    {
        stream << "warning: " << federated::CellSentences::Describe(cells) << ": " << warning
               << '\n';
    }
    return isMistake;
}

void
FederatedHelper::CountUpdate(uint64_t* count, uint32_t headers, Ptr<const Packet> packet)
{
    std::vector<uint8_t> bytes(headers + FederatedHeader::FIXED_SIZE);
    const uint32_t size = packet->CopyData(bytes.data(), static_cast<uint32_t>(bytes.size()));
    if (size > headers && FederatedHeader::PeekType(bytes.data() + headers, size - headers) ==
                              FederatedHeader::UPDATE)
    {
        ++*count;
    }
}

void
FederatedHelper::CheckRanks(const Ptr<Node>& centerNode) const
{
    const NodeContainer nodes = GetNodes();
    const bool isSplit = std::any_of(nodes.Begin(),
                                     nodes.End(),
                                     [&centerNode](const Ptr<Node>& node)
                                     { return node->GetSystemId() != centerNode->GetSystemId(); });
    NS_ABORT_MSG_IF(isSplit && GetFragmentSize() > FederatedRanks::LARGEST_FRAGMENT,
                    "FederatedHelper: FragmentSize is "
                        << GetFragmentSize() << ", but a packet to another rank has room for "
                        << FederatedRanks::LARGEST_FRAGMENT << " bytes only");
}

void
FederatedHelper::PrintPrivacy(std::ostream& stream) const
{
    NS_ABORT_MSG_IF(!m_summary, "FederatedHelper: PrintPrivacy comes before Install");
    m_summary->PrintPrivacy(stream);
}

void
FederatedHelper::PrintCells(std::ostream& stream, FederatedResultLine& line) const
{
    if (std::isnan(FederatedRanks::GetMax(m_cells.empty() ? std::nan("") : 0)))
    {
        return; // its devices are no edges
    }
    FederatedPrivacyTotals totals;
    double least = std::nan(""); // number of a cell
    for (const auto& [number, cell] : m_cells)
    {
        cell->AddLosses(totals);
        cell->AddClaims(totals, number);
        least = std::fmin(least, number);
    }
    totals.AddOtherRanks();
    line.AddCount("most_answers", totals.GetMostAnswers());
    for (const auto& [key, which] : {std::make_pair("true_epsilon", EPSILON_BASIC),
                                     std::make_pair("zcdp_epsilon", EPSILON_ZCDP),
                                     std::make_pair("sampled_epsilon", EPSILON_SAMPLED)})
    {
        const double epsilon = totals.GetLargestEpsilon(which);
        if (!std::isnan(epsilon))
        {
            line.AddReal(key, epsilon);
        }
    }
    if (least == -FederatedRanks::GetMax(-least)) // one rank speaks for all
    {
        stream << "privacy of the devices of all cells:\n";
        totals.Print(stream);
    }
    if (HasCenter())
    {
        stream << "privacy of the edges:\n";
    }
}

Ptr<FederatedTraceWriter>
FederatedHelper::GetTraceWriter() const
{
    return m_traces;
}

} // namespace ns3
