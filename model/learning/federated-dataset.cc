// SPDX-License-Identifier: GPL-2.0-only

#include "federated-dataset.h"

#include "ns3/abort.h"
#include "ns3/federated-random.h"

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>

namespace ns3
{

namespace
{

constexpr uint32_t MAX_SIDE = 4096;                  // largest number of rows or columns
constexpr uint64_t MAX_BYTES = uint64_t{1} << 30;    // largest content of one file
constexpr uint32_t ANY_COUNT = 0;                    // no number of samples is expected
constexpr std::size_t CHUNK = std::size_t{1} << 20U; // bytes read at a time

/** An IDX file of bytes: its dimensions and its content. */
struct IdxFile
{
    std::vector<uint32_t> dimensions; //!< Samples first.
    std::vector<uint8_t> content;     //!< As many bytes as the product of the dimensions.
};

/**
 * @param stream Where to read.
 * @param [out] word The next four bytes, most significant first.
 * @return whether they were there.
 */
bool
ReadWord(std::istream& stream, uint32_t& word)
{
    std::array<char, 4> bytes;
    if (!stream.read(bytes.data(), bytes.size()))
    {
        return false;
    }
    word = 0;
    for (char byte : bytes)
    {
        word = word << 8 | static_cast<uint8_t>(byte);
    }
    return true;
}

/**
 * @param stream A stream that failed.
 * @param otherwise What is wrong if the stream is not broken itself.
 * @return what is wrong: a stream is bad if its gzip data cannot be expanded.
 */
std::string
ExplainFailure(const std::istream& stream, const std::string& otherwise)
{
    return stream.bad() ? "its gzip data is damaged" : otherwise;
}

/**
 * @param promised How many bytes of content the header promises.
 * @param present How many there are.
 * @return that the file is truncated, in words.
 */
std::string
DescribeTruncation(uint64_t promised, uint64_t present)
{
    return "it is truncated: its header promises " + std::to_string(promised) +
           " bytes of content, but there are " + std::to_string(present);
}

/**
 * @param path Where a file should be.
 * @return what kind of thing is there instead, empty if it is a file.
 */
std::string
CheckIsFile(const std::string& path)
{
    std::error_code status;
    switch (std::filesystem::status(path, status).type())
    {
    case std::filesystem::file_type::regular:
        return "";
    case std::filesystem::file_type::not_found:
        return "there is no such file";
    case std::filesystem::file_type::directory:
        return "it is a folder, not a file";
    default:
        return "it is not a file that can be read";
    }
}

/**
 * Read the header of an IDX file: the magic number, then the length of each dimension.
 * @param stream The expanded file, at its start.
 * @param dimensions How many dimensions it must have.
 * @param samples How many samples it must have, or ANY_COUNT.
 * @param [out] lengths The dimensions, samples first.
 * @param [out] bytes The product of the dimensions, at most MAX_BYTES.
 * @return what was wrong, empty if nothing.
 */
std::string
ReadIdxHeader(std::istream& stream,
              std::size_t dimensions,
              uint32_t samples,
              std::vector<uint32_t>& lengths,
              uint64_t& bytes)
{
    const std::string tooShort = "it ends inside the header";
    const uint32_t expectedMagic = 0x800 + static_cast<uint32_t>(dimensions);
    uint32_t magic;
    if (!ReadWord(stream, magic))
    {
        return ExplainFailure(stream, tooShort);
    }
    if (magic != expectedMagic)
    {
        return "it does not start as an IDX file of bytes with " + std::to_string(dimensions) +
               (dimensions == 1 ? " dimension" : " dimensions");
    }
    bytes = 1;
    for (std::size_t i = 0; i < dimensions; ++i)
    {
        uint32_t length;
        if (!ReadWord(stream, length))
        {
            return ExplainFailure(stream, tooShort);
        }
        if (length == 0)
        {
            return i == 0 ? "it holds no samples" : "its images have no pixels";
        }
        if (i == 0 && samples != ANY_COUNT && length != samples)
        {
            return "it has " + std::to_string(length) + " images, but there are " +
                   std::to_string(samples) + " labels";
        }
        if (i > 0 && length > MAX_SIDE)
        {
            return "its images have a side of " + std::to_string(length) + " pixels, more than " +
                   std::to_string(MAX_SIDE);
        }
        lengths.push_back(length);
        bytes *= length; // at most 2^32 * 2^12 * 2^12
    }
    if (bytes > MAX_BYTES)
    {
        return "its header promises " + std::to_string(bytes) + " bytes, more than " +
               std::to_string(MAX_BYTES);
    }
    return "";
}

/**
 * Read the bytes after the header. The memory grows with the content that is there, whatever the
 * header of a gzip file promises.
 * @param stream The expanded file, after its header.
 * @param bytes How many bytes the header promises.
 * @param failure What is wrong if reading breaks.
 * @param [out] content The bytes.
 * @return what was wrong, empty if nothing.
 */
std::string
ReadIdxBytes(std::istream& stream,
             uint64_t bytes,
             const std::string& failure,
             std::vector<uint8_t>& content)
{
    while (content.size() < bytes)
    {
        const std::size_t before = content.size();
        const std::size_t wanted = std::min<uint64_t>(CHUNK, bytes - before);
        content.resize(before + wanted);
        stream.read(reinterpret_cast<char*>(content.data() + before),
                    static_cast<std::streamsize>(wanted));
        if (stream.bad())
        {
            return failure;
        }
        if (stream.gcount() < static_cast<std::streamsize>(wanted))
        {
            return DescribeTruncation(bytes, before + static_cast<uint64_t>(stream.gcount()));
        }
    }
    if (stream.get() != std::istream::traits_type::eof())
    {
        return "it has bytes after the " + std::to_string(bytes) + " that its header promises";
    }
    return stream.bad() ? failure : "";
}

/**
 * @param path Plain or gzip IDX file of bytes.
 * @param dimensions How many dimensions it must have.
 * @param samples How many samples it must have, or ANY_COUNT.
 * @param [out] file What was read.
 * @return what was wrong, empty if nothing.
 */
std::string
ReadIdxContent(const std::string& path, std::size_t dimensions, uint32_t samples, IdxFile& file)
{
    std::string wrong = CheckIsFile(path);
    if (!wrong.empty())
    {
        return wrong;
    }
    std::error_code status;
    const uint64_t size = std::filesystem::file_size(path, status);
    std::ifstream plain(path, std::ios::binary);
    if (status || !plain)
    {
        return "it cannot be opened for reading";
    }
    const bool compressed = plain.get() == 0x1f && plain.get() == 0x8b;
    plain.clear();
    plain.seekg(0);
    boost::iostreams::filtering_istream stream;
    if (compressed)
    {
        stream.push(boost::iostreams::gzip_decompressor());
    }
    stream.push(plain);

    uint64_t bytes = 0;
    wrong = ReadIdxHeader(stream, dimensions, samples, file.dimensions, bytes);
    if (!wrong.empty())
    {
        return wrong;
    }
    if (!compressed)
    {
        const uint64_t header = 4 * (1 + dimensions);
        if (size < header + bytes)
        {
            return DescribeTruncation(bytes, size - header);
        }
        file.content.reserve(bytes);
    }
    return ReadIdxBytes(
        stream, bytes, compressed ? "its gzip data is damaged" : "reading it failed", file.content);
}

/**
 * Read an IDX file, with every failure as a sentence.
 * @param path Plain or gzip IDX file of bytes.
 * @param dimensions How many dimensions it must have.
 * @param samples How many samples it must have, or ANY_COUNT.
 * @param [out] file What was read.
 * @param [out] error What was wrong.
 * @return whether it was read.
 */
bool
ReadIdx(const std::string& path,
        std::size_t dimensions,
        uint32_t samples,
        IdxFile& file,
        std::string& error)
{
    std::string reason;
    try
    {
        reason = ReadIdxContent(path, dimensions, samples, file);
    }
    catch (const std::bad_alloc&)
    {
        reason = "there is not enough memory for it";
    }
    catch (const std::exception& exception)
    {
        reason = exception.what();
    }
    if (!reason.empty())
    {
        error = "Cannot read '" + path + "': " + reason + ".";
    }
    return reason.empty();
}

/**
 * Draw what the synthetic images of each class have in common: a few soft spots.
 * @param seed The seed.
 * @param rows Rows of an image.
 * @param columns Columns of an image.
 * @param classes Number of classes.
 * @return an image a class, brightness 0..1.
 */
std::vector<double>
DrawPrototypes(uint64_t seed, uint32_t rows, uint32_t columns, uint32_t classes)
{
    constexpr int BLOBS = 4; // soft spots of a class
    const std::size_t features = static_cast<std::size_t>(rows) * columns;
    std::vector<double> prototypes(classes * features);
    FederatedRandom random(seed, FederatedRandom::SYNTHETIC_DATA);
    const double radius = std::max(1.0, 0.15 * std::min(rows, columns));
    for (uint32_t label = 0; label < classes; ++label)
    {
        double* prototype = prototypes.data() + label * features;
        for (int blob = 0; blob < BLOBS; ++blob)
        {
            const double centerRow = (0.2 + 0.6 * random.Uniform()) * (rows - 1);
            const double centerColumn = (0.2 + 0.6 * random.Uniform()) * (columns - 1);
            for (uint32_t row = 0; row < rows; ++row)
            {
                for (uint32_t column = 0; column < columns; ++column)
                {
                    const double dr = (row - centerRow) / radius;
                    const double dc = (column - centerColumn) / radius;
                    double& pixel = prototype[row * columns + column];
                    pixel = std::min(1.0, pixel + std::max(0.0, 1 - dr * dr - dc * dc));
                }
            }
        }
    }
    return prototypes;
}

/**
 * Draw a synthetic image: a prototype, moved by up to a pixel, with noise.
 * @param prototype The image of its class, brightness 0..1.
 * @param rows Rows of an image.
 * @param columns Columns of an image.
 * @param noise The random stream.
 * @param [out] image The pixels.
 */
void
DrawImage(const double* prototype, int rows, int columns, FederatedRandom& noise, uint8_t* image)
{
    const int shiftRow = static_cast<int>(noise.Below(3)) - 1;
    const int shiftColumn = static_cast<int>(noise.Below(3)) - 1;
    const double brightness = 0.5 + 0.5 * noise.Uniform();
    for (int row = 0; row < rows; ++row)
    {
        for (int column = 0; column < columns; ++column)
        {
            // One word gives the grain (upper 16 bits) and the speckle (1 pixel in 64).
            const uint32_t word = noise();
            const int fromRow = row - shiftRow;
            const int fromColumn = column - shiftColumn;
            double value = 0;
            if (fromRow >= 0 && fromRow < rows && fromColumn >= 0 && fromColumn < columns)
            {
                value = brightness * prototype[fromRow * columns + fromColumn];
            }
            const double grain = static_cast<double>(word >> 16) * 0x1p-16;
            value *= 0.7 + 0.6 * grain;
            if (word % 64 == 0)
            {
                value = grain;
            }
            image[row * columns + column] = static_cast<uint8_t>(std::min(255.0, 255 * value));
        }
    }
}

} // namespace

FederatedDataset::FederatedDataset(uint32_t rows,
                                   uint32_t columns,
                                   uint32_t classes,
                                   std::vector<uint8_t> pixels,
                                   std::vector<uint8_t> labels)
    : m_rows(rows),
      m_columns(columns),
      m_classes(classes),
      m_pixels(std::move(pixels)),
      m_labels(std::move(labels))
{
    NS_ABORT_MSG_IF(classes < 1 || classes > 256, classes << " classes, not 1..256");
    NS_ABORT_MSG_IF(m_pixels.size() != m_labels.size() * rows * columns,
                    m_pixels.size() << " pixels for " << m_labels.size() << " images of " << rows
                                    << " x " << columns);
    NS_ABORT_MSG_IF(std::any_of(m_labels.begin(),
                                m_labels.end(),
                                [classes](uint8_t label) { return label >= classes; }),
                    "a label is not below the number of classes, " << classes);
}

std::shared_ptr<const FederatedDataset>
FederatedDataset::LoadIdx(const std::string& imagesPath,
                          const std::string& labelsPath,
                          std::string& error,
                          uint32_t classes)
{
    if (classes < 1 || classes > 256)
    {
        error = "Cannot read '" + labelsPath + "' with " + std::to_string(classes) +
                " classes: there can be 1 to 256.";
        return nullptr;
    }
    IdxFile labels;
    IdxFile images;
    // The number of labels, whose file is small, gives the number of images.
    if (!ReadIdx(labelsPath, 1, ANY_COUNT, labels, error) ||
        !ReadIdx(imagesPath, 3, labels.dimensions[0], images, error))
    {
        return nullptr;
    }
    const auto wrong = std::find_if(labels.content.begin(),
                                    labels.content.end(),
                                    [classes](uint8_t label) { return label >= classes; });
    if (wrong != labels.content.end())
    {
        error = "Cannot use '" + labelsPath + "': the label of sample " +
                std::to_string(wrong - labels.content.begin()) + " is " + std::to_string(*wrong) +
                ", but there are " + std::to_string(classes) + " classes.";
        return nullptr;
    }
    return std::make_shared<const FederatedDataset>(images.dimensions[1],
                                                    images.dimensions[2],
                                                    classes,
                                                    std::move(images.content),
                                                    std::move(labels.content));
}

std::shared_ptr<const FederatedDataset>
FederatedDataset::Pool(uint32_t side) const
{
    NS_ABORT_MSG_IF(side == 0 || m_rows % side != 0 || m_columns % side != 0,
                    "FederatedDataset: squares with a side of " << side << " do not tile images of "
                                                                << m_rows << " x " << m_columns);
    const uint32_t area = side * side;
    const uint32_t columns = m_columns / side;
    std::vector<uint8_t> pixels;
    pixels.reserve(m_pixels.size() / area);
    std::vector<uint32_t> sums(columns);
    for (std::size_t row = 0; row < m_pixels.size() / m_columns; ++row)
    {
        const uint8_t* values = m_pixels.data() + row * m_columns;
        for (uint32_t column = 0; column < m_columns; ++column)
        {
            sums[column / side] += values[column];
        }
        if (row % side == side - 1) // rows of an image are a multiple of side
        {
            for (uint32_t& sum : sums)
            {
                pixels.push_back(static_cast<uint8_t>((sum + area / 2) / area));
                sum = 0;
            }
        }
    }
    return std::make_shared<const FederatedDataset>(
        m_rows / side, columns, m_classes, std::move(pixels), m_labels);
}

FederatedData
FederatedData::Pool(uint32_t side) const
{
    return {train->Pool(side), test->Pool(side)};
}

FederatedData
FederatedData::LoadDirectory(const std::string& folder, std::string& error)
{
    static const std::array<const char*, 4> NAMES{"train-images-idx3-ubyte",
                                                  "train-labels-idx1-ubyte",
                                                  "t10k-images-idx3-ubyte",
                                                  "t10k-labels-idx1-ubyte"};
    const std::string advice = " ('make data' gets MNIST into data/mnist).";
    std::error_code status;
    if (!std::filesystem::is_directory(folder, status))
    {
        error = "There is no data folder '" + folder + "'" + advice;
        return {};
    }
    std::array<std::string, 4> paths;
    for (std::size_t i = 0; i < NAMES.size(); ++i)
    {
        paths[i] = (std::filesystem::path(folder) / NAMES[i]).string();
        if (!std::filesystem::exists(paths[i], status))
        {
            paths[i] += ".gz";
        }
        if (!std::filesystem::exists(paths[i], status))
        {
            error = "The data folder '" + folder + "' has neither " + NAMES[i] + " nor " +
                    NAMES[i] + ".gz" + advice;
            return {};
        }
    }
    FederatedData data;
    data.train = FederatedDataset::LoadIdx(paths[0], paths[1], error);
    if (!data.train)
    {
        return {};
    }
    data.test = FederatedDataset::LoadIdx(paths[2], paths[3], error);
    if (!data.test)
    {
        return {};
    }
    if (data.train->GetRows() != data.test->GetRows() ||
        data.train->GetColumns() != data.test->GetColumns())
    {
        error = "Cannot use '" + paths[0] + "' with '" + paths[2] +
                "': their images have different sizes.";
        return {};
    }
    return data;
}

FederatedData
FederatedData::MakeSynthetic(uint64_t seed,
                             uint32_t trainSamples,
                             uint32_t testSamples,
                             uint32_t rows,
                             uint32_t columns,
                             uint32_t classes)
{
    NS_ABORT_MSG_IF(classes < 1 || classes > 256, classes << " classes, not 1..256");
    NS_ABORT_MSG_IF(rows < 1 || columns < 1, "images of " << rows << " x " << columns);
    const std::size_t features = static_cast<std::size_t>(rows) * columns;
    const std::vector<double> prototypes = DrawPrototypes(seed, rows, columns, classes);
    const auto make = [&](uint32_t samples, uint32_t part)
    {
        FederatedRandom noise(seed, FederatedRandom::SYNTHETIC_DATA, part);
        std::vector<uint8_t> labels(samples);
        std::vector<uint8_t> pixels(samples * features);
        for (uint32_t sample = 0; sample < samples; ++sample)
        {
            labels[sample] = static_cast<uint8_t>(sample % classes);
            DrawImage(prototypes.data() + labels[sample] * features,
                      static_cast<int>(rows),
                      static_cast<int>(columns),
                      noise,
                      pixels.data() + sample * features);
        }
        return std::make_shared<const FederatedDataset>(
            rows, columns, classes, std::move(pixels), std::move(labels));
    };
    return {make(trainSamples, 1), make(testSamples, 2)};
}

} // namespace ns3
