// SPDX-License-Identifier: GPL-2.0-only

#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace ns3::fuzz
{

using Bytes = std::vector<uint8_t>;

/**
 * End the process as a finding, unless a condition holds.
 * @param holds The condition.
 * @param sentence What must hold.
 */
inline void
Require(bool holds, const std::string& sentence)
{
    if (!holds)
    {
        std::cerr << "Finding: " << sentence << "\n";
        std::abort();
    }
}

/** Bytes in a memory block of exactly their size: AddressSanitizer sees a read beyond the last. */
class ExactCopy
{
  public:
    /**
     * @param bytes What is copied.
     * @param size How many.
     */
    ExactCopy(const uint8_t* bytes, std::size_t size)
        : m_bytes(static_cast<uint8_t*>(std::malloc(size)), &std::free),
          m_size(size)
    {
        if (size > 0)
        {
            std::memcpy(m_bytes.get(), bytes, size);
        }
    }

    /** @param bytes What is copied. */
    explicit ExactCopy(const Bytes& bytes)
        : ExactCopy(bytes.data(), bytes.size())
    {
    }

    /** @return the bytes. */
    const uint8_t* Get() const
    {
        return m_bytes.get();
    }

    /** @return how many. */
    std::size_t GetSize() const
    {
        return m_size;
    }

  private:
    std::unique_ptr<uint8_t, void (*)(void*)> m_bytes;
    std::size_t m_size;
};

/** Reads decisions from the bytes of the fuzzer, front to back; after the last byte all are 0. */
class FuzzInput
{
  public:
    /**
     * @param bytes The input.
     * @param size Its bytes.
     */
    FuzzInput(const uint8_t* bytes, std::size_t size)
        : m_next(bytes),
          m_end(bytes + size)
    {
    }

    /** @return whether all bytes were read. */
    bool IsEmpty() const
    {
        return m_next == m_end;
    }

    /** @return a byte. */
    uint8_t Byte()
    {
        return IsEmpty() ? 0 : *m_next++;
    }

    /** @return whether, one bit of a byte. */
    bool Flag()
    {
        return (Byte() & 1) != 0;
    }

    /** @return any 32 bits. */
    uint32_t Word()
    {
        uint32_t word = 0;
        for (int i = 0; i < 4; ++i)
        {
            word = word << 8 | Byte();
        }
        return word;
    }

    /** @return any 64 bits. */
    uint64_t Word64()
    {
        const uint64_t high = Word();
        return high << 32 | Word();
    }

    /**
     * @param count At least 1.
     * @return a number below it.
     */
    uint32_t Below(uint32_t count)
    {
        return (count <= 256 ? Byte() : count <= 65536 ? Byte() << 8 | Byte() : Word()) % count;
    }

    /**
     * @param expected A number that makes sense here.
     * @return mostly that number, else one near it, a small one, or any.
     */
    uint32_t Near(uint32_t expected)
    {
        const uint8_t how = Byte();
        return how < 160   ? expected
               : how < 176 ? expected + 1
               : how < 192 ? expected - 1
               : how < 208 ? expected + how - 200
               : how < 224 ? how - 208
               : how < 240 ? ~uint32_t{0} - (how - 224)
                           : Word();
    }

    /** @return a float: one of those that hurt, or any bits. */
    float Float()
    {
        static const uint32_t HURT[] = {0x00000000,
                                        0x80000000,
                                        0x3f800000,
                                        0xbf800000,
                                        0x00000001,
                                        0x7f7fffff,
                                        0xff7fffff,
                                        0x7f800000,
                                        0x7fc00000,
                                        0x3a83126f,
                                        0x42c80000,
                                        0x7e967699};
        const uint8_t how = Byte();
        const uint32_t word = how < 12    ? HURT[how]
                              : how < 200 ? 0x3c000000 + how * 0x71234
                                          : Word();
        float value;
        std::memcpy(&value, &word, sizeof(value));
        return value;
    }

    /**
     * @param choices What to choose from.
     * @return one of them.
     */
    template <typename T>
    T Pick(std::initializer_list<T> choices)
    {
        return *(choices.begin() + Byte() % choices.size());
    }

    /**
     * @param count How many are wanted.
     * @return so many bytes, zeros after the last of the input.
     */
    Bytes Take(std::size_t count)
    {
        const auto there = std::min(count, static_cast<std::size_t>(m_end - m_next));
        Bytes bytes(m_next, m_next + there);
        m_next += there;
        bytes.resize(count);
        return bytes;
    }

    /** @return the rest of the input. */
    Bytes TakeRest()
    {
        return Take(static_cast<std::size_t>(m_end - m_next));
    }

  private:
    const uint8_t* m_next;
    const uint8_t* m_end;
};

} // namespace ns3::fuzz

#endif // FUZZ_INPUT_H
