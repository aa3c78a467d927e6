// SPDX-License-Identifier: GPL-2.0-only

#include "contact-sheet.h"

#include "ns3/assert.h"

#include <boost/crc.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/zlib.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace ns3
{

namespace
{

constexpr std::size_t GAP = 2;     // screen pixels between images
constexpr uint8_t GAP_LEVEL = 128; // gray

/**
 * @param value A number.
 * @return its four bytes, the most significant first.
 */
std::string
ToBytes(uint32_t value)
{
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
    {
        bytes += static_cast<char>(value >> shift & 0xFF);
    }
    return bytes;
}

/**
 * Write a chunk of a PNG file: length, type, data, CRC-32 of type and data.
 * @param stream The file.
 * @param type Four letters.
 * @param data Its content.
 */
void
WriteChunk(std::ostream& stream, const std::string& type, const std::string& data)
{
    boost::crc_32_type crc;
    crc.process_bytes(type.data(), type.size());
    crc.process_bytes(data.data(), data.size());
    stream << ToBytes(static_cast<uint32_t>(data.size())) << type << data
           << ToBytes(static_cast<uint32_t>(crc.checksum()));
}

} // namespace

ContactSheet::ContactSheet(std::size_t imageRows,
                           std::size_t imageColumns,
                           std::size_t down,
                           std::size_t across,
                           std::size_t scale)
    : m_imageRows(imageRows),
      m_imageColumns(imageColumns),
      m_down(down),
      m_across(across),
      m_scale(scale),
      m_pixels(GetHeight() * GetWidth(), GAP_LEVEL)
{
}

std::size_t
ContactSheet::GetHeight() const
{
    return m_down * (m_imageRows * m_scale + GAP) + GAP;
}

std::size_t
ContactSheet::GetWidth() const
{
    return m_across * (m_imageColumns * m_scale + GAP) + GAP;
}

void
ContactSheet::SetImage(std::size_t row, std::size_t column, const std::vector<double>& image)
{
    NS_ASSERT_MSG(row < m_down && column < m_across, "There is no such place on the sheet");
    NS_ASSERT_MSG(image.size() == m_imageRows * m_imageColumns, "The image has another size");
    const std::size_t height = m_imageRows * m_scale;
    const std::size_t width = m_imageColumns * m_scale;
    const std::size_t top = GAP + row * (height + GAP);
    const std::size_t left = GAP + column * (width + GAP);
    for (std::size_t y = 0; y < height; ++y)
    {
        for (std::size_t x = 0; x < width; ++x)
        {
            const double value = image[y / m_scale * m_imageColumns + x / m_scale];
            const double level = value > 0 ? std::min(value, 1.0) : 0; // NaN: 0
            m_pixels[(top + y) * GetWidth() + left + x] =
                static_cast<uint8_t>(std::lround(255 * level));
        }
    }
}

void
ContactSheet::WritePng(std::ostream& stream) const
{
    std::string header = ToBytes(static_cast<uint32_t>(GetWidth()));
    header += ToBytes(static_cast<uint32_t>(GetHeight()));
    header += std::string("\x08\0\0\0\0", 5); // 8 bits, gray, deflate, filters, no interlace

    std::string lines;
    {
        boost::iostreams::filtering_ostream deflate;
        deflate.push(boost::iostreams::zlib_compressor());
        deflate.push(boost::iostreams::back_inserter(lines));
        for (std::size_t y = 0; y < GetHeight(); ++y)
        {
            deflate.put('\0'); // this line is not filtered
            deflate.write(reinterpret_cast<const char*>(m_pixels.data() + y * GetWidth()),
                          static_cast<std::streamsize>(GetWidth()));
        }
    }
    stream << "\x89PNG\r\n\x1A\n";
    WriteChunk(stream, "IHDR", header);
    WriteChunk(stream, "IDAT", lines);
    WriteChunk(stream, "IEND", "");
}

void
ContactSheet::WritePgm(std::ostream& stream) const
{
    stream << "P5\n" << GetWidth() << ' ' << GetHeight() << "\n255\n";
    stream.write(reinterpret_cast<const char*>(m_pixels.data()),
                 static_cast<std::streamsize>(m_pixels.size()));
}

} // namespace ns3
