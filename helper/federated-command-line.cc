// SPDX-License-Identifier: GPL-2.0-only

#include "federated-command-line.h"

#include "federated-ranks.h"

#include "ns3/attribute.h"
#include "ns3/config.h"
#include "ns3/federated-number.h"
#include "ns3/global-value.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <locale>
#include <set>
#include <sstream>
#include <thread>

namespace ns3
{

namespace
{

/** One argument of the command line, split into its parts. */
struct Word
{
    std::string name;  //!< Between the dashes and the equal sign.
    bool hasValue;     //!< Whether there is an equal sign.
    std::string value; //!< After it.
};

/**
 * @param text A word that starts with a dash.
 * @return its parts.
 */
Word
TakeApart(const std::string& text)
{
    const std::string bare = text.substr(text.compare(0, 2, "--") == 0 ? 2 : 1);
    const std::size_t equal = bare.find('=');
    if (equal == std::string::npos)
    {
        return {bare, false, ""};
    }
    return {bare.substr(0, equal), true, bare.substr(equal + 1)};
}

/**
 * @param name Name of an option.
 * @return whether ns-3 prints something for it and ends the process.
 */
bool
IsPrintOption(const std::string& name)
{
    static const std::array<const char*, 9> NAMES{"PrintHelp",
                                                  "help",
                                                  "PrintVersion",
                                                  "version",
                                                  "PrintGlobals",
                                                  "PrintGroups",
                                                  "PrintGroup",
                                                  "PrintTypeIds",
                                                  "PrintAttributes"};
    return std::find(NAMES.begin(), NAMES.end(), name) != NAMES.end();
}

/**
 * @param value A number.
 * @return it in decimal; a number of up to 15 digits is printed as the user wrote it.
 */
std::string
ToText(double value)
{
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(15);
    text << value;
    return text.str();
}

/**
 * @param text Any text.
 * @return it with the letters A to Z in lower case, in every locale.
 */
std::string
ToLower(std::string text)
{
    for (char& letter : text)
    {
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return text;
}

/**
 * @param text A number with a unit of ns-3, such as 1.5ms.
 * @param [out] value The time, unchanged on failure.
 * @return whether the text is a time that ns-3 can hold.
 */
bool
ReadTime(const std::string& text, Time& value)
{
    static const std::array<std::pair<const char*, double>, 10> UNITS{{{"fs", 1e-15},
                                                                       {"ps", 1e-12},
                                                                       {"ns", 1e-9},
                                                                       {"us", 1e-6},
                                                                       {"ms", 1e-3},
                                                                       {"s", 1},
                                                                       {"min", 60},
                                                                       {"h", 3600},
                                                                       {"d", 86400},
                                                                       {"y", 365 * 86400}}};
    constexpr double MAX_SECONDS = 9e9; // 2^63 ns, rounded down
    const std::size_t unit = text.find_first_of("fpnumshdy");
    if (unit == std::string::npos)
    {
        return false;
    }
    double number;
    const auto known =
        std::find_if(UNITS.begin(),
                     UNITS.end(),
                     [&](const auto& entry) { return text.substr(unit) == entry.first; });
    if (known == UNITS.end() || !FederatedNumber::ReadReal(text.substr(0, unit), number) ||
        std::abs(number) * known->second > MAX_SECONDS)
    {
        return false;
    }
    value = Time(text);
    return true;
}

/**
 * @param name Name of a global value, or full name of an attribute.
 * @return its checker, null if there is none of that name.
 */
Ptr<const AttributeChecker>
FindChecker(const std::string& name)
{
    for (auto i = GlobalValue::Begin(); i != GlobalValue::End(); ++i)
    {
        if ((*i)->GetName() == name)
        {
            return (*i)->GetChecker();
        }
    }
    const std::size_t colons = name.rfind("::");
    TypeId type;
    if (colons == std::string::npos || !TypeId::LookupByNameFailSafe(name.substr(0, colons), &type))
    {
        return nullptr;
    }
    for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
    {
        if (type.GetAttribute(i).name == name.substr(colons + 2))
        {
            return type.GetAttribute(i).checker;
        }
    }
    return nullptr;
}

/**
 * @param name Name of a global value, or full name of an attribute.
 * @param value Its new value.
 * @return whether ns-3 accepted it.
 */
bool
SetInNs3(const std::string& name, const std::string& value)
{
    return Config::SetGlobalFailSafe(name, StringValue(value)) ||
           Config::SetDefaultFailSafe(name, StringValue(value));
}

/**
 * Try a value in a child process, because ns-3 aborts on wrong ones: its FailSafe functions and
 * AttributeChecker::CreateValidValue return false only where DeserializeFromString of the type of
 * the value does.
 *
 * In ns-3.37 that of 16 of 28 types calls std::terminate instead: numbers and times (5x),
 * addresses, vectors, boxes, rectangles, waypoints, wifi modes, priority maps, lists of values,
 * containers, and pointers, whose text also holds attributes of any of these types (ns3::X[Y=5x]).
 * A check of our own would repeat the parser of each type in each release, and could not know the
 * types of modules that are added. A terminate handler cannot return or throw, and longjmp out of
 * it would skip destructors.
 * @param name Name of a global value, or full name of an attribute.
 * @param value Its new value.
 * @return whether ns-3 would accept it.
 */
bool
WouldSetInNs3(const std::string& name, const std::string& value)
{
    std::cout.flush();
    const pid_t child = fork();
    if (child == 0)
    {
        const rlimit noCore{0, 0};
        setrlimit(RLIMIT_CORE, &noCore);
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        _exit(SetInNs3(name, value) ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

} // namespace

FederatedCommandLine::FederatedCommandLine(const std::string& file, const std::string& usage)
    : m_commandLine(file)
{
    m_commandLine.Usage(usage);
}

FederatedCommandLine::~FederatedCommandLine()
{
    std::string error;
    Require(std::cout.flush().good(), "Cannot write the result to standard output.");
    Require(m_files.AreComplete(error), error);
}

void
FederatedCommandLine::Add(const std::string& name,
                          const std::string& help,
                          const Check& read,
                          const Show& show)
{
    m_options.push_back({name, show(), false, false, false, read, show});
    m_commandLine.AddValue(name, help, m_options.back().text);
}

void
FederatedCommandLine::AddCount(const std::string& name,
                               const std::string& help,
                               uint32_t& value,
                               uint32_t min,
                               uint32_t max)
{
    const std::string range = std::to_string(min) + " to " + std::to_string(max);
    const auto read = [&value, min, max, range](const std::string& text) -> std::string
    {
        uint64_t number;
        if (!FederatedNumber::ReadCount(text, number) || number < min || number > max)
        {
            return "is not a whole number from " + range;
        }
        value = static_cast<uint32_t>(number);
        return "";
    };
    Add(name, help + ", " + range, read, [&value] { return std::to_string(value); });
}

void
FederatedCommandLine::AddReal(const std::string& name,
                              const std::string& help,
                              double& value,
                              double min,
                              double max)
{
    const std::string range = ToText(min) + " to " + ToText(max);
    const auto read = [&value, min, max, range](const std::string& text) -> std::string
    {
        double number;
        if (!FederatedNumber::ReadReal(text, number) || number < min || number > max)
        {
            return "is not a number from " + range;
        }
        value = number;
        return "";
    };
    Add(name, help + ", " + range, read, [&value] { return ToText(value); });
}

void
FederatedCommandLine::AddTime(const std::string& name,
                              const std::string& help,
                              Time& value,
                              const Time& min,
                              const Time& max)
{
    const std::string range = ToText(min.GetSeconds()) + "s to " + ToText(max.GetSeconds()) + "s";
    const auto read = [&value, min, max, range](const std::string& text) -> std::string
    {
        Time time;
        if (!ReadTime(text, time) || time < min || time > max)
        {
            return "is not a time with its unit from " + range;
        }
        value = time;
        return "";
    };
    Add(name, help + ", " + range, read, [&value] { return ToText(value.GetSeconds()) + "s"; });
}

void
FederatedCommandLine::AddChoice(const std::string& name,
                                const std::string& help,
                                std::string& value,
                                const std::vector<std::string>& choices,
                                const std::map<std::string, std::string>& spellings)
{
    std::string list;
    for (const std::string& choice : choices)
    {
        list += (list.empty() ? "" : ", ") + choice;
    }
    const auto read = [&value, choices, list, spellings](const std::string& text) -> std::string
    {
        const auto spelling = spellings.find(text);
        std::string word = spelling == spellings.end() ? text : spelling->second;
        uint64_t number;
        if (FederatedNumber::ReadCount(word, number))
        {
            word = std::to_string(number); // 20.0 is a whole number
        }
        if (std::find(choices.begin(), choices.end(), word) == choices.end())
        {
            return "is not one of " + list;
        }
        value = word;
        return "";
    };
    Add(name, help + ", one of " + list, read, [&value] { return value; });
}

void
FederatedCommandLine::AddText(const std::string& name,
                              const std::string& help,
                              std::string& value,
                              const Check& check)
{
    const auto read = [&value, check](const std::string& text)
    {
        std::string error = check ? check(text) : "";
        if (error.empty())
        {
            value = text;
        }
        return error;
    };
    Add(name, help, read, [&value] { return value; });
}

void
FederatedCommandLine::AddFlag(const std::string& name,
                              const std::string& help,
                              bool& value,
                              bool needsOutput)
{
    const auto read = [&value](const std::string& text) -> std::string
    {
        const std::string word = ToLower(text);
        if (word != "true" && word != "false" && word != "1" && word != "0")
        {
            return "is neither true (1) nor false (0)";
        }
        value = word == "true" || word == "1";
        return "";
    };
    Add(name, help, read, [&value]() -> std::string { return value ? "true" : "false"; });
    m_options.back().isFlag = true;
    m_options.back().needsOutput = needsOutput;
}

void
FederatedCommandLine::AddData(std::string& folder)
{
    const auto read = [&folder](const std::string& text) -> std::string
    {
        std::error_code status;
        if (!std::filesystem::is_directory(text, status))
        {
            return "is not a folder ('make data' gets MNIST into data/mnist)";
        }
        folder = text;
        return "";
    };
    Add("data", "Folder with the dataset", read, [&folder] { return folder; });
    m_options.back().checkDefault = true;
}

void
FederatedCommandLine::AddOutput(std::string& prefix)
{
    const auto read = [&prefix](const std::string& text) -> std::string
    {
        const std::filesystem::path path(text);
        const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
        std::error_code status;
        if (!text.empty() && !path.has_filename())
        {
            return "does not name files, only a folder";
        }
        if (!std::filesystem::is_directory(folder, status))
        {
            return "is in a folder that does not exist";
        }
        if (access(folder.c_str(), W_OK | X_OK) != 0)
        {
            return "is in a folder that cannot be written";
        }
        prefix = text;
        return "";
    };
    Add("output",
        "Start of the path of every file that is written",
        read,
        [&prefix] { return prefix; });
    m_options.back().checkDefault = !prefix.empty();
}

std::string
FederatedCommandLine::ReadOne(const std::string& name, bool hasValue, const std::string& value)
{
    const std::string shown = "--" + name + (hasValue ? "=" + value : "");
    const auto option =
        std::find_if(m_options.begin(),
                     m_options.end(),
                     [&name](const Option& candidate) { return candidate.name == name; });
    const auto checker = option == m_options.end() ? FindChecker(name) : nullptr;
    if (option == m_options.end() && !checker)
    {
        return "There is no option --" + name + " (--PrintHelp lists them).";
    }
    if (option != m_options.end() && option->isFlag && !hasValue)
    {
        return option->read("true");
    }
    if (value.empty())
    {
        return "The option --" + name + " needs a value, as in --" + name + "=VALUE.";
    }
    if (option != m_options.end())
    {
        const std::string reason = option->read(value);
        return reason.empty() ? "" : "The value of " + shown + " " + reason + ".";
    }

    const std::string type = checker->GetValueTypeName();
    uint64_t count = 0;
    Time time;
    if (type == "ns3::UintegerValue" && !FederatedNumber::ReadCount(value, count))
    {
        return "The value of " + shown + " is not a whole number.";
    }
    if (type == "ns3::TimeValue" && !ReadTime(value, time))
    {
        return "The value of " + shown + " is not a time with its unit.";
    }
    // The generator of ns-3 (L'Ecuyer's MRG32k3a) aborts on these seeds when it is first used.
    const bool badSeed = name == "RngSeed" && (count == 0 || count >= 4294944443U);
    if (badSeed || !WouldSetInNs3(name, value) || !SetInNs3(name, value))
    {
        return "The value of " + shown + " is not one that ns-3 takes here.";
    }
    m_settings.emplace_back(name, value);
    return "";
}

std::string
FederatedCommandLine::ReadAll(const std::vector<std::string>& words)
{
    std::set<std::string> seen;
    for (const std::string& text : words)
    {
        if (text.size() < 2 || text[0] != '-')
        {
            return "The word '" + text + "' is no option: options are written --name=value.";
        }
        const Word word = TakeApart(text);
        if (!seen.insert(word.name).second)
        {
            return "The option --" + word.name + " was given twice.";
        }
        std::string error = ReadOne(word.name, word.hasValue, word.value);
        if (!error.empty())
        {
            return error;
        }
    }
    for (const Option& option : m_options)
    {
        if (option.checkDefault && seen.count(option.name) == 0)
        {
            const std::string reason = option.read(option.text);
            if (!reason.empty())
            {
                return "The default --" + option.name + "=" + option.text + " " + reason + ".";
            }
        }
    }
    const bool hasOutput =
        std::any_of(m_options.begin(),
                    m_options.end(),
                    [](const Option& one) { return one.name == "output" && !one.show().empty(); });
    for (const Option& option : m_options)
    {
        if (option.needsOutput && !hasOutput && option.show() == "true")
        {
            return "The option --" + option.name + " needs --output=PREFIX.";
        }
    }
    return "";
}

bool
FederatedCommandLine::Parse(int argc, char* argv[], std::string& error)
{
    m_words.assign(argv, argv + argc);
    m_settings.clear();
    std::vector<std::string> words = m_words;
    const std::string program = words.empty() ? m_commandLine.GetName() : words[0];
    if (!words.empty())
    {
        words.erase(words.begin());
    }
    // Without options ns-3's parser only describes the example and ends the process when ns-3's
    // documentation is generated.
    m_commandLine.Parse(std::vector<std::string>{program});
    for (const std::string& text : words)
    {
        const Word word = text.empty() || text[0] != '-' ? Word{} : TakeApart(text);
        TypeId type;
        if (word.name == "PrintAttributes" && !TypeId::LookupByNameFailSafe(word.value, &type))
        {
            error = "There is no class '" + word.value + "' to print the attributes of.";
            return false;
        }
        if (IsPrintOption(word.name))
        {
            m_commandLine.Parse(std::vector<std::string>{program, text});
        }
    }
    error = ReadAll(words);
    // One sentence is one line, even if an argument contains line breaks.
    std::replace_if(
        error.begin(),
        error.end(),
        [](char c) { return static_cast<unsigned char>(c) < ' '; },
        '?');
    return error.empty();
}

void
FederatedCommandLine::ParseOrExit(int argc, char* argv[])
{
    // A file above the limit of the shell (ulimit -f) is an error like a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    std::string error;
    Require(Parse(argc, argv, error), error);
}

void
FederatedCommandLine::Fail(const std::string& error) const
{
    if (FederatedRanks::GetRank() > 0)
    {
        // All ranks have the same options. If the first one makes the same mistake, it says so and
        // ends, and mpirun then ends this one while it waits.
        std::this_thread::sleep_for(std::chrono::seconds(2));
    }
    std::cerr << m_commandLine.GetName() + ": " + error + "\n" << std::flush; // whole, among ranks
    std::exit(1);
}

void
FederatedCommandLine::Require(bool isRight, const std::string& error) const
{
    if (!isRight)
    {
        Fail(error);
    }
}

int
FederatedCommandLine::Finish(const FederatedResultLine& result) const
{
    result.Print(std::cout);
    return 0;
}

FederatedCommand
FederatedCommandLine::GetCommand() const
{
    FederatedCommand command{m_commandLine.GetName(), m_words, {}, m_settings};
    for (const Option& option : m_options)
    {
        command.options.emplace_back(option.name, option.show());
    }
    return command;
}

FederatedTraceFiles&
FederatedCommandLine::GetTraceFiles()
{
    return m_files;
}

} // namespace ns3
