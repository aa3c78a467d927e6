// SPDX-License-Identifier: GPL-2.0-only

#ifndef SAMPLE_BATCH_H
#define SAMPLE_BATCH_H

#include <cstddef>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A view of labeled samples, ready for a ModelKernel. It owns nothing.
 */
template <typename Scalar>
struct SampleBatch
{
    const Scalar* inputs = nullptr;  //!< count x features, row-major.
    const uint8_t* labels = nullptr; //!< One class per sample.
    std::size_t count = 0;           //!< Number of samples.
    std::size_t features = 0;        //!< Inputs per sample.
    Scalar background = 0;           //!< The value that most inputs have; kernels may skip it.
};

} // namespace ns3

#endif // SAMPLE_BATCH_H
