// SPDX-License-Identifier: GPL-2.0-only

#include "federated-json.h"

#include <cmath>
#include <cstddef>
#include <locale>
#include <sstream>

namespace ns3
{

namespace
{

/**
 * @param text Any bytes.
 * @param start Where a character starts.
 * @return the length of the character in UTF-8 (RFC 3629); 0 if there is none.
 */
std::size_t
GetCharacter(const std::string& text, std::size_t start)
{
    const auto byte = [&text](std::size_t i) -> unsigned
    { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
    const unsigned first = byte(start);
    if (first < 0x80)
    {
        return 1;
    }
    const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                               : first >= 0xe0 && first <= 0xef ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    for (std::size_t i = 1; i < length; ++i)
    {
        if ((byte(start + i) & 0xc0) != 0x80)
        {
            return 0;
        }
    }
    // No surrogates, nothing above U+10FFFF, no longer form than needed.
    const unsigned second = byte(start + 1);
    const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return wrong ? 0 : length;
}

/**
 * @param parts What to join.
 * @param separator What is between two of them.
 * @return the joined parts.
 */
std::string
Join(const std::vector<std::string>& parts, const std::string& separator)
{
    std::string text;
    for (const std::string& part : parts)
    {
        text += (text.empty() ? "" : separator) + part;
    }
    return text;
}

} // namespace

const char* const FederatedJson::NOTHING = "null";

std::string
FederatedJson::Text(const std::string& text)
{
    const char* const hex = "0123456789abcdef";
    std::string json = "\"";
    for (std::size_t i = 0; i < text.size();)
    {
        const std::size_t length = GetCharacter(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        if (length == 0)
        {
            json += "\\ufffd";
        }
        else if (byte == '"' || byte == '\\')
        {
            json += {'\\', text[i]};
        }
        else if (byte < ' ' || byte == 0x7f)
        {
            json += std::string("\\u00") + hex[byte / 16] + hex[byte % 16];
        }
        else
        {
            json += text.substr(i, length);
        }
        i += length == 0 ? 1 : length;
    }
    return json + "\"";
}

std::string
FederatedJson::Real(double value)
{
    if (!std::isfinite(value))
    {
        return NOTHING;
    }
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(10);
    text << value;
    return text.str();
}

std::string
FederatedJson::List(const std::vector<std::string>& values)
{
    return "[" + Join(values, ", ") + "]";
}

std::string
FederatedJson::Object(const Members& members, unsigned indent)
{
    std::vector<std::string> parts;
    for (const auto& [name, value] : members)
    {
        parts.push_back(Text(name) + ": " + value);
    }
    if (indent == 0 || parts.empty())
    {
        return "{" + Join(parts, ", ") + "}";
    }
    const std::string line = "\n" + std::string(indent, ' ');
    return "{" + line + Join(parts, "," + line) + "\n" + std::string(indent - 2, ' ') + "}";
}

} // namespace ns3
