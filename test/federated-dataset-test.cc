// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-dataset.h"

#include "federated-test-folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

using namespace ns3;

namespace
{

/**
 * @param word A number.
 * @return its four bytes, most significant first.
 */
std::string
Word(uint32_t word)
{
    return {static_cast<char>(word >> 24),
            static_cast<char>(word >> 16),
            static_cast<char>(word >> 8),
            static_cast<char>(word)};
}

/**
 * @param content Any bytes.
 * @return them as gzip.
 */
std::string
Gzip(const std::string& content)
{
    std::istringstream in(content);
    std::ostringstream out;
    boost::iostreams::filtering_istream stream;
    stream.push(boost::iostreams::gzip_compressor());
    stream.push(in);
    boost::iostreams::copy(stream, out);
    return out.str();
}

/** Three images of 2 x 2 pixels, and their labels. */
class FederatedDatasetFiles : public FederatedTestFolder
{
  protected:
    /**
     * @param images Bytes of the images file.
     * @param labels Bytes of the labels file.
     * @return the loader's error, empty if it loaded.
     */
    std::string ErrorOf(const std::string& images, const std::string& labels)
    {
        const std::string imagesPath = Write("images", images);
        const std::string labelsPath = Write("labels", labels);
        std::string error;
        const auto data = FederatedDataset::LoadIdx(imagesPath, labelsPath, error);
        EXPECT_EQ(data == nullptr, !error.empty());
        EXPECT_TRUE(error.empty() || error.find(GetFolder()) != std::string::npos)
            << "the path is missing: " << error;
        EXPECT_EQ(error.find('\n'), std::string::npos);
        return error;
    }

    const std::string m_imagesHeader = Word(0x803) + Word(3) + Word(2) + Word(2); //!< 3 x 2 x 2.
    const std::string m_images =
        m_imagesHeader + std::string("\x00\x01\x02\x03\x10\x11\x12\x13\xfc\xfd\xfe\xff", 12);
    const std::string m_labels = Word(0x801) + Word(3) + std::string("\x09\x00\x05", 3); //!< 3.
};

/**
 * @param text A text.
 * @param part Another.
 * @return whether the text contains the part.
 */
testing::AssertionResult
Contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "'" << text << "' lacks '" << part << "'";
}

} // namespace

TEST_F(FederatedDatasetFiles, PlainAndGzipGiveTheSameSamples)
{
    for (bool compressed : {false, true})
    {
        std::string error;
        const auto data =
            FederatedDataset::LoadIdx(Write("i", compressed ? Gzip(m_images) : m_images),
                                      Write("l", compressed ? Gzip(m_labels) : m_labels),
                                      error);
        ASSERT_TRUE(data) << error;
        EXPECT_EQ(data->GetSize(), 3U);
        EXPECT_EQ(data->GetRows(), 2U);
        EXPECT_EQ(data->GetColumns(), 2U);
        EXPECT_EQ(data->GetFeatures(), 4U);
        EXPECT_EQ(data->GetClasses(), 10U);
        EXPECT_EQ(data->GetLabels(), (std::vector<uint8_t>{9, 0, 5}));
        EXPECT_EQ(data->GetLabel(0), 9);
        EXPECT_EQ(data->GetPixels(1)[2], 0x12);
        EXPECT_EQ(data->GetPixels(2)[3], 0xff);
    }
}

TEST_F(FederatedDatasetFiles, WrongMagicIsRefused)
{
    EXPECT_TRUE(Contains(ErrorOf(m_labels, m_labels), "IDX file of bytes with 3 dimensions"));
    EXPECT_TRUE(Contains(ErrorOf(m_images, m_images), "IDX file of bytes with 1 dimension."));
    EXPECT_TRUE(Contains(ErrorOf("\x89PNG and so on", m_labels), "IDX file"));
    EXPECT_TRUE(Contains(ErrorOf(Word(0xd03) + m_images.substr(4), m_labels), "IDX file"));
}

TEST_F(FederatedDatasetFiles, TruncatedFilesAreRefused)
{
    for (std::size_t size = 0; size < m_images.size(); ++size)
    {
        const std::string part = m_images.substr(0, size);
        const char* reason = size < 16 ? "ends inside the header" : "is truncated";
        EXPECT_TRUE(Contains(ErrorOf(part, m_labels), reason)) << size;
        EXPECT_TRUE(Contains(ErrorOf(Gzip(part), m_labels), reason)) << size;
    }
    EXPECT_TRUE(Contains(ErrorOf(m_images, m_labels.substr(0, 10)), "promises 3 bytes"));
}

TEST_F(FederatedDatasetFiles, DamagedGzipIsRefused)
{
    const std::string whole = Gzip(m_images);
    for (std::size_t size = 2; size < whole.size(); ++size)
    {
        EXPECT_NE(ErrorOf(whole.substr(0, size), m_labels), "") << "cut to " << size;
    }
    // From the compressed data to the checksum. Before it are time and system; the last four bytes
    // repeat the length, which the checksum protects already.
    for (std::size_t i = 10; i < whole.size() - 4; ++i)
    {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(~damaged[i]);
        EXPECT_NE(ErrorOf(damaged, m_labels), "") << "byte " << i;
    }
    EXPECT_NE(ErrorOf(whole + "x", m_labels), "");
}

TEST_F(FederatedDatasetFiles, TrailingBytesAreRefused)
{
    EXPECT_TRUE(Contains(ErrorOf(m_images + "x", m_labels), "bytes after the 12"));
    EXPECT_TRUE(Contains(ErrorOf(Gzip(m_images + "x"), m_labels), "bytes after the 12"));
    EXPECT_TRUE(Contains(ErrorOf(m_images, m_labels + "x"), "bytes after the 3"));
}

TEST_F(FederatedDatasetFiles, AbsurdDimensionsAreRefusedWithoutMemoryForThem)
{
    const auto header = [](uint32_t count, uint32_t rows, uint32_t columns)
    { return Word(0x803) + Word(count) + Word(rows) + Word(columns); };
    EXPECT_TRUE(Contains(ErrorOf(header(0, 2, 2), m_labels), "no samples"));
    EXPECT_TRUE(Contains(ErrorOf(header(3, 0, 2), m_labels), "no pixels"));
    EXPECT_TRUE(Contains(ErrorOf(header(3, 2, 0), m_labels), "no pixels"));
    EXPECT_TRUE(Contains(ErrorOf(header(3, 4097, 2), m_labels), "side of 4097"));
    EXPECT_TRUE(Contains(ErrorOf(header(3, 2, 0xffffffff), m_labels), "side of 4294967295"));
    const auto labels = [](uint32_t count)
    { return Word(0x801) + Word(count) + std::string(count, '\0'); };
    EXPECT_TRUE(Contains(ErrorOf(header(65, 4096, 4096), labels(65)), "more than"));
    for (const std::string& images : {header(63, 4096, 4096), Gzip(header(63, 4096, 4096))})
    {
        EXPECT_TRUE(Contains(ErrorOf(images, labels(63)), "promises 1056964608 bytes"));
    }
}

TEST_F(FederatedDatasetFiles, CountsThatDifferAreRefused)
{
    EXPECT_TRUE(Contains(ErrorOf(m_images, Word(0x801) + Word(2) + std::string(2, '\0')),
                         "3 images, but there are 2 labels"));
}

TEST_F(FederatedDatasetFiles, ImagesThatNoLabelAskedForAreNotEvenRead)
{
    const std::string many = Word(0x803) + Word(0xffffffff) + Word(4096) + Word(4096);
    EXPECT_TRUE(Contains(ErrorOf(many, m_labels), "4294967295 images, but there are 3 labels"));
}

TEST_F(FederatedDatasetFiles, LabelsOutOfRangeAreRefused)
{
    EXPECT_TRUE(Contains(ErrorOf(m_images, Word(0x801) + Word(3) + std::string("\x09\x0a\x01", 3)),
                         "label of sample 1 is 10, but there are 10 classes"));
    std::string error;
    const std::string images = Write("i", m_images);
    const std::string labels = Write("l", m_labels);
    EXPECT_FALSE(FederatedDataset::LoadIdx(images, labels, error, 9));
    EXPECT_TRUE(Contains(error, "label of sample 0 is 9, but there are 9 classes"));
    EXPECT_TRUE(FederatedDataset::LoadIdx(images, labels, error, 256));
    EXPECT_FALSE(FederatedDataset::LoadIdx(images, labels, error, 0));
    EXPECT_FALSE(FederatedDataset::LoadIdx(images, labels, error, 257));
}

TEST_F(FederatedDatasetFiles, WhatIsNoFileIsRefused)
{
    std::string error;
    const std::string labels = Write("l", m_labels);
    EXPECT_FALSE(FederatedDataset::LoadIdx(GetFolder(), labels, error));
    EXPECT_TRUE(Contains(error, "is a folder"));
    EXPECT_FALSE(FederatedDataset::LoadIdx(GetFolder() + "/none", labels, error));
    EXPECT_TRUE(Contains(error, "no such file"));
    EXPECT_FALSE(FederatedDataset::LoadIdx("/dev/zero", labels, error));
    EXPECT_TRUE(Contains(error, "not a file"));
    EXPECT_FALSE(FederatedDataset::LoadIdx("", labels, error));
}

TEST_F(FederatedDatasetFiles, FolderIsReadPlainOrGzip)
{
    Write("train-images-idx3-ubyte", m_images);
    Write("train-labels-idx1-ubyte.gz", Gzip(m_labels));
    Write("t10k-images-idx3-ubyte.gz", Gzip(m_images));
    std::string error;
    EXPECT_FALSE(FederatedData::LoadDirectory(GetFolder(), error).train);
    EXPECT_TRUE(Contains(error, "neither t10k-labels-idx1-ubyte nor t10k-labels-idx1-ubyte.gz"));
    EXPECT_TRUE(Contains(error, "make data"));
    Write("t10k-labels-idx1-ubyte", m_labels);
    const auto data = FederatedData::LoadDirectory(GetFolder(), error);
    ASSERT_TRUE(data.train && data.test) << error;
    EXPECT_EQ(data.train->GetSize(), 3U);

    Write("t10k-images-idx3-ubyte", Word(0x803) + Word(3) + Word(1) + Word(1) + "abc");
    EXPECT_FALSE(FederatedData::LoadDirectory(GetFolder(), error).train);
    EXPECT_TRUE(Contains(error, "different sizes"));
    EXPECT_FALSE(FederatedData::LoadDirectory(GetFolder() + "/none", error).train);
    EXPECT_TRUE(Contains(error, "make data"));
}

TEST(FederatedDataset, MnistHasItsKnownContent)
{
    const std::string folder = std::string(FEDERATED_SOURCE_DIR) + "/data/mnist";
    if (!std::filesystem::exists(folder))
    {
        GTEST_SKIP() << "no MNIST in " << folder << " (make data)";
    }
    std::string error;
    const auto data = FederatedData::LoadDirectory(folder, error);
    ASSERT_TRUE(data.train && data.test) << error;
    EXPECT_EQ(data.train->GetSize(), 60000U);
    EXPECT_EQ(data.test->GetSize(), 10000U);
    EXPECT_EQ(data.train->GetFeatures(), 784U);
    EXPECT_EQ(data.train->GetLabel(0), 5);
    EXPECT_EQ(data.test->GetLabel(0), 7);
    // The known mean .1307 and standard deviation .3081 of the training pixels, scale /255.
    double sum = 0;
    double squares = 0;
    double zeros = 0;
    for (uint32_t i = 0; i < data.train->GetSize(); ++i)
    {
        for (uint32_t j = 0; j < data.train->GetFeatures(); ++j)
        {
            const double pixel = data.train->GetPixels(i)[j];
            sum += pixel;
            squares += pixel * pixel;
            zeros += pixel == 0 ? 1 : 0;
        }
    }
    const double count = 60000.0 * 784;
    EXPECT_NEAR(sum / count / 255, 0.1307, 5e-5);
    EXPECT_NEAR(std::sqrt(squares / count - std::pow(sum / count, 2)) / 255, 0.3081, 5e-5);
    EXPECT_NEAR(zeros / count, 0.81, 0.005);
}

TEST(FederatedDataset, PoolingAveragesSquaresOfPixels)
{
    // Two images of 2 x 4 pixels.
    const FederatedDataset dataset(
        2, 4, 3, {0, 1, 10, 20, 2, 4, 30, 41, 255, 255, 0, 0, 255, 255, 0, 1}, {2, 1});
    const auto pooled = dataset.Pool(2);
    EXPECT_EQ(pooled->GetRows(), 1U);
    EXPECT_EQ(pooled->GetColumns(), 2U);
    EXPECT_EQ(pooled->GetClasses(), 3U);
    EXPECT_EQ(pooled->GetLabels(), dataset.GetLabels());
    // 7/4 and 101/4, rounded
    EXPECT_EQ(std::vector<uint8_t>(pooled->GetPixels(0), pooled->GetPixels(2)),
              (std::vector<uint8_t>{2, 25, 255, 0}));
    const auto same = dataset.Pool(1);
    EXPECT_TRUE(std::equal(dataset.GetPixels(0), dataset.GetPixels(2), same->GetPixels(0)));
    EXPECT_DEATH(dataset.Pool(4), "squares with a side of 4 do not tile images of 2 x 4");
    EXPECT_DEATH(dataset.Pool(0), "squares with a side of 0");

    const FederatedData sets = FederatedData::MakeSynthetic(1, 20, 10, 8, 8, 4).Pool(4);
    EXPECT_EQ(sets.train->GetFeatures(), 4U);
    EXPECT_EQ(sets.test->GetSize(), 10U);
}

TEST(FederatedDataset, SyntheticSetsDependOnTheSeedAlone)
{
    const auto pixels = [](const FederatedDataset& data)
    { return std::vector<uint8_t>(data.GetPixels(0), data.GetPixels(data.GetSize())); };
    const auto one = FederatedData::MakeSynthetic(1, 200, 200);
    const auto same = FederatedData::MakeSynthetic(1, 200, 100);
    const auto other = FederatedData::MakeSynthetic(2, 200, 100);
    EXPECT_EQ(pixels(*one.train), pixels(*same.train));
    EXPECT_NE(pixels(*one.train), pixels(*other.train));
    EXPECT_NE(pixels(*one.train), pixels(*one.test));
    EXPECT_EQ(same.test->GetSize(), 100U);
    EXPECT_EQ(one.train->GetRows(), 28U);
}

TEST(FederatedDataset, SyntheticSetsAreMostlyBlackAndCanBeLearned)
{
    for (uint64_t seed = 0; seed < 10; ++seed)
    {
        const auto data = FederatedData::MakeSynthetic(seed, 1000, 500, 16, 20, 7);
        const uint32_t features = data.train->GetFeatures();
        ASSERT_EQ(features, 320U);
        ASSERT_EQ(data.train->GetClasses(), 7U);
        // Nearest class mean, by cosine (samples differ in brightness).
        std::vector<std::vector<double>> means(7, std::vector<double>(features));
        double zeros = 0;
        for (uint32_t i = 0; i < data.train->GetSize(); ++i)
        {
            for (uint32_t j = 0; j < features; ++j)
            {
                means[data.train->GetLabel(i)][j] += data.train->GetPixels(i)[j];
                zeros += data.train->GetPixels(i)[j] == 0 ? 1 : 0;
            }
        }
        EXPECT_GT(zeros / (1000.0 * features), 0.7);
        double correct = 0;
        for (uint32_t i = 0; i < data.test->GetSize(); ++i)
        {
            uint32_t best = 0;
            double bestCosine = -1;
            for (uint32_t label = 0; label < 7; ++label)
            {
                double product = 0;
                double norm = 0;
                for (uint32_t j = 0; j < features; ++j)
                {
                    product += means[label][j] * data.test->GetPixels(i)[j];
                    norm += means[label][j] * means[label][j];
                }
                if (product / std::sqrt(norm) > bestCosine)
                {
                    bestCosine = product / std::sqrt(norm);
                    best = label;
                }
            }
            correct += best == data.test->GetLabel(i) ? 1 : 0;
        }
        EXPECT_GT(correct / 500, 0.9) << "seed " << seed;
    }
}

TEST(PixelScale, HasTheTwoScalesOfThePaper)
{
    const auto unit = PixelScale::Unit();
    const auto standard = PixelScale::Standard();
    for (int pixel = 0; pixel < 256; ++pixel)
    {
        EXPECT_NEAR(unit.factor * pixel + unit.offset, pixel / 255.0, 1e-6);
        EXPECT_NEAR(
            standard.factor * pixel + standard.offset, (pixel / 255.0 - 0.1307) / 0.3081, 1e-5);
    }
    EXPECT_EQ(unit.offset, 0);
}
