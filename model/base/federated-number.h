// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_NUMBER_H
#define FEDERATED_NUMBER_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
     * @param text Decimal digits; zeros may follow after a point, as tables of real numbers write
     * them (40.0).
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

    /**
     * @param list Items with commas between.
     * @return the items, which may be empty; none for an empty text.
     */
    static std::vector<std::string> Split(const std::string& list);

    /**
     * @tparam Count An unsigned type.
     * @param list Whole numbers with commas between; an empty text has none.
     * @param min Smallest number.
     * @param max Largest number.
     * @param [out] values The numbers, unchanged on failure.
     * @return whether the text is such a list.
     */
    template <typename Count>
    static bool ReadCounts(const std::string& list,
                           Count min,
                           Count max,
                           std::vector<Count>& values);

    /**
     * @param list Real numbers with commas between; an empty text has none.
     * @param min Smallest number.
     * @param max Largest number.
     * @param [out] values The numbers, unchanged on failure.
     * @return whether the text is such a list.
     */
    static bool ReadReals(const std::string& list,
                          double min,
                          double max,
                          std::vector<double>& values);

  private:
    /**
     * Read a list of numbers.
     * @tparam Number What an item is read as.
     * @tparam Value What the values are stored as.
     * @param list Numbers with commas between; an empty text has none.
     * @param read Reads an item.
     * @param min Smallest number.
     * @param max Largest number.
     * @param [out] values The numbers, unchanged on failure.
     * @return whether the text is such a list.
     */
    template <typename Number, typename Value>
    static bool ReadList(const std::string& list,
                         bool (*read)(const std::string& text, Number& value),
                         Value min,
                         Value max,
                         std::vector<Value>& values);
};

template <typename Number, typename Value>
bool
FederatedNumber::ReadList(const std::string& list,
                          bool (*read)(const std::string& text, Number& value),
                          Value min,
                          Value max,
                          std::vector<Value>& values)
{
    std::vector<Value> numbers;
    for (const std::string& item : Split(list))
    {
        Number number = 0;
        if (!read(item, number) || number < min || number > max)
        {
            return false;
        }
        numbers.push_back(static_cast<Value>(number));
    }
    values = std::move(numbers);
    return true;
}

template <typename Count>
bool
FederatedNumber::ReadCounts(const std::string& list,
                            Count min,
                            Count max,
                            std::vector<Count>& values)
{
    return ReadList(list, &FederatedNumber::ReadCount, min, max, values);
}

} // namespace ns3

#endif // FEDERATED_NUMBER_H
