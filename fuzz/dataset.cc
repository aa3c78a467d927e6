// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * IDX files of labels and images, plain or gzip: any bytes are a dataset or one sentence. A second
 * reader says which; a file that is compressed here must be accepted exactly if the plain one is.
 * Memory is limited by the flags of the run (-malloc_limit_mb).
 *
 * Input: a byte (bits 0 and 1: labels and images are compressed here), a byte with the size of the
 * file of labels, that file, and the file of images.
 */

#include "fuzz-input.h"

#include "ns3/federated-dataset.h"

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <sstream>

using namespace ns3;
using namespace ns3::fuzz;

namespace
{

/** A file in memory that has a path. */
class MemoryFile
{
  public:
    explicit MemoryFile(const Bytes& bytes)
        : m_file(memfd_create("fuzz", 0))
    {
        Require(m_file >= 0 &&
                    write(m_file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                "the harness can make a file in memory");
    }

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    ~MemoryFile()
    {
        close(m_file);
    }

    std::string GetPath() const
    {
        return "/proc/self/fd/" + std::to_string(m_file);
    }

  private:
    int m_file;
};

Bytes
Compress(const Bytes& bytes)
{
    std::stringstream plain(std::string(bytes.begin(), bytes.end()));
    std::stringstream packed;
    boost::iostreams::filtering_istream filter;
    filter.push(boost::iostreams::gzip_compressor(1));
    filter.push(plain);
    boost::iostreams::copy(filter, packed);
    const std::string text = packed.str();
    return Bytes(text.begin(), text.end());
}

bool
IsGzip(const Bytes& bytes)
{
    return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/** @return the big-endian number at a place. */
uint64_t
Number(const Bytes& bytes, std::size_t at)
{
    return uint64_t{bytes[at]} << 24 | uint64_t{bytes[at + 1]} << 16 |
           uint64_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

/** @return whether plain bytes are an IDX file of so many dimensions, as the format says. */
bool
IsIdx(const Bytes& bytes, std::size_t dimensions)
{
    const std::size_t header = 4 + 4 * dimensions;
    if (bytes.size() < header || Number(bytes, 0) != 0x800 + dimensions)
    {
        return false;
    }
    uint64_t product = 1;
    for (std::size_t i = 0; i < dimensions; ++i)
    {
        const uint64_t length = Number(bytes, 4 + 4 * i);
        if (length == 0 || (i > 0 && length > 4096))
        {
            return false;
        }
        product *= length;
    }
    return product == bytes.size() - header;
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    FuzzInput input(data, size);
    const uint8_t flags = input.Byte();
    const Bytes labels = input.Take(input.Byte());
    const Bytes images = input.TakeRest();
    const MemoryFile labelFile((flags & 1) != 0 ? Compress(labels) : labels);
    const MemoryFile imageFile((flags & 2) != 0 ? Compress(images) : images);
    std::string error;
    const auto dataset = FederatedDataset::LoadIdx(imageFile.GetPath(), labelFile.GetPath(), error);
    Require(dataset
                ? error.empty()
                : !error.empty() && error.find('\n') == std::string::npos && error.back() == '.',
            "a file is a dataset, or there is one sentence");
    if (dataset)
    {
        for (uint32_t sample = 0; sample < dataset->GetSize(); ++sample)
        {
            Require(dataset->GetLabel(sample) < dataset->GetClasses(), "labels are classes");
        }
    }
    // What the fuzzer compressed itself has no second reader.
    if (((flags & 1) == 0 && IsGzip(labels)) || ((flags & 2) == 0 && IsGzip(images)))
    {
        return 0;
    }
    const bool expected =
        IsIdx(labels, 1) && IsIdx(images, 3) && Number(labels, 4) == Number(images, 4) &&
        std::all_of(labels.begin() + 8, labels.end(), [](uint8_t label) { return label < 10; });
    Require(expected == (dataset != nullptr), "both readers agree on what is a dataset");
    if (dataset)
    {
        Require(dataset->GetSize() == labels.size() - 8 &&
                    std::equal(images.begin() + 16, images.end(), dataset->GetPixels(0)),
                "a dataset has the labels and pixels of its files");
    }
    return 0;
}
