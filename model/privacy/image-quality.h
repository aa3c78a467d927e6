// SPDX-License-Identifier: GPL-2.0-only

#ifndef IMAGE_QUALITY_H
#define IMAGE_QUALITY_H

#include <cstddef>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How close an image is to another. Both are clipped to [0, 1] first.
 */
struct ImageQuality
{
    double mse = 0;  //!< Mean squared error.
    double psnr = 0; //!< Peak signal-to-noise ratio, -10 log10(mse) dB; infinite for equal images.
    /**
     * Mean structural similarity (Wang, Bovik, Sheikh, Simoncelli, 2004): windows of 11 x 11
     * weighted by a Gaussian of standard deviation 1.5, K1 = 0.01, K2 = 0.03, dynamic range 1,
     * averaged over the windows that lie inside the image, as the authors' program does. 1 for
     * equal images, about 0 for unrelated ones. NaN if the image is smaller than a window.
     */
    double ssim = 0;

    /**
     * Compare two images.
     * @param original rows x columns values, row by row.
     * @param image As many.
     * @param rows Height.
     * @param columns Width.
     * @return how close they are.
     */
    static ImageQuality Compare(const std::vector<double>& original,
                                const std::vector<double>& image,
                                std::size_t rows,
                                std::size_t columns);
};

} // namespace ns3

#endif // IMAGE_QUALITY_H
