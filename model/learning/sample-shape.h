// SPDX-License-Identifier: GPL-2.0-only

#ifndef SAMPLE_SHAPE_H
#define SAMPLE_SHAPE_H

#include <cstddef>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Size of a one-channel image and number of classes. MNIST: 28 x 28, 10.
 */
struct SampleShape
{
    std::size_t rows = 0;    //!< Height in pixels.
    std::size_t columns = 0; //!< Width in pixels.
    std::size_t classes = 0; //!< Labels are 0..classes-1, at most 256 of them.
};

} // namespace ns3

#endif // SAMPLE_SHAPE_H
