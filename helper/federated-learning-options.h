// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_LEARNING_OPTIONS_H
#define FEDERATED_LEARNING_OPTIONS_H

#include "federated-command-line.h"
#include "federated-helper.h"

#include "ns3/federated-partition.h"
#include "ns3/learning-model.h"
#include "ns3/update-aggregator.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The options that examples share about what is learned: split, model, local training,
 * how updates are combined, and where a run begins and ends.
 *
 * @code
    FederatedLearningOptions options;
    options.Add(cmd);
    cmd.ParseOrExit(argc, argv);
    FederatedHelper federation;
    options.SetUp(federation);
   @endcode
 */
class FederatedLearningOptions
{
  public:
    /**
     * Add the options, with the values here as defaults.
     * @param cmd The command line.
     */
    void Add(FederatedCommandLine& cmd);

    /**
     * Set the attributes of task, devices and center. A value that is the default of this class
     * sets nothing, so that options such as --ns3::FederatedDevice::Steps still have an effect.
     * @param federation The federation.
     */
    void SetUp(FederatedHelper& federation) const;

    /**
     * @param text iid, dirichlet:A, shards:S, labels or quantity:A.
     * @param [out] error On failure, words that follow the text.
     * @return the partition, null if the text is something else.
     */
    static Ptr<FederatedPartition> MakePartition(const std::string& text, std::string& error);

    /**
     * @param text mlp:H, where H are the units of hidden layers with commas between, mlp (one
     * hidden layer of 200), logistic or lenet.
     * @param [out] error On failure, words that follow the text.
     * @return the model, null if the text is something else.
     */
    static Ptr<LearningModel> MakeModel(const std::string& text, std::string& error);

    /**
     * @param text mean, median, trimmed:F or norm:C.
     * @param [out] error On failure, words that follow the text.
     * @return the aggregator, null if the text is something else.
     */
    static Ptr<UpdateAggregator> MakeAggregator(const std::string& text, std::string& error);

    /**
     * @param text A model.
     * @return the error in it, as words that follow the text; empty if there is none.
     */
    static std::string CheckModel(const std::string& text);

    std::string partition = "iid";   //!< As MakePartition reads it.
    std::string model = "mlp:200";   //!< As MakeModel reads it.
    uint32_t steps = 10;             //!< L.
    uint32_t batch = 10;             //!< Samples of a step.
    double learningRate = 0;         //!< eta_0; 0: that of the profile.
    std::string aggregator = "mean"; //!< As MakeAggregator reads it.
    bool save = false;               //!< Whether the last model is written.
    std::string start;               //!< File with the first model; empty: a random one.
    double target = 0;               //!< Test accuracy that ends the run; 0: none.
};

} // namespace ns3

#endif // FEDERATED_LEARNING_OPTIONS_H
