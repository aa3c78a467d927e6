// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_RESULT_LINE_H
#define FEDERATED_RESULT_LINE_H

#include "federated-json.h"

#include <cstdint>
#include <ostream>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The last line of every example on standard output: result version=... key=value ...
 */
class FederatedResultLine
{
  public:
    FederatedResultLine();

    /**
     * @param key Name without spaces.
     * @param value A number, with ten digits; NaN, which means unknown, becomes an empty value.
     */
    void AddReal(const std::string& key, double value);

    /**
     * @param key Name without spaces.
     * @param value A whole number.
     */
    void AddCount(const std::string& key, uint64_t value);

    /**
     * @param key Name without spaces.
     * @param value A word without spaces.
     */
    void AddText(const std::string& key, const std::string& value);

    /**
     * Print the line, with its end.
     * @param stream Where to, standard output in examples.
     */
    void Print(std::ostream& stream) const;

    /** @return an object with all values; unknown and infinite ones are null. */
    std::string ToJson() const;

  private:
    std::string m_line;              //!< What was added.
    FederatedJson::Members m_values; //!< The same.
};

} // namespace ns3

#endif // FEDERATED_RESULT_LINE_H
