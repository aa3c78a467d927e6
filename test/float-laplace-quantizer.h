// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOAT_LAPLACE_QUANTIZER_H
#define FLOAT_LAPLACE_QUANTIZER_H

#include "ns3/float-quantizer.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <cmath>

namespace ns3
{

/**
 * @ingroup federated-tests
 * @brief LaplaceSQ with noise in floating point, from one 32-bit word: the textbook's way, which
 * claims what holds for real numbers only. Some floats identify the level.
 */
class FloatLaplaceQuantizer : public FloatQuantizer
{
  public:
    /** @param scale Lambda. */
    explicit FloatLaplaceQuantizer(double scale)
        : m_scale(scale)
    {
    }

  private:
    /** @return the float that is sent for a level with this word. */
    float MakeFloat(double level, uint32_t word) const
    {
        // The lowest bit is the sign, the others an exponential variable.
        const double magnitude = -m_scale * std::log(((word >> 1) + 0.5) * 0x1p-31);
        return static_cast<float>(level + ((word & 1) != 0 ? magnitude : -magnitude));
    }

    const float* DoMakeFloats(const float* values,
                              std::size_t count,
                              const LevelGrid& grid,
                              FederatedRandom& random,
                              float* buffer) const override
    {
        uint32_t words[2 * BLOCK]; // a word for the level and one for the noise, a coordinate
        random.Fill(words, 2 * count);
        uint16_t levels[BLOCK];
        UnbiasedStochasticQuantizer::ChooseLevels(values, words, count, grid, levels);
        for (std::size_t i = 0; i < count; ++i)
        {
            buffer[i] = MakeFloat(grid.GetValue(levels[i]), words[count + i]);
        }
        return buffer;
    }

    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override
    {
        return UnbiasedStochasticQuantizer::GetSumOfErrors(values, count, grid) +
               static_cast<double>(count) * 2 * m_scale * m_scale;
    }

    double DoGetCellDistortion(const LevelGrid& grid) const override
    {
        return grid.step * grid.step / 6 + 2 * m_scale * m_scale;
    }

    bool DoCanSend(float value, const LevelGrid& grid, float sent) const override
    {
        float fraction;
        const int32_t cell = grid.Locate(value, fraction);
        const double upper = UnbiasedStochasticQuantizer::GetUpperProbability(fraction);
        return (upper < 1 && CanSendLevel(grid.GetValue(cell), sent)) ||
               (upper > 0 && CanSendLevel(grid.GetValue(cell + 1), sent));
    }

    /** @return whether some word makes this float of a level. */
    bool CanSendLevel(double level, float sent) const
    {
        // The inverse of MakeFloat(), give or take a rounding.
        const double nearest = std::exp(-std::abs(sent - level) / m_scale) * 0x1p31 - 0.5;
        for (int64_t upper = std::llround(nearest) - 2; upper <= std::llround(nearest) + 2; ++upper)
        {
            if (upper < 0 || upper > 0x7fffffff)
            {
                continue;
            }
            const auto word = static_cast<uint32_t>(upper) << 1;
            if (MakeFloat(level, word) == sent || MakeFloat(level, word | 1) == sent)
            {
                return true;
            }
        }
        return false;
    }

    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override
    {
        if (context.clipNorm != CLIP_L1)
        {
            return PrivacyClaim::None("Without l1 clipping the l1 sensitivity has no bound.",
                                      PrivacyClaim::UPDATE);
        }
        const LevelGrid grid(
            static_cast<float>(context.low), static_cast<float>(context.high), context.bits);
        return PrivacyClaim::TrueEpsilon(PrivacyClaim::UPDATE,
                                         2 * context.clipBound / grid.step *
                                             std::expm1(grid.step / m_scale),
                                         "Laplace noise in real numbers.");
    }

    double m_scale; //!< Lambda.
};

} // namespace ns3

#endif // FLOAT_LAPLACE_QUANTIZER_H
