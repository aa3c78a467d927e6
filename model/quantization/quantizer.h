// SPDX-License-Identifier: GPL-2.0-only

#ifndef QUANTIZER_H
#define QUANTIZER_H

#include "level-grid.h"
#include "privacy-claim.h"

#include "ns3/bit-packer.h"
#include "ns3/federated-random.h"
#include "ns3/object.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Turns an update into a payload, and computes its distortion and privacy claim.
 *
 * A quantizer is a configuration: its functions are const, keep no state between calls and touch no
 * reference count, so that worker threads may call them through a raw pointer. The random words
 * come from a stream that the caller makes for one device and one round.
 *
 * The payload is either levels (BitPacker) of b bits, or fewer where only some of the 2^b are in
 * use, or 32-bit IEEE floats, least significant byte first.
 */
class Quantizer : public Object
{
  public:
    static constexpr unsigned MAX_BITS = BitPacker::MAX_BITS;     //!< The finest resolution.
    static constexpr unsigned FLOAT_BITS = BitPacker::FLOAT_BITS; //!< Where floats are sent.

    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param bits A resolution, any number; it may come from the network.
     * @return whether the quantizer can be used with it. If not, the other functions abort.
     */
    bool Supports(unsigned bits) const;

    /**
     * Check the configuration, before the simulation begins.
     * @param bits Resolution of the device.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether updates can be quantized and decoded with it.
     */
    [[nodiscard]] bool Check(unsigned bits, std::string& error) const;

    /**
     * @param bits Resolution of the device, b, supported.
     * @return how many bits a coordinate takes in the payload: b or less, or 32 where floats are
     *         sent.
     */
    unsigned GetWireBits(unsigned bits) const;

    /**
     * @return whether it moves values outside the interval to its ends, as all but those that send
     * floats of any size do.
     */
    bool Clamps() const;

    /**
     * @param count Number of coordinates.
     * @param bits Resolution of the device.
     * @return the size of the payload in bytes.
     */
    std::size_t GetPayloadSize(std::size_t count, unsigned bits) const;

    /**
     * @param intervals Ranges with their intervals.
     * @return whether every interval has a lower end that is not above its upper one, and a width
     * that is a finite float: on others nothing can be quantized.
     */
    static bool AreUsable(const std::vector<IntervalRange>& intervals);

    /**
     * Quantize an update and pack it.
     * @param values The update, d coordinates.
     * @param intervals Ranges that cover 0..d-1 in ascending order, each with its interval.
     * @param bits Resolution of the device, 1 to 16.
     * @param random Stream for the random words.
     * @param [out] payload GetPayloadSize(d, bits) bytes.
     * @return false if a coordinate is infinite or NaN, an interval is not usable, or noise makes a
     * coordinate infinite: the payload must not be sent.
     */
    bool Encode(const float* values,
                const std::vector<IntervalRange>& intervals,
                unsigned bits,
                FederatedRandom& random,
                uint8_t* payload) const;

    /**
     * Read coordinates from a payload.
     * @param payload The payload, or a part of it that starts with a whole coordinate.
     * @param first Position in the payload of the first coordinate wanted.
     * @param count Number of coordinates.
     * @param grid Levels of the interval that these coordinates were quantized on, b bits.
     * @param [out] values The coordinates.
     */
    void Decode(const uint8_t* payload,
                std::size_t first,
                std::size_t count,
                const LevelGrid& grid,
                float* values) const;

    /**
     * @param grid Levels of the sender's interval.
     * @return the values that the receiver decodes levels 0 and 2^b-1 as, as a grid of the same
     *         size: the same grid, except for quantizers whose decoder scales it.
     */
    LevelGrid GetDecoderGrid(const LevelGrid& grid) const;

    /**
     * @param bits Resolution of the device.
     * @return where the levels of the payload lie between the ends of the decoder's grid, 0 at the
     *         lower and 1 at the upper one, one for each value that the wire bits can have. Empty
     * if they are spread evenly, as those of most quantizers.
     */
    std::vector<float> GetLevelPositions(unsigned bits) const;

    /**
     * The expected squared error ||Q(v) - v||^2 of an update, in closed form. Where a value lies
     * outside its interval the error is taken against the value itself, not its clamped image.
     * @param values The update, d coordinates.
     * @param intervals Ranges that cover the update, each with its interval.
     * @param bits Resolution of the device.
     * @return the sum over all coordinates.
     */
    double GetDistortion(const float* values,
                         const std::vector<IntervalRange>& intervals,
                         unsigned bits) const;

    /**
     * @param low Lower end of the interval.
     * @param high Upper end of the interval.
     * @param bits Resolution of the device.
     * @param dimension Size of the update, d; 0 where it does not matter.
     * @return the expected squared error of one coordinate that is uniform in its cell (and so of
     *         one that is uniform in the interval): known from public numbers alone.
     */
    double GetCellDistortion(float low, float high, unsigned bits, std::size_t dimension = 0) const;

    /**
     * @param value A coordinate, finite.
     * @param grid Levels of the interval; made with d for quantizers that choose coordinates.
     * @return the probability of each level as implemented; empty if floats are sent or it is not
     * known.
     */
    std::vector<double> GetProbabilities(float value, const LevelGrid& grid) const;

    /**
     * The privacy loss of an update against another one: the largest ln P(payload | update) /
     * P(payload | other), as implemented. (The intervals are assumed to be public.)
     * @param update An update, d coordinates, finite.
     * @param other Another one.
     * @param intervals Ranges that cover them, each with its interval.
     * @param bits Resolution of the device.
     * @return the loss; infinite where a payload is possible for the first update only, NaN if it
     * is not known.
     */
    double GetPrivacyLoss(const float* update,
                          const float* other,
                          const std::vector<IntervalRange>& intervals,
                          unsigned bits) const;

    /**
     * Whether a float can be what is sent for a value, as implemented. Noise in floating point
     * leaves gaps: an observer who finds a float that only one of two inputs can have sent knows
     * the input with certainty, whatever the claim is.
     * @param value A coordinate, finite.
     * @param grid Levels of the interval.
     * @param sent A float that the receiver decodes.
     * @return false if it cannot; true if it can, or if the quantizer does not know.
     */
    bool CanSend(float value, const LevelGrid& grid, float sent) const;

    /**
     * What a receiver may expect of a device that follows the protocol, from public numbers.
     * @param largest The largest magnitude of an encoded coordinate.
     * @param grid Levels of the interval.
     * @return the largest magnitude of a float that is sent. Where noise has no bound, it is
     * exceeded with a probability of at most 2^-64 a coordinate. Infinite where levels are sent, or
     * if the quantizer does not know.
     */
    double GetReach(double largest, const LevelGrid& grid) const;

    /**
     * @param grid Levels of the interval; made with d for quantizers that choose coordinates.
     * @return a lower bound of the expected squared error of a coordinate, whatever its value is; 0
     * where a value has no error, or if the quantizer does not know.
     */
    double GetLeastDistortion(const LevelGrid& grid) const;

    /**
     * Whether a device that follows the protocol can have sent levels.
     * @param payload Levels; the first begins with the first bit.
     * @param count How many.
     * @param bits Resolution of the device.
     * @param [in,out] answers Coordinates of the same update that were answered so far, for
     * quantizers that answer only some.
     * @return false if a level is never sent, or more coordinates are answered than the quantizer
     * does.
     */
    bool CanHaveSent(const uint8_t* payload,
                     std::size_t count,
                     unsigned bits,
                     std::size_t& answers) const;

    /**
     * @param context The configuration of the device.
     * @return what is claimed about privacy under it; nothing if the configuration is invalid.
     */
    PrivacyClaim GetPrivacyClaim(const PrivacyContext& context) const;

    /**
     * @param bits Resolution of the device.
     * @return the epsilon of the coin of one coordinate, whatever the interval is: what the
     * same-cell epsilon counts. NaN if coordinates have none.
     */
    double GetCoordinateEpsilon(unsigned bits) const;

  protected:
    static constexpr std::size_t BLOCK =
        1024; //!< Coordinates encoded together, to stay in the cache.

  private:
    /**
     * @param bits A resolution, 1 to 16.
     * @return whether it is supported. By default it is.
     */
    virtual bool DoSupports(unsigned bits) const;

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the attributes fit together. By default they do.
     */
    virtual bool DoCheck(std::string& error) const;

    /** @copydoc GetWireBits */
    virtual unsigned DoGetWireBits(unsigned bits) const = 0;

    /** @copydoc Clamps */
    virtual bool DoClamps() const;

    /**
     * Encode an update, by default block by block with DoEncode. A quantizer overrides one of the
     * two.
     * @param values The update, d coordinates; it has to be checked that they are finite.
     * @param intervals As Encode has them, all of finite width, at least one.
     * @param bits Resolution of the device.
     * @param random Stream for the random words.
     * @param [out] payload The payload; its last byte is 0.
     * @return whether all coordinates are finite and can be sent.
     */
    virtual bool DoEncodeUpdate(const float* values,
                                const std::vector<IntervalRange>& intervals,
                                unsigned bits,
                                FederatedRandom& random,
                                uint8_t* payload) const;

    /**
     * Encode coordinates of one interval.
     * @param values The first of them, all finite.
     * @param count How many, at most BLOCK.
     * @param grid Levels of the interval.
     * @param random Stream for the random words.
     * @param [out] payload Payload of the whole update.
     * @param first Position of the first coordinate in the payload.
     * @return whether the coordinates can be sent.
     */
    virtual bool DoEncode(const float* values,
                          std::size_t count,
                          const LevelGrid& grid,
                          FederatedRandom& random,
                          uint8_t* payload,
                          std::size_t first) const;

    /** @copydoc GetDecoderGrid */
    virtual LevelGrid DoGetDecoderGrid(const LevelGrid& grid) const;

    /** @copydoc GetLevelPositions */
    virtual std::vector<float> DoGetLevelPositions(unsigned bits) const;

    /**
     * @param values Coordinates of one interval.
     * @param count How many.
     * @param grid Levels of the interval.
     * @return the sum of their expected squared errors.
     */
    virtual double DoGetDistortion(const float* values,
                                   std::size_t count,
                                   const LevelGrid& grid) const = 0;

    /**
     * @param grid Levels of an interval.
     * @return the expected squared error of a coordinate that is uniform in its cell.
     */
    virtual double DoGetCellDistortion(const LevelGrid& grid) const = 0;

    /** @copydoc GetProbabilities */
    virtual std::vector<double> DoGetProbabilities(float value, const LevelGrid& grid) const;

    /**
     * @param value A coordinate.
     * @param other Another value of it.
     * @param grid Levels of the interval.
     * @return the privacy loss of the value against the other one. By default it follows from the
     *         probabilities of levels.
     */
    virtual double DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const;

    /**
     * @param losses Privacy loss of each coordinate.
     * @return that of the update. By default their sum: coordinates are drawn independently.
     */
    virtual double DoCombineLosses(std::vector<double>& losses) const;

    /** @copydoc CanSend */
    virtual bool DoCanSend(float value, const LevelGrid& grid, float sent) const;

    /** @copydoc GetReach */
    virtual double DoGetReach(double largest, const LevelGrid& grid) const;

    /** @copydoc GetLeastDistortion */
    virtual double DoGetLeastDistortion(const LevelGrid& grid) const;

    /** @copydoc CanHaveSent */
    virtual bool DoCanHaveSent(const uint8_t* payload,
                               std::size_t count,
                               unsigned bits,
                               std::size_t& answers) const;

    /**
     * @param context A valid configuration with a public interval.
     * @return what is claimed under it.
     */
    virtual PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const = 0;
};

} // namespace ns3

#endif // QUANTIZER_H
