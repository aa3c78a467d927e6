// SPDX-License-Identifier: GPL-2.0-only

#ifndef CRC32C_H
#define CRC32C_H

#include <cstddef>
#include <cstdint>

namespace ns3::federated
{

/**
 * @ingroup federated
 * The checksum CRC-32C (Castagnoli; RFC 3720, appendix B.4): with the processor's own instruction
 * where it has one (x86-64 with SSE4.2 and PCLMUL), else with Boost, about 50 times slower.
 *
 * Calls chain: Crc32c(b, m, Crc32c(a, n)) is the checksum of a followed by b.
 * @param bytes The bytes.
 * @param count How many.
 * @param crc Checksum of what came before them.
 * @return the checksum.
 */
uint32_t Crc32c(const uint8_t* bytes, std::size_t count, uint32_t crc = 0);

/**
 * @ingroup federated
 * Crc32c without special instructions: the same value.
 * @param bytes The bytes.
 * @param count How many.
 * @param crc Checksum of what came before them.
 * @return the checksum.
 */
uint32_t PortableCrc32c(const uint8_t* bytes, std::size_t count, uint32_t crc = 0);

} // namespace ns3::federated

#endif // CRC32C_H
