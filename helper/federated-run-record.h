// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_RUN_RECORD_H
#define FEDERATED_RUN_RECORD_H

#include "federated-json.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How a program was called.
 */
struct FederatedCommand
{
    /** Names and values. */
    using Values = std::vector<std::pair<std::string, std::string>>;

    std::string program;            //!< Its name; empty: unknown.
    std::vector<std::string> words; //!< The command line, the program first.
    Values options;                 //!< All options as used: --name=value has the same effect.
    Values settings; //!< Global values and attributes of ns-3 that the command line set.
};

/**
 * @ingroup federated
 * @brief What is known of a run, apart from its rounds.
 *
 * FederatedTraceWriter writes it as PREFIX-run.json and PREFIX-devices.csv. The JSON is an object
 * with these members:
 *
 *  - schema: 1. New members may follow; the meaning of a member does not change within a number.
 *  - version: of this module.
 *  - program, command (a list of words), options and settings (see FederatedCommand; values are
 *    texts): null if the command line is unknown.
 *  - rng_seed, rng_run: of ns-3.
 *  - facts: d (coordinates of the model), encoded (coordinates of a sent update), devices, groups
 *    (a list of devices and bits), profile, algorithm, weights, protocol, start_round (rounds
 *    behind the model that the run began with, 0 if they are not known; null: a random model);
 *    visitors (devices that may come from other cells, numbered after the others), if there are
 * any.
 *  - attributes: those of FusionCenter, FederatedDevice (device 0) and LearningTask by name, as
 *    texts that ns-3 reads. Keys are left out.
 *  - tables: which of the tables PREFIX-rounds.csv, PREFIX-links.csv and PREFIX-devices.csv belong
 *    to this run.
 *  - result: the values of the result line by their keys; an unknown one is null. The result itself
 *    is null until the run has ended.
 *  - privacy: the lines of the privacy summary; null until the run has ended.
 */
struct FederatedRunRecord
{
    /** A node in the cell. Unknown coordinates are NaN. */
    struct Place
    {
        double x = std::numeric_limits<double>::quiet_NaN(); //!< In meters.
        double y = std::numeric_limits<double>::quiet_NaN(); //!< In meters.
        double z = std::numeric_limits<double>::quiet_NaN(); //!< In meters.
    };

    /** A device; its number is its index. */
    struct Device
    {
        uint32_t group = 0;   //!< Its group.
        unsigned bits = 0;    //!< b.
        uint32_t samples = 0; //!< Training samples that it has; 0: not known.
        Place place;          //!< Where it was first.
    };

    /**
     * @param tables Names of the tables.
     * @param result The values of the result line as JSON; null while the run lasts.
     * @return the content of PREFIX-run.json.
     */
    std::string ToJson(const std::vector<std::string>& tables, const std::string& result) const;

    FederatedCommand command;                                     //!< How the run was started.
    FederatedJson::Members facts;                                 //!< Facts of the federation.
    std::vector<std::pair<std::string, FederatedCommand::Values>> //
        attributes;                       //!< Attributes of objects, by class.
    Place center;                         //!< Where distances are measured from.
    std::vector<Device> devices;          //!< All devices.
    std::function<std::string()> privacy; //!< Gives the lines of the summary; null: unknown.
};

} // namespace ns3

#endif // FEDERATED_RUN_RECORD_H
