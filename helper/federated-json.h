// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_JSON_H
#define FEDERATED_JSON_H

#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Writes values as JSON (RFC 8259), which is always UTF-8.
 *
 * The functions return JSON; lists and objects are made of JSON.
 */
class FederatedJson
{
  public:
    /** Names and their values, which are JSON. */
    using Members = std::vector<std::pair<std::string, std::string>>;

    static const char* const NOTHING; //!< The value null.

    /**
     * @param text Any bytes.
     * @return a string; each byte that is not part of UTF-8 becomes U+FFFD.
     */
    static std::string Text(const std::string& text);

    /**
     * @param value A number.
     * @return it with ten digits; null if it is not finite, which JSON cannot express.
     */
    static std::string Real(double value);

    /**
     * @param values The values.
     * @return a list, on one line.
     */
    static std::string List(const std::vector<std::string>& values);

    /**
     * @param members Names and values.
     * @param indent Spaces before each member, which then has its own line; 0: all on one line.
     * @return an object.
     */
    static std::string Object(const Members& members, unsigned indent = 0);
};

} // namespace ns3

#endif // FEDERATED_JSON_H
