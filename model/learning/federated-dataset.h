// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_DATASET_H
#define FEDERATED_DATASET_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How a stored pixel 0..255 becomes a real input of a model: factor * pixel + offset.
 */
struct PixelScale
{
    float factor; //!< Input units per gray level.
    float offset; //!< Input of a black pixel, which is most of an MNIST image.

    /** @return the scale x/255. */
    static constexpr PixelScale Unit()
    {
        return {1.0F / 255, 0.0F};
    }

    /** @return the scale (x/255 - 0.1307) / 0.3081, with MNIST's mean and standard deviation. */
    static constexpr PixelScale Standard()
    {
        return {1.0F / 255 / 0.3081F, -0.1307F / 0.3081F};
    }
};

/**
 * @ingroup federated
 * @brief Labeled gray images, stored once and shared; a device's part of them is a list of
 * indices.
 *
 * Immutable, without any ns-3 object inside: worker threads may read it through a plain pointer.
 */
class FederatedDataset
{
  public:
    /**
     * @param rows Image rows.
     * @param columns Image columns.
     * @param classes Number of classes, 1..256.
     * @param pixels The images one after the other, each row by row: size() = samples * rows *
     * columns.
     * @param labels The class of each sample, below classes.
     */
    FederatedDataset(uint32_t rows,
                     uint32_t columns,
                     uint32_t classes,
                     std::vector<uint8_t> pixels,
                     std::vector<uint8_t> labels);

    /**
     * Read a pair of IDX files, each plain or gzip (recognized by content).
     * @param imagesPath Three-dimensional IDX file of bytes (MNIST: train-images-idx3-ubyte).
     * @param labelsPath One-dimensional IDX file of bytes.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @param classes Number of classes; a label must be below it.
     * @return the samples, or nullptr on failure.
     */
    static std::shared_ptr<const FederatedDataset> LoadIdx(const std::string& imagesPath,
                                                           const std::string& labelsPath,
                                                           std::string& error,
                                                           uint32_t classes = 10);

    /**
     * Average squares of pixels, so that a model needs fewer parameters.
     * @param side Side of a square in pixels; it divides rows and columns.
     * @return images with fewer pixels, each the mean of a square, rounded.
     */
    std::shared_ptr<const FederatedDataset> Pool(uint32_t side) const;

    /** @return the number of samples. */
    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_labels.size());
    }

    /** @return the number of rows of an image. */
    uint32_t GetRows() const
    {
        return m_rows;
    }

    /** @return the number of columns of an image. */
    uint32_t GetColumns() const
    {
        return m_columns;
    }

    /** @return the number of pixels of an image. */
    uint32_t GetFeatures() const
    {
        return m_rows * m_columns;
    }

    /** @return the number of classes. */
    uint32_t GetClasses() const
    {
        return m_classes;
    }

    /**
     * @param sample Index of a sample.
     * @return its GetFeatures() pixels, row by row.
     */
    const uint8_t* GetPixels(uint32_t sample) const
    {
        return m_pixels.data() + static_cast<std::size_t>(sample) * GetFeatures();
    }

    /**
     * @param sample Index of a sample.
     * @return its class.
     */
    uint8_t GetLabel(uint32_t sample) const
    {
        return m_labels[sample];
    }

    /** @return the class of every sample. */
    const std::vector<uint8_t>& GetLabels() const
    {
        return m_labels;
    }

  private:
    uint32_t m_rows;               //!< Image rows.
    uint32_t m_columns;            //!< Image columns.
    uint32_t m_classes;            //!< Number of classes.
    std::vector<uint8_t> m_pixels; //!< Samples x (rows * columns).
    std::vector<uint8_t> m_labels; //!< Class of each sample.
};

/**
 * @ingroup federated
 * @brief The training and the test set of one task.
 */
struct FederatedData
{
    std::shared_ptr<const FederatedDataset> train; //!< Split among the devices.
    std::shared_ptr<const FederatedDataset> test;  //!< Only for evaluation.

    /**
     * Read MNIST or a set in its format (Fashion-MNIST): train-images-idx3-ubyte,
     * train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, each plain or as
     * .gz.
     * @param folder Where the files are.
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return both sets, or two null pointers on failure.
     */
    [[nodiscard]] static FederatedData LoadDirectory(const std::string& folder, std::string& error);

    /**
     * @param side Side of the squares of pixels that are averaged; it divides rows and columns.
     * @return both sets with FederatedDataset::Pool().
     */
    FederatedData Pool(uint32_t side) const;

    /**
     * Make a set that can be learned without any file: every class is a few soft strokes on black,
     * every sample its class shifted by up to one pixel, dimmed, and speckled.
     * @param seed Drawn from an ns-3 random stream; equal seeds give equal sets.
     * @param trainSamples Size of the training set; classes take turns.
     * @param testSamples Size of the test set, with the same classes and other noise.
     * @param rows Image rows.
     * @param columns Image columns.
     * @param classes Number of classes, 1..256.
     * @return both sets.
     */
    static FederatedData MakeSynthetic(uint64_t seed,
                                       uint32_t trainSamples,
                                       uint32_t testSamples,
                                       uint32_t rows = 28,
                                       uint32_t columns = 28,
                                       uint32_t classes = 10);
};

} // namespace ns3

#endif // FEDERATED_DATASET_H
