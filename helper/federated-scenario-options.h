// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_SCENARIO_OPTIONS_H
#define FEDERATED_SCENARIO_OPTIONS_H

#include "federated-command-line.h"
#include "federated-helper.h"
#include "federated-learning-options.h"

#include "ns3/node-container.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/vector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The options that scenario examples share, and the federation that they describe.
 *
 * @code
    FederatedScenarioOptions options;
    options.radius = 25;
    options.AddFederation(cmd);
    options.AddPlaces(cmd);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
    FederatedHelper federation;
    options.SetUp(federation, cmd); // makes the nodes of the devices
    options.Place(federation.GetNodes(), center);
   @endcode
 */
class FederatedScenarioOptions
{
  public:
    /** Devices with one resolution. */
    struct Group
    {
        uint32_t devices; //!< How many.
        unsigned bits;    //!< b.
    };

    /**
     * Add the options of a federation, with the values here as defaults.
     * @param cmd The command line.
     */
    void AddFederation(FederatedCommandLine& cmd);

    /**
     * Add the option of the weights, which AddFederation() adds too.
     * @param cmd The command line.
     */
    void AddWeights(FederatedCommandLine& cmd);

    /**
     * Add the options of how updates are prepared, which AddFederation() adds too: --clip,
     * --interval, --rotation and --interleave.
     * @param cmd The command line.
     */
    void AddPreparation(FederatedCommandLine& cmd);

    /**
     * Add the options of the places of devices.
     * @param cmd The command line.
     */
    void AddPlaces(FederatedCommandLine& cmd);

    /**
     * Add --encrypt, also for examples that have no other of these options.
     * @param cmd The command line.
     * @param [in,out] encrypt Its default, and where the value goes.
     */
    static void AddEncryption(FederatedCommandLine& cmd, bool& encrypt);

    /**
     * Encrypt all messages of a federation if that was asked for. The key is a public text: what
     * matters in a simulation is that messages are longer, and that listeners do not know it.
     * @param federation The federation, before it is installed.
     * @param encrypt Whether --encrypt was given.
     */
    static void SetEncryption(FederatedHelper& federation, bool encrypt);

    /**
     * Read data and average squares of pixels; exit with an error sentence if that fails. Also for
     * examples that have no other of these options.
     * @param cmd The command line.
     * @param folder Where the data are.
     * @param pool Side of the squares, the option --pool.
     * @return the data.
     */
    static FederatedData LoadPooled(const FederatedCommandLine& cmd,
                                    const std::string& folder,
                                    uint32_t pool);

    /**
     * Add --rotation, also for examples that have no other of these options.
     * @param cmd The command line.
     * @param [in,out] rotation Its default, and where the value goes.
     */
    static void AddRotation(FederatedCommandLine& cmd, bool& rotation);

    /**
     * Add --interleave, also for examples that have no other of these options.
     * @param cmd The command line.
     * @param [in,out] interleave Its default, and where the value goes.
     */
    static void AddInterleave(FederatedCommandLine& cmd, bool& interleave);

    /**
     * Add --selection, which AddFederation() adds too.
     * @param cmd The command line.
     */
    void AddSelection(FederatedCommandLine& cmd);

    /**
     * Check and convert the parsed options; exit with an error sentence if one is wrong.
     * @param cmd The command line.
     */
    void ReadOrExit(const FederatedCommandLine& cmd);

    /**
     * Check that a round is longer than radios need to wake.
     * @param cmd The command line.
     * @param sleep The option sleep.
     * @param wake How long radios need with it.
     */
    void RequireWake(const FederatedCommandLine& cmd,
                     const std::string& sleep,
                     const Time& wake) const;

    /**
     * Read the data, create the nodes of the devices and set the attributes that do not depend on
     * the links; exit with an error sentence if that fails.
     * @param federation The federation.
     * @param cmd The command line.
     */
    void SetUp(FederatedHelper& federation, const FederatedCommandLine& cmd) const;

    /**
     * SetUp() of one of several federations, with data that was read once.
     * @param federation The federation.
     * @param cmd The command line.
     * @param sets The data.
     * @param rank The process that simulates its nodes.
     */
    void SetUp(FederatedHelper& federation,
               const FederatedCommandLine& cmd,
               const FederatedData& sets,
               uint32_t rank) const;

    /**
     * @param cmd The command line.
     * @return the data; exits with an error sentence if it cannot be read.
     */
    FederatedData LoadOrExit(const FederatedCommandLine& cmd) const;

    /**
     * Place a node at the origin and the devices uniformly in the disc around it. If speed is
     * above 0, devices walk from one random point in the disc to the next.
     * @param devices The nodes of the devices.
     * @param reference The node at the origin.
     */
    void Place(const NodeContainer& devices, const Ptr<Node>& reference) const;

    /**
     * Place() around another point, as one of several cells needs it.
     * @param devices The nodes of the devices.
     * @param reference The node at the center of the disc.
     * @param center Where that is.
     * @param stream First of the random streams, as POSITIONS is.
     */
    void Place(const NodeContainer& devices,
               const Ptr<Node>& reference,
               const Vector& center,
               int64_t stream) const;

    /**
     * Place further nodes, which do not move, uniformly in the disc.
     * @param others The nodes.
     */
    void PlaceOthers(const NodeContainer& others) const;

    /** @return the number of devices; after ReadOrExit(). */
    uint32_t CountDevices() const;

    /** @return the number of their groups; after ReadOrExit(). */
    uint32_t CountGroups() const;

    /**
     * @param text Groups such as 50x2,50x4: devices, then bits.
     * @param [out] groups The groups.
     * @return whether the text is such a list.
     */
    [[nodiscard]] static bool ReadGroups(const std::string& text, std::vector<Group>& groups);

    uint32_t devices = 40;                  //!< Half with 2 bits, half with 4, if groups is empty.
    std::string groups;                     //!< As 20x2,20x4.
    uint32_t participants = 10;             //!< N.
    std::string selection = "random";       //!< Which devices of a group are selected.
    bool measuresSnr = true;                //!< Whether the scenario measures the SNR of links.
    uint32_t rounds = 15;                   //!< T.
    double radius = 25;                     //!< Of the disc, in meters.
    double speed = 0;                       //!< Of the devices, in m/s.
    double exponent = 3;                    //!< Of the path loss.
    Time deadline = Seconds(4);             //!< Longest round.
    Time timePerSample = MicroSeconds(100); //!< Simulated training time.
    std::string profile = "sound";          //!< Reading of the paper.
    std::string algorithm = "fwo-cso";      //!< Quantizer, fusion rule, cluster sizes.
    std::string weights = "default";        //!< Instead of those of the algorithm.
    double epsilon = 1e-6;                  //!< Of one coordinate.
    double clip = 0;                        //!< C; 0: that of the profile.
    double interval = 0;                    //!< A of [-A, A]; 0: the interval of the profile.
    std::string noise = "none";             //!< none, snr or fixed.
    double sigma1 = 6.25e-4;                //!< Fixed noise of the first group.
    double sigma2 = 0.125;                  //!< Fixed noise of the others.
    std::string budget = "measured";        //!< measured, or bits a coordinate.
    std::string lossPolicy = "renormalize"; //!< How lost coordinates are handled.
    FederatedLearningOptions learning;      //!< Split, model and local training.
    uint32_t threads = 0;                   //!< For training and evaluation; 0: all cores.
    bool encrypt = false;                   //!< Whether messages are encrypted.
    bool rotation = false;                  //!< Whether updates are rotated.
    bool interleave = false;                //!< Whether updates are interleaved.
    std::string data = "data/mnist";        //!< Where the data are.
    std::string output;                     //!< Start of the paths of files; empty: none.

  private:
    std::vector<Group> m_groups; //!< The groups.
    std::string m_budget;        //!< The budget as a text for an attribute.
};

} // namespace ns3

#endif // FEDERATED_SCENARIO_OPTIONS_H
