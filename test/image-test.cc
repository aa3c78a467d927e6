// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/contact-sheet.h"
#include "ns3/image-quality.h"

#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/zlib.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

using namespace ns3;

namespace
{

/** @return a_i = 0.5 + 0.5 sin(0.1 i), as golden values assume. */
std::vector<double>
MakeImage(std::size_t size)
{
    std::vector<double> image(size);
    for (std::size_t i = 0; i < size; ++i)
    {
        image[i] = 0.5 + 0.5 * std::sin(0.1 * i);
    }
    return image;
}

/** @return the same + 0.3 cos(0.37 i): partly outside [0, 1]. */
std::vector<double>
MakeDisturbedImage(std::size_t size)
{
    std::vector<double> image = MakeImage(size);
    for (std::size_t i = 0; i < size; ++i)
    {
        image[i] += 0.3 * std::cos(0.37 * i);
    }
    return image;
}

/** @return CRC-32 of PNG, bit by bit as its specification has it. */
uint32_t
GetCrc(const std::string& bytes)
{
    uint32_t crc = 0xFFFFFFFF;
    for (unsigned char byte : bytes)
    {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit)
        {
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
        }
    }
    return ~crc;
}

/** @return a number of four bytes, the most significant first. */
uint32_t
ReadNumber(const std::string& bytes, std::size_t position)
{
    uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
    {
        number = number << 8 | static_cast<uint8_t>(bytes.at(position + i));
    }
    return number;
}

} // namespace

TEST(ImageQuality, EqualsAnIndependentImplementation)
{
    // Golden values: scipy.signal.convolve2d(..., 'valid') with the window of the paper.
    const ImageQuality quality =
        ImageQuality::Compare(MakeImage(784), MakeDisturbedImage(784), 28, 28);
    EXPECT_NEAR(quality.ssim, 0.83846182626824, 1e-12);
    EXPECT_NEAR(quality.mse, 0.0332500953581968, 1e-14);
    EXPECT_NEAR(quality.psnr, 14.782071048427, 1e-10);
    EXPECT_NEAR(ImageQuality::Compare(MakeImage(221), MakeDisturbedImage(221), 13, 17).ssim,
                0.874265743927171,
                1e-12);
}

TEST(ImageQuality, KnownImagesHaveKnownQuality)
{
    const std::vector<double> image = MakeImage(784);
    const ImageQuality same = ImageQuality::Compare(image, image, 28, 28);
    EXPECT_DOUBLE_EQ(same.ssim, 1);
    EXPECT_EQ(same.mse, 0);
    EXPECT_EQ(same.psnr, std::numeric_limits<double>::infinity());

    // Two flat images: only the means count, (2 a b + C1) / (a^2 + b^2 + C1).
    const ImageQuality flat =
        ImageQuality::Compare(std::vector<double>(784, 0.2), std::vector<double>(784, 0.6), 28, 28);
    EXPECT_NEAR(flat.ssim, (2 * 0.2 * 0.6 + 1e-4) / (0.04 + 0.36 + 1e-4), 1e-12);
    EXPECT_NEAR(flat.mse, 0.16, 1e-14);

    // What lies outside [0, 1] is clipped before.
    const ImageQuality clipped =
        ImageQuality::Compare(std::vector<double>(784, 1), std::vector<double>(784, 7), 28, 28);
    EXPECT_EQ(clipped.mse, 0);
    EXPECT_DOUBLE_EQ(clipped.ssim, 1);
}

TEST(ImageQuality, NegativeOfAnImageIsNotSimilar)
{
    const std::vector<double> image = MakeImage(784);
    std::vector<double> negative = image;
    for (double& value : negative)
    {
        value = 1 - value;
    }
    EXPECT_LT(ImageQuality::Compare(image, negative, 28, 28).ssim, -0.5);
}

TEST(ImageQuality, SsimOfLessThanAWindowIsUnknown)
{
    const ImageQuality quality =
        ImageQuality::Compare(MakeImage(110), MakeDisturbedImage(110), 10, 11);
    EXPECT_TRUE(std::isnan(quality.ssim));
    EXPECT_GT(quality.mse, 0);
}

TEST(ContactSheet, PngIsWhatItsSpecificationSays)
{
    ContactSheet sheet(3, 5, 2, 4, 3);
    sheet.SetImage(1, 2, MakeDisturbedImage(15));
    std::ostringstream stream;
    sheet.WritePng(stream);
    const std::string png = stream.str();

    ASSERT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1A\n");
    std::vector<std::string> types;
    std::vector<std::string> chunks;
    for (std::size_t at = 8; at < png.size();)
    {
        const uint32_t length = ReadNumber(png, at);
        ASSERT_LE(at + length + 12, png.size());
        types.push_back(png.substr(at + 4, 4));
        chunks.push_back(png.substr(at + 8, length));
        EXPECT_EQ(ReadNumber(png, at + 8 + length), GetCrc(png.substr(at + 4, length + 4)));
        at += length + 12;
    }
    ASSERT_EQ(types, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
    EXPECT_TRUE(chunks[2].empty());
    ASSERT_EQ(chunks[0].size(), 13U);
    const std::size_t width = ReadNumber(chunks[0], 0);
    const std::size_t height = ReadNumber(chunks[0], 4);
    EXPECT_EQ(width, sheet.GetWidth());
    EXPECT_EQ(height, sheet.GetHeight());
    EXPECT_EQ(chunks[0].substr(8), std::string("\x08\0\0\0\0", 5)); // 8-bit gray, no interlace

    boost::iostreams::filtering_istream inflate;
    inflate.push(boost::iostreams::zlib_decompressor());
    inflate.push(boost::iostreams::array_source(chunks[1].data(), chunks[1].size()));
    const std::string lines{std::istreambuf_iterator<char>(inflate), {}};
    ASSERT_EQ(lines.size(), height * (width + 1));

    std::ostringstream pgm;
    sheet.WritePgm(pgm);
    const std::string header =
        "P5\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
    ASSERT_EQ(pgm.str().substr(0, header.size()), header);
    for (std::size_t y = 0; y < height; ++y)
    {
        ASSERT_EQ(lines[y * (width + 1)], 0) << "filter of line " << y;
        EXPECT_EQ(lines.substr(y * (width + 1) + 1, width),
                  pgm.str().substr(header.size() + y * width, width));
    }
}

TEST(ContactSheet, ImagesStandInTheirPlace)
{
    ContactSheet sheet(2, 2, 1, 2, 1);
    sheet.SetImage(0, 1, {0, 1, std::numeric_limits<double>::quiet_NaN(), 0.5});
    sheet.SetImage(0, 0, {-3, 8, 0.1, 0.9});
    std::ostringstream stream;
    sheet.WritePgm(stream);
    // Two images of 2 x 2 with gray lines of two pixels around and between.
    ASSERT_EQ(sheet.GetWidth(), 10U);
    ASSERT_EQ(sheet.GetHeight(), 6U);
    const std::string text = stream.str();
    const std::string pixels = text.substr(text.size() - 60);
    std::vector<int> levels;
    for (std::size_t y = 2; y < 4; ++y)
    {
        for (std::size_t x : {1, 2, 3, 4, 6, 7, 8})
        {
            levels.push_back(static_cast<uint8_t>(pixels[10 * y + x]));
        }
    }
    EXPECT_EQ(levels,
              (std::vector<int>{128, 0, 255, 128, 0, 255, 128, 128, 26, 230, 128, 0, 128, 128}));
}
