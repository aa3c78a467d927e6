// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_NUMBER_H
#define FEDERATED_NUMBER_H

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Strict reading of numbers that a user wrote.
 *
 * The whole text must be the number: no space, no trailing text, no sign that wraps.
 */
class FederatedNumber
{
  public:
    /**
     * @param text Decimal digits only.
     * @param [out] value The number, unchanged on failure.
     * @return whether the text is a whole number below 2^64.
     */
    static bool ReadCount(const std::string& text, uint64_t& value);

    /**
     * @param text A decimal number such as -0.5 or 1e-6.
     * @param [out] value The number, unchanged on failure.
     * @return whether the text is a finite number.
     */
    static bool ReadReal(const std::string& text, double& value);
};

} // namespace ns3

#endif // FEDERATED_NUMBER_H
