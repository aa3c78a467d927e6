// SPDX-License-Identifier: GPL-2.0-only

/*
 * Wifi cells whose access points are edges of a cloud: a hierarchy of federations.
 *
 *                          cloud
 *                        /   |   \            point-to-point: --backhaul-rate, --backhaul-delay
 *                   edge    edge   edge       access points, 2 x --radius apart, on channels of
 *                   / \     / \     / \       their own that do not interfere
 *                  devices of a cell          ))) ((( --mode=adhoc|infrastructure
 *
 * In a round of the cloud each edge gets the model, runs --edge-rounds rounds with the devices of
 * its cell, and sends the difference, as floats. The cloud weighs edges by the samples of their
 * devices. --walkers walk from cell to cell: they leave one and join the nearest.
 *
 * PREFIX-rounds.csv has a row a round of the cloud, and PREFIX-cell-N-rounds.csv (N from 0) a row a
 * round of a cell; the other tables likewise: links, devices, run.json. The result line is that of
 * the cloud, and adds the largest lost fraction of a cell. With --pcap, PREFIX-cell-N-*.pcap holds
 * what the radio of an access point received and sent.
 *
 *    federated-multicell --cells=4 --devices=25 --participants=5 --rounds=10 --edge-rounds=2
 *
 * On MPI, where ns-3 has it, cell c is simulated by rank c mod R, and the cloud by rank 0:
 *
 *    mpirun -n R federated-multicell ...
 */

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/error-model.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-ranks.h"
#include "ns3/federated-roaming.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-streams.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/mobility-model.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/position-allocator.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>

using namespace ns3;

namespace
{

/** Options beside those of a cell and its federation. */
struct Options
{
    uint32_t cells = 4;           //!< Cells.
    uint32_t edgeRounds = 1;      //!< Rounds of a cell in a round of the cloud.
    std::string mode = "adhoc";   //!< Of the cells.
    std::string fading = "none";  //!< In the cells.
    std::string sleep = "wake";   //!< Of the radios of devices.
    double rate = 100e6;          //!< Of the backhaul, bit/s.
    Time delay = MilliSeconds(5); //!< Of the backhaul.
    double loss = 0;              //!< Of a packet on it.
    Time cloudDeadline;           //!< Of a round of the cloud; 0: computed.
    uint32_t walkers = 0;         //!< Devices that walk.
    double walkerSpeed = 5;       //!< m/s.
    bool cellAccuracy = false;    //!< Whether models of cells are evaluated.
    bool pcap = false;            //!< Whether captures are written.
    ObjectFactory lossModel;      //!< Makes the fading.
};

/** A cell, where this process simulates it. */
struct Cell
{
    FederatedHelper federation; //!< Of the edge and the devices.
    FederatedWifiHelper wifi;   //!< Their radios.
};

/** Add the options. */
void
AddOptions(FederatedCommandLine& cmd, Options& options)
{
    cmd.AddCount("cells", "Number of cells", options.cells, 1, FederatedStreams::WIFI_CELLS);
    cmd.AddCount(
        "edge-rounds", "Rounds of a cell in a round of the cloud", options.edgeRounds, 1, 1000);
    cmd.AddChoice("mode", "Kind of cells", options.mode, {"adhoc", "infrastructure"});
    cmd.AddText("fading",
                "Fading in the cells: none, rayleigh or nakagami:m of each frame, or block:m,fd or "
                "jakes:fd that lasts",
                options.fading);
    cmd.AddChoice("sleep",
                  "Radios of devices that do not take part sleep",
                  options.sleep,
                  {"none", "wake", "page"});
    cmd.AddReal("backhaul-rate", "Rate of a link to the cloud, in bit/s", options.rate, 1e3, 1e12);
    cmd.AddTime("backhaul-delay", "Its delay", options.delay, MicroSeconds(1), Seconds(10));
    cmd.AddReal("backhaul-loss", "Fraction of packets that it loses", options.loss, 0, 0.99);
    cmd.AddTime("cloud-deadline",
                "Longest round of the cloud, 0: what the rounds of cells and the backhaul may take",
                options.cloudDeadline,
                Time(0),
                Hours(10000));
    cmd.AddCount("walkers", "Devices that walk from cell to cell", options.walkers, 0, 1000);
    cmd.AddReal("walker-speed", "Their speed, in m/s", options.walkerSpeed, 0.001, 1000);
    cmd.AddFlag("cell-accuracy",
                "Evaluate the model of each cell after each of its rounds",
                options.cellAccuracy);
    cmd.AddFlag(
        "pcap", "Write what the radio of each access point receives and sends", options.pcap);
}

/** Check the options, and warn. */
void
CheckOptions(const FederatedCommandLine& cmd,
             const FederatedScenarioOptions& scenario,
             Options& options)
{
    cmd.Require(FederatedWifiHelper::ReadFading(options.fading, options.lossModel),
                "Option --fading is '" + options.fading + "', not " + FederatedWifiHelper::FADINGS +
                    '.');
    cmd.Require(options.walkers == 0 || FederatedRanks::GetSize() == 1,
                "Option --walkers needs one process: devices walk only between cells that one "
                "process simulates.");
    scenario.RequireWake(cmd, options.sleep, FederatedWifiHelper::GetWakeTime(options.sleep));
    const uint32_t stations = scenario.CountDevices() + options.walkers;
    cmd.Require(options.mode == "adhoc" || stations <= FederatedWifiHelper::MAX_STATIONS,
                "A cell with an access point has at most " +
                    std::to_string(FederatedWifiHelper::MAX_STATIONS) + " stations, not " +
                    std::to_string(stations) + " devices and walkers.");
    cmd.Require(!options.pcap || !scenario.output.empty(), "Option --pcap needs --output=PREFIX.");
    if (options.delay < MilliSeconds(5) && FederatedRanks::GetRank() == 0)
    {
        std::cerr << "warning: With a --backhaul-delay below 5ms several processes are hardly "
                     "faster than one: they wait for each other that often.\n";
    }
}

/** @return where the access point of a cell is: in a square, line by line. */
Vector
GetPlace(uint32_t cell, const Options& options, double radius)
{
    const auto side = static_cast<uint32_t>(std::ceil(std::sqrt(options.cells)));
    const uint32_t line = cell / side;
    return Vector(2 * radius * (cell % side), 2 * radius * line, 0);
}

/** Connect the edges to the cloud, which all of them reach at its first address. */
Ipv4Address
ConnectEdges(const Ptr<Node>& cloud, const NodeContainer& edges, const Options& options)
{
    PointToPointHelper backhaul;
    backhaul.SetDeviceAttribute("DataRate",
                                DataRateValue(DataRate(static_cast<uint64_t>(options.rate))));
    backhaul.SetChannelAttribute("Delay", TimeValue(options.delay));
    backhaul.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    // All links before the internet stacks: a stack takes an interface.
    std::vector<NetDeviceContainer> links;
    for (uint32_t c = 0; c < edges.GetN(); ++c)
    {
        links.push_back(backhaul.Install(edges.Get(c), cloud));
        for (uint32_t end = 0; end < 2 && options.loss > 0; ++end)
        {
            const auto errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(options.loss);
            errors->AssignStreams(FederatedStreams::ERROR_MODEL + int64_t{2} * c + end);
            links.back().Get(end)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        }
    }
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(NodeContainer(NodeContainer(cloud), edges));
    Ipv4AddressHelper addresses("172.31.0.0", "255.255.255.252");
    Ipv4Address first;
    for (uint32_t c = 0; c < edges.GetN(); ++c)
    {
        const Ipv4InterfaceContainer ends = addresses.Assign(links[c]);
        first = c == 0 ? ends.GetAddress(1) : first;
        Ipv4StaticRoutingHelper()
            .GetStaticRouting(edges.Get(c)->GetObject<Ipv4>())
            ->SetDefaultRoute(ends.GetAddress(1), ends.Get(0).second);
        addresses.NewNetwork();
    }
    return first;
}

/** Set up the federation of the edges. */
void
SetUpCloud(FederatedHelper& cloud,
           const NodeContainer& edges,
           const FederatedScenarioOptions& scenario,
           const FederatedData& data,
           const Options& options)
{
    cloud.SetProfile(scenario.profile);
    cloud.SetAlgorithm("fedavg"); // differences as floats
    cloud.SetWeights("samples");  // those of the devices of a cell
    cloud.SetData(data);
    cloud.AddGroup(edges, 1);
    FederatedLearningOptions learning; // the rest is local training, which edges do not do
    learning.model = scenario.learning.model;
    learning.save = scenario.learning.save;
    learning.start = scenario.learning.start;
    learning.target = scenario.learning.target;
    learning.SetUp(cloud);
    FederatedScenarioOptions::SetEncryption(cloud, scenario.encrypt);
    cloud.SetTaskAttribute("Threads", UintegerValue(scenario.threads));
    cloud.SetDeviceAttribute("ClipNorm", EnumValue(CLIP_NONE));
    cloud.SetCenterAttribute("Rounds", UintegerValue(scenario.rounds));
    cloud.SetCenterAttribute("Participants", UintegerValue(options.cells));
    cloud.SetCenterAttribute(
        "BitBudget",
        StringValue("ns3::FixedBitBudget[Bits=" + std::to_string(options.cells) + "]"));
}

/** Set the times of the federation of the edges. */
void
SetTimes(FederatedHelper& cloud,
         const FederatedCommandLine& cmd,
         const FederatedScenarioOptions& scenario,
         const Options& options)
{
    // Links work at the same time: the model is sent to one edge after the other, but waits in the
    // queues of the links. A little below the rate, because packets have headers.
    const double rate = 0.8 * options.rate;
    const double model = 32.0 * static_cast<double>(cloud.GetTask()->GetDimension()) / rate;
    const double all = rate * options.cells;
    cloud.SetCenterAttribute("DownlinkRate", DataRateValue(DataRate(static_cast<uint64_t>(all))));
    cloud.SetCenterAttribute("UplinkRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    // A message and its answer take two delays, and wait for a few packets on a slow link.
    const Time queued = 2 * options.delay + Seconds(5 * 8 * 1500 / options.rate);
    const Time control = std::max(4 * options.delay + MilliSeconds(100), queued);
    cloud.SetDeviceAttribute("RepairDelay",
                             TimeValue(std::max(4 * options.delay + MilliSeconds(20), queued)));
    cloud.SetDeviceAttribute("ControlTimeout", TimeValue(control));
    cloud.SetCenterAttribute("ControlTimeout", TimeValue(control));
    Time deadline = options.cloudDeadline;
    if (deadline.IsZero())
    {
        // All rounds of a cell, slots of all edges, a model downwards, and as much for repairs.
        const double transfers = (options.cells + 4) * model;
        deadline = scenario.deadline * int64_t{options.edgeRounds} + Seconds(1 + transfers) +
                   options.delay * int64_t{20};
    }
    const Time transfer = Seconds(2 * model) + options.delay * int64_t{4};
    std::ostringstream shortest;
    shortest << "Option --cloud-deadline is " << deadline.GetSeconds() << "s, but a model needs "
             << transfer.GetSeconds() << "s over the backhaul to an edge and back.";
    cmd.Require(deadline > transfer, shortest.str());
    cloud.SetCenterAttribute("Deadline", TimeValue(deadline));
}

/** Set up and install a cell. */
void
InstallCell(Cell& cell,
            uint32_t number,
            const Ptr<Node>& edge,
            const FederatedScenarioOptions& scenario,
            const Options& options)
{
    scenario.Place(cell.federation.GetNodes(),
                   edge,
                   GetPlace(number, options, scenario.radius),
                   FederatedStreams::WIFI_CELL + FederatedStreams::NEXT_CELL * number +
                       FederatedStreams::PLACES);
    cell.federation.SetCenterAttribute("OnRequest", BooleanValue(true)); // of the edge
    cell.federation.SetCenterAttribute("Federation", UintegerValue(1 + number));
    cell.federation.SetCenterAttribute("EvaluationInterval",
                                       UintegerValue(options.cellAccuracy ? 1 : 0));
    cell.wifi.SetCell(number); // network, channel and random streams of its own
    cell.wifi.SetMode(options.mode);
    cell.wifi.SetExponent(scenario.exponent);
    cell.wifi.SetFading(options.lossModel);
    cell.wifi.SetSleep(options.sleep);
    cell.wifi.Install(cell.federation, edge);
}

/** Make the devices that walk. */
Ptr<FederatedRoaming>
InstallWalkers(std::vector<std::unique_ptr<Cell>>& cells,
               const NodeContainer& edges,
               uint32_t firstShare,
               const FederatedScenarioOptions& scenario,
               const Options& options)
{
    const NodeContainer walkers(options.walkers);
    const Vector last = GetPlace(options.cells - 1, options, scenario.radius);
    const Vector corner = GetPlace(0, options, scenario.radius);
    double width = corner.x;
    for (uint32_t c = 0; c < options.cells; ++c)
    {
        width = std::max(width, GetPlace(c, options, scenario.radius).x);
    }
    const auto range = [&scenario](double to)
    {
        std::ostringstream text;
        text << "ns3::UniformRandomVariable[Min=" << -scenario.radius
             << "|Max=" << to + scenario.radius << ']';
        return StringValue(text.str());
    };
    const auto everywhere = CreateObjectWithAttributes<RandomRectanglePositionAllocator>(
        "X", range(width), "Y", range(last.y));
    everywhere->AssignStreams(FederatedStreams::POSITIONS);
    const auto next = CreateObjectWithAttributes<RandomRectanglePositionAllocator>(
        "X", range(width), "Y", range(last.y));
    std::ostringstream speed;
    speed << "ns3::ConstantRandomVariable[Constant=" << options.walkerSpeed << ']';
    MobilityHelper mobility;
    mobility.SetPositionAllocator(everywhere);
    mobility.SetMobilityModel("ns3::RandomWaypointMobilityModel",
                              "Speed",
                              StringValue(speed.str()),
                              "Pause",
                              StringValue("ns3::ConstantRandomVariable[Constant=0]"),
                              "PositionAllocator",
                              PointerValue(next));
    mobility.Install(walkers);
    mobility.AssignStreams(walkers, FederatedStreams::WALKS);

    const auto roaming = CreateObject<FederatedRoaming>();
    for (uint32_t c = 0; c < options.cells; ++c)
    {
        roaming->AddCell(edges.Get(c));
    }
    for (uint32_t w = 0; w < options.walkers; ++w)
    {
        std::vector<Ptr<FederatedDevice>> applications;
        for (const auto& cell : cells)
        {
            applications.push_back(cell->wifi.AddVisitor(
                cell->federation, walkers.Get(w), w % scenario.CountGroups(), firstShare + w));
        }
        roaming->AddWalker(walkers.Get(w), applications);
    }
    return roaming;
}

} // namespace

int
main(int argc, char* argv[])
{
    FederatedRanks::Begin(argc, argv);
    FederatedScenarioOptions scenario;
    scenario.devices = 25; // of a cell
    scenario.participants = 5;
    scenario.rounds = 10;
    Options options;
    FederatedCommandLine cmd(__FILE__, "Wifi cells whose access points are edges of a cloud.");
    AddOptions(cmd, options);
    scenario.AddFederation(cmd);
    scenario.AddPlaces(cmd);
    cmd.ParseOrExit(argc, argv);
    scenario.ReadOrExit(cmd);
    CheckOptions(cmd, scenario, options);
    const FederatedData data = scenario.LoadOrExit(cmd);
    const uint32_t ranks = FederatedRanks::GetSize();

    // The backbone comes first, on all ranks: nodes of the edges and of the cloud, and their links.
    const auto cloudNode = CreateObject<Node>(0);
    NodeContainer edges;
    for (uint32_t c = 0; c < options.cells; ++c)
    {
        edges.Add(CreateObject<Node>(c % ranks));
    }
    const Ipv4Address cloudAddress = ConnectEdges(cloudNode, edges, options);

    // What the cells learn, and with whom. A cell has its devices on its own rank only; but the
    // numbers of their nodes do not depend on the ranks.
    FederatedScenarioOptions ofCell = scenario;
    ofCell.learning.save = false; // the model is the cloud's
    ofCell.learning.start.clear();
    ofCell.learning.target = 0;
    const auto task = CreateObject<LearningTask>();
    const uint32_t devices = scenario.CountDevices(); // of a cell
    task->SetGroups({devices * options.cells + options.walkers});
    task->AssignStreams(FederatedStreams::FEDERATION);
    std::vector<std::unique_ptr<Cell>> cells; // null: another rank simulates it
    for (uint32_t c = 0; c < options.cells; ++c)
    {
        cells.push_back(nullptr);
        if (c % ranks != FederatedRanks::GetRank())
        {
            NodeContainer().Create(devices, c % ranks);
            continue;
        }
        cells.back() = std::make_unique<Cell>();
        cells.back()->federation.ShareTask(task, c * devices, c);
        ofCell.SetUp(cells.back()->federation, cmd, data, c % ranks);
    }

    // The cloud, then the cells: an edge is a device of the cloud that trains by rounds of its
    // cell.
    FederatedHelper cloud;
    cloud.SetCommand(cmd.GetCommand());
    SetUpCloud(cloud, edges, scenario, data, options);
    std::string error;
    cmd.Require(cloud.Check(error), error);
    SetTimes(cloud, cmd, scenario, options);
    cloud.Install(cloudNode, InetSocketAddress(cloudAddress, FederatedPort::CENTER + 10));
    for (uint32_t c = 0; c < options.cells; ++c)
    {
        if (cells[c])
        {
            InstallCell(*cells[c], c, edges.Get(c), ofCell, options);
            cloud.SetEdge(c, cells[c]->federation, options.edgeRounds);
        }
        else // its place is in a table of the cloud
        {
            cloud.SetEdge(c);
            scenario.Place({}, edges.Get(c), GetPlace(c, options, scenario.radius), 0);
        }
    }
    Ptr<FederatedRoaming> roaming;
    if (options.walkers > 0)
    {
        roaming = InstallWalkers(cells, edges, devices * options.cells, scenario, options);
    }

    // Tables, progress, and the end after the last round of the cloud.
    cmd.Require(cloud.EnableOutput(scenario.output, error), error);
    for (uint32_t c = 0; c < options.cells && !scenario.output.empty(); ++c)
    {
        const std::string prefix = scenario.output + "-cell-" + std::to_string(c);
        cmd.Require(!cells[c] || cells[c]->federation.EnableTraces(prefix, error), error);
        if (cells[c] && options.pcap)
        {
            cmd.GetTraceFiles().AddCaptures(prefix, cells[c]->wifi.EnablePcap(prefix));
        }
    }

    Simulator::Run();
    double lost = std::nan(""); // NaN: no cell of this rank sent anything
    for (const auto& cell : cells)
    {
        if (cell)
        {
            const auto traces = cell->federation.GetTraceWriter();
            lost = std::fmax(lost, traces->GetLostFraction());
            cmd.Require(traces->IsComplete(error) &&
                            traces->WriteResult(traces->GetResult(), error),
                        error);
        }
    }
    FederatedResultLine result = cloud.GetTraceWriter()->GetResult();
    result.AddText("mode", options.mode);
    result.AddCount("cells", options.cells);
    result.AddCount("edge_rounds", options.edgeRounds);
    result.AddReal("cell_lost_fraction", FederatedRanks::GetMax(lost));
    result.AddCount("moves", roaming ? roaming->GetMoves() : 0);
    return FederatedRanks::End(cloud.Finish(result));
}
