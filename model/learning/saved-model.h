// SPDX-License-Identifier: GPL-2.0-only

#ifndef SAVED_MODEL_H
#define SAVED_MODEL_H

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A model in a file of NumPy, and the round that it was saved after.
 *
 * The file has the format NPY 1.0. It holds one array of little-endian float32 of shape (d,), the
 * parameters of the model, and after it another one, an int64 of shape (): the round. NumPy reads
 * the first with numpy.load(path), and both with two calls of numpy.load(file). A file without the
 * second array, such as one that numpy.save(path, w) wrote, is of round 0.
 *
 * The round is in the same file as the model, because a run that counts the rounds of another one
 * again also tosses its coins again.
 */
struct SavedModel
{
    /** The last round that can be saved: devices do not believe much larger ones. */
    static constexpr uint32_t MAX_ROUND = 1000000;

    /**
     * Read a file.
     * @param source Path of the file.
     * @return what is wrong with it, as words that follow the path; empty if nothing is. Then path,
     * values and round are those of the file; else they stay as they were.
     */
    [[nodiscard]] std::string Read(const std::string& source);

    /**
     * Read the content of a file. Memory is taken only for what is really there.
     * @param stream The content, from its beginning.
     * @param size How many bytes it has.
     * @return what is wrong with it, as words that follow the path; empty if nothing is.
     */
    [[nodiscard]] std::string Read(std::istream& stream, uint64_t size);

    /** @return the content of the file. */
    std::string ToNpy() const;

    std::string path;          //!< Where it was read from; empty: nowhere.
    std::vector<float> values; //!< w, d finite parameters.
    uint32_t round = 0;        //!< Rounds that it has behind it; 0: none, or not known.
};

} // namespace ns3

#endif // SAVED_MODEL_H
