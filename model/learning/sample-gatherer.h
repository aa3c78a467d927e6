// SPDX-License-Identifier: GPL-2.0-only

#ifndef SAMPLE_GATHERER_H
#define SAMPLE_GATHERER_H

#include "federated-dataset.h"
#include "sample-batch.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Copies stored pixels into batches of real inputs. Allocates only for a larger batch than
 * every one before.
 */
template <typename Scalar>
class SampleGatherer
{
  public:
    /** @param scale What a pixel value means. */
    explicit SampleGatherer(PixelScale scale)
        : m_factor(scale.factor),
          m_offset(scale.offset)
    {
    }

    /**
     * @param dataset Where the samples are.
     * @param count How many samples to take.
     * @param sample sample(k) is the index of the k-th of them.
     * @return the batch, valid until the next call.
     */
    template <typename Function>
    SampleBatch<Scalar> Gather(const FederatedDataset& dataset, std::size_t count, Function sample)
    {
        const std::size_t features = dataset.GetFeatures();
        if (m_labels.size() < count || m_inputs.size() < count * features)
        {
            m_labels.resize(count);
            m_inputs.resize(count * features);
        }
        Scalar* input = m_inputs.data();
        for (std::size_t k = 0; k < count; ++k, input += features)
        {
            const uint32_t index = sample(k);
            m_labels[k] = dataset.GetLabel(index);
            const uint8_t* pixels = dataset.GetPixels(index);
            for (std::size_t i = 0; i < features; ++i)
            {
                input[i] = static_cast<Scalar>(pixels[i]) * m_factor + m_offset;
            }
        }
        return {m_inputs.data(), m_labels.data(), count, features, m_offset};
    }

  private:
    Scalar m_factor;               //!< Input units per gray level.
    Scalar m_offset;               //!< Input of a black pixel.
    std::vector<Scalar> m_inputs;  //!< Inputs of the batch, count x features.
    std::vector<uint8_t> m_labels; //!< Labels of the batch.
};

} // namespace ns3

#endif // SAMPLE_GATHERER_H
