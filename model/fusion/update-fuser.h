// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_FUSER_H
#define UPDATE_FUSER_H

#include "fusion-rule.h"
#include "link-noise.h"
#include "update-aggregator.h"
#include "update-fusion.h"

#include "ns3/packed-update.h"
#include "ns3/public-interleaving.h"
#include "ns3/public-rotation.h"
#include "ns3/quantizer.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ns3::federated
{

/** A fragment of an update that was received. */
struct FragmentQuality
{
    std::size_t begin; //!< First coordinate.
    std::size_t end;   //!< One past the last coordinate.
    double snr;        //!< Linear SNR of the frame that carried it; NaN if it is unknown.
};

/** The received part of one device's update, and its link. */
struct FuserInput
{
    uint32_t device = 0;                                   //!< The device.
    uint32_t group = 0;                                    //!< Its group.
    unsigned bits = 0;                                     //!< Its resolution, b.
    uint32_t samples = 0;                                  //!< Its samples; 0 if unknown.
    double snr = std::numeric_limits<double>::quiet_NaN(); //!< Linear SNR of its link, moving
                                                           //!< average; NaN if it is unknown.
    PackedUpdate packed;                                   //!< The received coordinates.
    std::vector<FragmentQuality> fragments; //!< The same, fragment by fragment in any order; needed
                                            //!< only where the noise depends on the SNR.
};

/** Result of fusion for one device. */
struct FusedDevice
{
    uint32_t device = 0;                                          //!< The device.
    double sigma = std::numeric_limits<double>::quiet_NaN();      //!< Link noise, standard
                                                                  //!< deviation; NaN if unknown.
    double meanSquare = std::numeric_limits<double>::quiet_NaN(); //!< Of the values that it sent;
                                                                  //!< NaN if it was not needed.
    double weight = 0; //!< omega, averaged over all coordinates.
};

/** The outcome of a fusion. */
struct FusedModel
{
    bool skipped = true;          //!< Too few updates, or they overflow: no new model.
    bool overflowed = false;      //!< Skipped because a coordinate became infinite or NaN.
    std::vector<float> model;     //!< The new model, d coordinates; empty if skipped.
    double untouchedFraction = 1; //!< Encoded coordinates that no device delivered.
    double error = std::numeric_limits<double>::quiet_NaN(); //!< Expected squared error of a
                                                             //!< coordinate; NaN if skipped.
    std::vector<FusedDevice> devices; //!< Those whose update can be decoded, as they were given.
};

/**
 * @brief Fuses the updates of a round: the noise of their links, their weights, the sum, and a
 * guard against overflow. It has no side effects.
 */
class UpdateFuser
{
  public:
    /** How updates are fused. */
    struct Rules
    {
        const Quantizer* quantizer = nullptr;         //!< Quantizer of the devices.
        const FusionRule* fusionRule = nullptr;       //!< Computes the weights.
        const UpdateAggregator* aggregator = nullptr; //!< Combines updates; null: weighted mean.
        const LinkNoise* noise = nullptr;             //!< sigma^2.
        LossPolicy lossPolicy = LOSS_RENORMALIZE;     //!< How missing coordinates count.
        std::size_t groups = 1;                       //!< Number of groups.
        uint32_t minUpdates = 1;                      //!< With fewer the round is skipped.
        uint64_t seed = 0;                            //!< Of the draws of link noise.
        /** Of the updates: they are fused as they are, and their sum is rotated back. */
        std::optional<PublicRotation> rotation = std::nullopt;
        /** Of the updates: they are fused in this order, and the sum gets its own order back. */
        std::optional<PublicInterleaving> interleaving = std::nullopt;
    };

    static constexpr double MAX_ADVANTAGE = 4;   //!< Limit of a distortion below the median.
    static constexpr double LEAST_OF_CELL = 0.7; //!< Limit of a report below the expected one; the
                                                 //!< paper's quantizer never has less than 0.75.

    /** @param rules How updates are fused; the objects must outlive this one. */
    explicit UpdateFuser(const Rules& rules);

    /**
     * @param model w, d coordinates.
     * @param inputs The received updates, in ascending order of the devices.
     * @param round The round, which selects the random numbers of the link noise.
     * @return the outcome.
     */
    FusedModel Fuse(const std::vector<float>& model,
                    const std::vector<FuserInput>& inputs,
                    uint32_t round) const;

  private:
    /** An update that can be decoded, and its group. */
    struct Usable
    {
        DeliveredUpdate update; //!< The update.
        uint32_t group;         //!< Group of its device.
    };

    /**
     * Set the noise of a link: for each fragment at the SNR of the frame that carried it, if the
     * noise depends on that.
     * @param input What was received.
     * @param [in,out] update The same; the noise of its ranges is set, NaN where it is unknown.
     * @param [in,out] fused Gets sigma and, if it was needed, the mean square.
     */
    void SetNoise(const FuserInput& input, DeliveredUpdate& update, FusedDevice& fused) const;

    /**
     * SetNoise where the noise depends on the SNR.
     * @param input What was received.
     * @param [in,out] update The same.
     * @param [in,out] fused Gets sigma and mean square.
     */
    void SetNoiseBySnr(const FuserInput& input, DeliveredUpdate& update, FusedDevice& fused) const;

    /**
     * @param update An update whose noise is known.
     * @return the expected squared error of a coordinate of it, by quantization and link.
     */
    static double GetError(const DeliveredUpdate& update);

    /**
     * Links of unknown noise get the mean of the finite noises of their group, else no noise.
     * @param [in,out] usable The updates.
     */
    void FillUnknownNoise(std::vector<Usable>& usable) const;

    /**
     * Limit what a device gains by what it says about its errors. The distortion that follows from
     * its interval is at least 1/MAX_ADVANTAGE of the median among updates of its resolution, and a
     * reported one at least LEAST_OF_CELL of that: values of honest devices are not all on levels.
     * Where none follows, as from floats, a reported one is at least 1/MAX_ADVANTAGE of the median
     * of those reported.
     * @param [in,out] usable The updates.
     */
    static void LimitDistortions(std::vector<Usable>& usable);

    /**
     * Devices of unknown samples get the mean of the others; if none is known, all count the same.
     * @param [in,out] usable The updates.
     */
    static void FillUnknownSamples(std::vector<Usable>& usable);

    /**
     * Fuse updates, with the noise of their links.
     * @param updates The updates.
     * @param round The round.
     * @param [in,out] values The coordinates to which they are added.
     * @return what was done.
     */
    FusionResult FuseWithNoise(const std::vector<DeliveredUpdate>& updates,
                               uint32_t round,
                               std::vector<float>& values) const;

    /**
     * Add the noise of the links to fused coordinates.
     * @param segments Noise variance of each segment.
     * @param round The round.
     * @param [in,out] values The coordinates.
     */
    void AddLinkNoise(const std::vector<FusionSegment>& segments,
                      uint32_t round,
                      std::vector<float>& values) const;

    Rules m_rules; //!< How updates are fused.
};

} // namespace ns3::federated

#endif // UPDATE_FUSER_H
