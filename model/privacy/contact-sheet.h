// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONTACT_SHEET_H
#define CONTACT_SHEET_H

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Small gray images side by side in one picture, each pixel as a square of screen pixels,
 * with a gray line between them.
 */
class ContactSheet
{
  public:
    /**
     * @param imageRows Height of every image.
     * @param imageColumns Width of every image.
     * @param down Images below each other.
     * @param across Images side by side.
     * @param scale Screen pixels per pixel.
     */
    ContactSheet(std::size_t imageRows,
                 std::size_t imageColumns,
                 std::size_t down,
                 std::size_t across,
                 std::size_t scale = 2);

    /**
     * Put an image in its place.
     * @param row Row of the sheet, from the top.
     * @param column Column of the sheet.
     * @param image imageRows x imageColumns values, row by row; 0 is black and 1 white, values
     * beyond are clipped, NaN is black.
     */
    void SetImage(std::size_t row, std::size_t column, const std::vector<double>& image);

    /** @return the height in screen pixels. */
    std::size_t GetHeight() const;

    /** @return the width in screen pixels. */
    std::size_t GetWidth() const;

    /** @param stream Where the sheet goes, as PNG with 8 bits a pixel. */
    void WritePng(std::ostream& stream) const;

    /** @param stream Where the sheet goes, as binary PGM. */
    void WritePgm(std::ostream& stream) const;

  private:
    std::size_t m_imageRows;       //!< Height of every image.
    std::size_t m_imageColumns;    //!< Width of every image.
    std::size_t m_down;            //!< Images below each other.
    std::size_t m_across;          //!< Images side by side.
    std::size_t m_scale;           //!< Screen pixels per pixel.
    std::vector<uint8_t> m_pixels; //!< Gray levels, row by row.
};

} // namespace ns3

#endif // CONTACT_SHEET_H
