// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * The strict command line: any words are read as the second reader here says, or give one sentence.
 * Left out: the options that print something and end the process, and those of ns-3 itself (global
 * values and attributes), which are tried in a child process and then stay set.
 *
 * Input: words, each ended by a line break.
 */

#include "fuzz-input.h"

#include "ns3/federated-command-line.h"
#include "ns3/global-value.h"
#include "ns3/type-id.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>

using namespace ns3;
using namespace ns3::fuzz;

namespace
{

/** All values of the options. */
struct Values
{
    uint32_t count = 20;
    uint32_t wide = 7;
    double real = 0.5;
    Time time = Seconds(4);
    std::string choice = "alg1";
    std::string text = "none";
    bool flag = false;

    bool operator==(const Values& other) const
    {
        return count == other.count && wide == other.wide && real == other.real &&
               time == other.time && choice == other.choice && text == other.text &&
               flag == other.flag;
    }
};

bool
IsDigit(char c)
{
    return c >= '0' && c <= '9';
}

/** @return how many digits there are from a place on. */
std::size_t
CountDigits(const std::string& text, std::size_t at)
{
    std::size_t count = 0;
    while (at + count < text.size() && IsDigit(text[at + count]))
    {
        ++count;
    }
    return count;
}

/** Digits, then perhaps a point and zeros. */
std::optional<uint32_t>
ReadCount(const std::string& text, uint32_t min, uint32_t max)
{
    const std::size_t digits = CountDigits(text, 0);
    if (digits == 0)
    {
        return std::nullopt;
    }
    if (digits < text.size() && (text[digits] != '.' || digits + 1 == text.size() ||
                                 text.find_first_not_of('0', digits + 1) != std::string::npos))
    {
        return std::nullopt;
    }
    uint64_t value = 0;
    for (std::size_t i = 0; i < digits; ++i)
    {
        value = std::min<uint64_t>(value * 10 + (text[i] - '0'), uint64_t{1} << 40);
    }
    return value < min || value > max ? std::nullopt
                                      : std::make_optional(static_cast<uint32_t>(value));
}

/** Sign, digits with a point somewhere, exponent. */
std::optional<double>
ReadReal(const std::string& text)
{
    std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    const std::size_t whole = CountDigits(text, at);
    at += whole;
    std::size_t fraction = 0;
    if (at < text.size() && text[at] == '.')
    {
        fraction = CountDigits(text, at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0)
    {
        return std::nullopt;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E'))
    {
        ++at;
        at += at < text.size() && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        const std::size_t exponent = CountDigits(text, at);
        if (exponent == 0)
        {
            return std::nullopt;
        }
        at += exponent;
    }
    const double value = std::strtod(text.c_str(), nullptr);
    return at != text.size() || std::isinf(value) ? std::nullopt : std::make_optional(value);
}

/** A real number with a unit. @return seconds. */
std::optional<double>
ReadSeconds(const std::string& text)
{
    static const std::map<std::string, double> UNITS{{"fs", 1e-15},
                                                     {"ps", 1e-12},
                                                     {"ns", 1e-9},
                                                     {"us", 1e-6},
                                                     {"ms", 1e-3},
                                                     {"s", 1},
                                                     {"min", 60},
                                                     {"h", 3600},
                                                     {"d", 86400},
                                                     {"y", 365 * 86400}};
    for (std::size_t length : {3, 2, 1})
    {
        if (text.size() > length && UNITS.count(text.substr(text.size() - length)) > 0)
        {
            const auto number = ReadReal(text.substr(0, text.size() - length));
            return number
                       ? std::make_optional(*number * UNITS.at(text.substr(text.size() - length)))
                       : std::nullopt;
        }
    }
    return std::nullopt;
}

/** @return whether a text is a flag's, and which. */
std::optional<bool>
ReadFlag(std::string text)
{
    std::transform(text.begin(),
                   text.end(),
                   text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text == "true" || text == "1"    ? std::make_optional(true)
           : text == "false" || text == "0" ? std::make_optional(false)
                                            : std::nullopt;
}

enum Verdict
{
    ACCEPT,
    REJECT,
    UNSURE, // within the rounding of a limit
};

/** Read one option. */
Verdict
ReadOption(const std::string& name, bool hasValue, const std::string& value, Values& values)
{
    if (name == "flag" && !hasValue)
    {
        values.flag = true;
        return ACCEPT;
    }
    if (value.empty())
    {
        return REJECT;
    }
    if (name == "count" || name == "wide")
    {
        const bool isCount = name == "count";
        const auto number = ReadCount(value, isCount ? 1 : 0, isCount ? 1000 : 4294967295U);
        (isCount ? values.count : values.wide) =
            number.value_or(isCount ? values.count : values.wide);
        return number ? ACCEPT : REJECT;
    }
    if (name == "real")
    {
        const auto number = ReadReal(value);
        if (!number || *number < -2 || *number > 1e6)
        {
            return REJECT;
        }
        values.real = *number;
        return ACCEPT;
    }
    if (name == "time")
    {
        const auto seconds = ReadSeconds(value);
        if (!seconds || *seconds < 0.000999 || *seconds > 3601)
        {
            return REJECT;
        }
        if (*seconds < 0.001001 || *seconds > 3599)
        {
            return UNSURE;
        }
        values.time = Seconds(*seconds);
        return ACCEPT;
    }
    if (name == "choice")
    {
        if (value != "alg1" && value != "fwo" && value != "one")
        {
            return REJECT;
        }
        values.choice = value == "one" ? "alg1" : value;
        return ACCEPT;
    }
    if (name == "text")
    {
        values.text = value;
        return value.size() > 5 ? REJECT : ACCEPT;
    }
    if (name == "flag")
    {
        const auto flag = ReadFlag(value);
        values.flag = flag.value_or(values.flag);
        return flag ? ACCEPT : REJECT;
    }
    return REJECT;
}

/** Read all words as a user would expect it. */
Verdict
ReadWords(const std::vector<std::string>& words, Values& values)
{
    std::set<std::string> seen;
    for (const std::string& word : words)
    {
        if (word.size() < 2 || word[0] != '-')
        {
            return REJECT;
        }
        const std::string bare = word.substr(word[1] == '-' ? 2 : 1);
        const std::size_t equal = bare.find('=');
        const std::string name = bare.substr(0, equal);
        const bool hasValue = equal != std::string::npos;
        if (!seen.insert(name).second)
        {
            return REJECT;
        }
        const Verdict verdict =
            ReadOption(name, hasValue, hasValue ? bare.substr(equal + 1) : "", values);
        if (verdict != ACCEPT)
        {
            return verdict;
        }
    }
    return ACCEPT;
}

/** @return whether a word is one that ends the process or is ns-3's own. */
bool
IsLeftOut(const std::string& word)
{
    const std::size_t begin = word.find_first_not_of('-');
    if (word.empty() || word[0] != '-' || begin == std::string::npos)
    {
        return false;
    }
    for (std::size_t dashes : {std::size_t{1}, std::size_t{2}})
    {
        const std::string bare = word.substr(std::min(dashes, word.size()));
        const std::string name = bare.substr(0, bare.find('='));
        if (name.rfind("Print", 0) == 0 || name == "help" || name == "version")
        {
            return true;
        }
        for (auto i = GlobalValue::Begin(); i != GlobalValue::End(); ++i)
        {
            if ((*i)->GetName() == name)
            {
                return true;
            }
        }
        const std::size_t colons = name.rfind("::");
        TypeId type;
        if (colons != std::string::npos &&
            TypeId::LookupByNameFailSafe(name.substr(0, colons), &type))
        {
            return true;
        }
    }
    return false;
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    std::vector<std::string> words;
    std::string word;
    for (std::size_t i = 0; i < size; ++i)
    {
        if (data[i] == '\n')
        {
            words.push_back(word);
            word.clear();
        }
        else if (data[i] != 0) // which no argument can contain
        {
            word += static_cast<char>(data[i]);
        }
    }
    words.push_back(word);
    if (std::any_of(words.begin(), words.end(), IsLeftOut))
    {
        return 0;
    }

    Values values;
    FederatedCommandLine line("fuzz.cc", "Reads words.");
    line.AddCount("count", "A count", values.count, 1, 1000);
    line.AddCount("wide", "A count without a limit", values.wide, 0, 4294967295U);
    line.AddReal("real", "A number", values.real, -2, 1e6);
    line.AddTime("time", "A time", values.time, MilliSeconds(1), Hours(1));
    line.AddChoice("choice", "A choice", values.choice, {"alg1", "fwo"}, {{"one", "alg1"}});
    line.AddText("text",
                 "A text",
                 values.text,
                 [](const std::string& text) { return text.size() > 5 ? "is too long" : ""; });
    line.AddFlag("flag", "A flag", values.flag);

    std::vector<char*> arguments;
    std::string program = "fuzz";
    arguments.push_back(program.data());
    std::vector<std::string> copies = words;
    for (std::string& copy : copies)
    {
        arguments.push_back(copy.data());
    }
    std::string error;
    const bool accepted = line.Parse(static_cast<int>(arguments.size()), arguments.data(), error);
    Require(accepted ? error.empty() : !error.empty() && error.find('\n') == std::string::npos,
            "a wrong command line gives one sentence of one line");

    Values expected;
    const Verdict verdict = ReadWords(words, expected);
    Require(verdict == UNSURE || accepted == (verdict == ACCEPT),
            "both readers agree on what is a right command line");
    if (accepted && verdict == ACCEPT)
    {
        const Time difference =
            values.time > expected.time ? values.time - expected.time : expected.time - values.time;
        Require(difference <= MicroSeconds(1), "a time is read as it was written");
        expected.time = values.time;
        Require(values == expected, "both readers read the same values");
    }
    return 0;
}
