// SPDX-License-Identifier: GPL-2.0-only

#ifndef RANDOM_COORDINATES_QUANTIZER_H
#define RANDOM_COORDINATES_QUANTIZER_H

#include "binary-response.h"
#include "quantizer.h"

#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Randomized response on k random coordinates of an update, which share its epsilon.
 *
 * Of the d coordinates k are chosen at random, whatever their values (all, if there are fewer). A
 * chosen one is answered as by RandomizedResponseQuantizer with epsilon/k: the upper end of the
 * interval [m-A, m+A] with probability (1 + tanh(epsilon/2k) (a-m)/A)/2. The others say that they
 * were not chosen. On a public interval any two updates have a privacy loss of at most epsilon, the
 * whole update taken together.
 *
 * The payload has two bits a coordinate: 0 and 2 stand for m-G and m+G, 1 for m (not chosen), 3 is
 * not sent. G is
 * - `unbiased`: A d/k / tanh(epsilon/2k), right on average;
 * - `bayes`: A tanh(epsilon/2k)/3, the mean of a value that is uniform in the interval;
 * - `gain:x`: x A.
 *
 * The decoder and the distortion need d: grids have to be made with it.
 */
class RandomCoordinatesQuantizer : public Quantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    RandomCoordinatesQuantizer();

    /** @param epsilon The privacy loss of an update, at least 0. */
    void SetEpsilon(double epsilon);

    /** @return the privacy loss of an update that was asked for. */
    double GetEpsilon() const;

    /** @param coordinates How many coordinates are answered, k, at least 1. */
    void SetCoordinates(uint32_t coordinates);

    /** @return how many coordinates are answered, k. */
    uint32_t GetCoordinates() const;

    /** @param decoder `bayes`, `unbiased` or `gain:x` with a number x above 0. */
    void SetDecoder(const std::string& decoder);

    /** @return the decoder. */
    std::string GetDecoder() const;

  private:
    /** The values of a coordinate in the payload. */
    enum Answer : uint16_t
    {
        LOWER,      //!< The lower end.
        NOT_CHOSEN, //!< Not one of the k.
        UPPER,      //!< The upper end.
    };

    /**
     * @param grid Levels of an interval, made with d.
     * @return how likely a coordinate is to be chosen, k/d.
     */
    double GetChance(const LevelGrid& grid) const;

    bool DoSupports(unsigned bits) const override;
    bool DoCheck(std::string& error) const override;
    unsigned DoGetWireBits(unsigned bits) const override;
    bool DoEncodeUpdate(const float* values,
                        const std::vector<IntervalRange>& intervals,
                        unsigned bits,
                        FederatedRandom& random,
                        uint8_t* payload) const override;
    LevelGrid DoGetDecoderGrid(const LevelGrid& grid) const override;
    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override;
    double DoGetCellDistortion(const LevelGrid& grid) const override;
    double DoGetLeastDistortion(const LevelGrid& grid) const override;
    bool DoCanHaveSent(const uint8_t* payload,
                       std::size_t count,
                       unsigned bits,
                       std::size_t& answers) const override;
    std::vector<double> DoGetProbabilities(float value, const LevelGrid& grid) const override;
    double DoCombineLosses(std::vector<double>& losses) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    // Attributes
    double m_epsilon;       //!< Privacy loss of an update.
    uint32_t m_coordinates; //!< k.

    // State
    federated::BinaryResponse m_response; //!< The bit of a coordinate, and its decoder.
};

} // namespace ns3

#endif // RANDOM_COORDINATES_QUANTIZER_H
