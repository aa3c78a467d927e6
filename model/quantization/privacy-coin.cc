// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-coin.h"

#include "ns3/abort.h"
#include "ns3/assert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::federated
{

namespace
{

double
RealizedEpsilon(uint32_t threshold)
{
    // ln(T / (2^32 - T)) without cancellation where T is close to 2^31.
    const double tails = 0x1p32 - threshold;
    return std::log1p((2.0 * threshold - 0x1p32) / tails);
}

} // namespace

PrivacyCoin::PrivacyCoin(double epsilon)
{
    NS_ABORT_MSG_IF(!(epsilon >= 0), "PrivacyCoin: epsilon is " << epsilon << ", not at least 0");
    const double probability = 1 / (1 + std::exp(-epsilon));
    m_threshold = static_cast<uint32_t>(std::min(std::floor(probability * 0x1p32), 0x1p32 - 1));
    // The probability was rounded to a double: take back what that may have added.
    while (m_threshold > (1U << 31) && RealizedEpsilon(m_threshold) > epsilon)
    {
        --m_threshold;
    }
}

void
PrivacyCoin::Toss(FederatedRandom& random, std::size_t count, int8_t* heads) const
{
    NS_ASSERT(count <= MAX_TOSSES);
    uint32_t words[MAX_TOSSES / 4];
    random.Fill(words, (count + 3) / 4);
    const auto* bytes = reinterpret_cast<const uint8_t*>(words);
    const auto high = static_cast<uint8_t>(m_threshold >> 24);
    for (std::size_t i = 0; i < count; ++i)
    {
        heads[i] = static_cast<int8_t>(-static_cast<int8_t>(bytes[i] < high));
    }
    // Where the first bits equal those of the threshold, the other 24 decide.
    const uint32_t low = m_threshold & 0xffffff;
    for (const uint8_t* tie = bytes;;)
    {
        tie = static_cast<const uint8_t*>(std::memchr(tie, high, bytes + count - tie));
        if (!tie)
        {
            return;
        }
        heads[tie - bytes] = random() >> 8 < low ? -1 : 0;
        ++tie;
    }
}

uint32_t
PrivacyCoin::GetThreshold() const
{
    return m_threshold;
}

double
PrivacyCoin::GetProbability() const
{
    return m_threshold * 0x1p-32;
}

double
PrivacyCoin::GetRealizedEpsilon() const
{
    return RealizedEpsilon(m_threshold);
}

} // namespace ns3::federated
