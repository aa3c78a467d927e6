// SPDX-License-Identifier: GPL-2.0-only

#include "saved-model.h"

#include "ns3/federated-number.h"
#include "ns3/little-endian.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

namespace ns3
{

namespace
{

// Before the header: magic, version 1.0, and the size of the header, two bytes.
const std::string MAGIC("\x93NUMPY\x01\x00", 8);
constexpr std::size_t START = 10;
constexpr std::size_t ALIGNMENT = 64; // of the data, as NumPy has it

const std::string FLOATS = "<f4";
const std::string ROUND = "<i8";
constexpr std::size_t ROUND_SIZE = 8;

/** What the header of an array says. */
struct ArrayHeader
{
    std::string type;  //!< As NumPy writes it: <f4.
    std::string shape; //!< Without spaces: (7850,).
};

/**
 * @param type Type of the items.
 * @param shape Shape of the array.
 * @return all that is before the data of an array.
 */
std::string
MakeHeader(const std::string& type, const std::string& shape)
{
    std::string text =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    const std::size_t size = (START + text.size() + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    text.resize(size - START - 1, ' ');
    text += '\n';
    return MAGIC + static_cast<char>(text.size() % 256) + static_cast<char>(text.size() / 256) +
           text;
}

/**
 * @param [in,out] text A text; what is taken is removed.
 * @param start How it has to begin.
 * @return whether it does; then that was taken.
 */
bool
Take(std::string& text, const std::string& start)
{
    const bool begins = text.compare(0, start.size(), start) == 0;
    text.erase(0, begins ? start.size() : 0);
    return begins;
}

/**
 * @param [in,out] text A text; what is taken is removed.
 * @param end A character.
 * @return what is before it in the text, all if it is not there.
 */
std::string
TakeUntil(std::string& text, char end)
{
    std::string part = text.substr(0, text.find(end));
    text.erase(0, part.size());
    return part;
}

/**
 * @param text A text of a file.
 * @return whether it can be shown in a sentence.
 */
bool
IsShort(const std::string& text)
{
    return text.size() < 40 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/**
 * Read what is before the data of an array.
 * @param stream Where to read.
 * @param [out] header What it says.
 * @return its size in bytes; 0 if it is not one that NumPy writes.
 */
std::size_t
ReadHeader(std::istream& stream, ArrayHeader& header)
{
    char start[START];
    if (!stream.read(start, sizeof(start)) || std::string(start, MAGIC.size()) != MAGIC)
    {
        return 0;
    }
    const std::size_t size =
        static_cast<uint8_t>(start[START - 2]) + std::size_t{256} * static_cast<uint8_t>(start[9]);
    std::string text(size, '\0'); // at most 64 KiB
    if (!stream.read(text.data(), static_cast<std::streamsize>(size)))
    {
        return 0;
    }
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
        text.end());
    // In this order, whoever wrote it. The order of axes does not matter if there is only one.
    bool isRead = Take(text, "{'descr':'");
    header.type = TakeUntil(text, '\'');
    isRead = isRead && Take(text, "','fortran_order':") &&
             (Take(text, "False") || Take(text, "True")) && Take(text, ",'shape':(");
    header.shape = "(" + TakeUntil(text, ')') + ")";
    isRead = isRead && (text == "),}" || text == ")}") && IsShort(header.type) &&
             header.shape.find_first_not_of("(0123456789,)") == std::string::npos &&
             IsShort(header.shape);
    return isRead ? START + size : 0;
}

/**
 * @param shape Shape of an array.
 * @param [out] size Its only number.
 * @return whether it has one axis.
 */
bool
ReadSize(const std::string& shape, uint64_t& size)
{
    const std::string digits = shape.size() > 3 ? shape.substr(1, shape.size() - 3) : "";
    return shape == "(" + digits + ",)" &&
           digits.find_first_not_of("0123456789") == std::string::npos &&
           FederatedNumber::ReadCount(digits, size);
}

/**
 * Read the array with the round, which ends the file.
 * @param stream Where to read.
 * @param left Bytes that are left.
 * @param [out] round The round.
 * @return what is wrong, as words that follow the path; empty if nothing is.
 */
std::string
ReadRound(std::istream& stream, uint64_t left, uint32_t& round)
{
    ArrayHeader header;
    const std::size_t start = ReadHeader(stream, header);
    uint8_t bytes[ROUND_SIZE];
    if (start == 0 || header.type != ROUND || header.shape != "()" || left != start + ROUND_SIZE ||
        !stream.read(reinterpret_cast<char*>(bytes), ROUND_SIZE))
    {
        return "has something else after the model than the round, one number of type " + ROUND;
    }
    const uint64_t number = federated::ReadLittleEndianWord(bytes);
    if (number > SavedModel::MAX_ROUND)
    {
        return "is of a round below 0 or above " + std::to_string(SavedModel::MAX_ROUND);
    }
    round = static_cast<uint32_t>(number);
    return "";
}

} // namespace

std::string
SavedModel::Read(const std::string& source)
{
    std::error_code status;
    if (!std::filesystem::is_regular_file(source, status))
    {
        return std::filesystem::exists(source, status) ? "is not a file" : "does not exist";
    }
    const uint64_t size = std::filesystem::file_size(source, status);
    std::ifstream stream(source, std::ios::binary);
    if (status || !stream)
    {
        return "cannot be read";
    }
    std::string mistake = Read(stream, size);
    path = mistake.empty() ? source : path;
    return mistake;
}

std::string
SavedModel::Read(std::istream& stream, uint64_t size)
{
    ArrayHeader header;
    const std::size_t start = ReadHeader(stream, header);
    if (start == 0)
    {
        return "is not a file of NumPy (NPY 1.0)";
    }
    if (header.type != FLOATS)
    {
        return "holds numbers of type " + header.type + ", not " + FLOATS + " (float32)";
    }
    uint64_t count = 0;
    if (!ReadSize(header.shape, count) || count == 0)
    {
        return "holds an array of shape " + header.shape + ", not (d,) with one number a parameter";
    }
    if (count > std::numeric_limits<uint32_t>::max() || size < start + 4 * count)
    {
        return "ends before the last of its " + std::to_string(count) + " numbers";
    }
    std::vector<uint8_t> bytes(4 * count); // which are there
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream)
    {
        return "cannot be read";
    }
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
    {
        numbers[i] = federated::ReadLittleEndianFloat(bytes.data() + 4 * i);
        if (!std::isfinite(numbers[i]))
        {
            return "holds a number that is not finite, at position " + std::to_string(i);
        }
    }
    uint32_t saved = 0;
    const uint64_t left = size - start - bytes.size();
    std::string mistake = left > 0 ? ReadRound(stream, left, saved) : "";
    if (mistake.empty())
    {
        values = std::move(numbers);
        round = saved;
    }
    return mistake;
}

std::string
SavedModel::ToNpy() const
{
    std::string content = MakeHeader(FLOATS, "(" + std::to_string(values.size()) + ",)");
    content.reserve(content.size() + 4 * values.size() + ALIGNMENT * 2 + ROUND_SIZE);
    uint8_t bytes[ROUND_SIZE];
    for (const float value : values)
    {
        federated::WriteLittleEndianFloat(value, bytes);
        content.append(reinterpret_cast<const char*>(bytes), 4);
    }
    federated::WriteLittleEndianWord(round, bytes);
    return content + MakeHeader(ROUND, "()") +
           std::string(reinterpret_cast<const char*>(bytes), ROUND_SIZE);
}

} // namespace ns3
