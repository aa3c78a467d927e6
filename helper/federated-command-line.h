// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_COMMAND_LINE_H
#define FEDERATED_COMMAND_LINE_H

#include "federated-result-line.h"
#include "federated-run-record.h"
#include "federated-trace-files.h"

#include "ns3/command-line.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The strict command line of every example.
 *
 * ns-3's CommandLine reads 5x as 5, wraps -1, ignores stray words and aborts on a wrong unit. This
 * parser accepts the same options: those of the example, --PrintHelp and the other print options,
 * global values such as --RngRun, and --ns3::Class::Attribute=value. It rejects everything else
 * with one sentence, before nodes are created or files are written. Campaign tools read our options
 * and their defaults from --PrintHelp; therefore help texts contain no brackets and no double dash.
 */
class FederatedCommandLine
{
  public:
    /**
     * Returns the error in a value, as words that follow "--name=value "; empty if there is none.
     */
    using Check = std::function<std::string(const std::string& value)>;

    /**
     * @param file The example's __FILE__, which gives its name.
     * @param usage What the example does.
     */
    FederatedCommandLine(const std::string& file, const std::string& usage);

    /**
     * End the process as Fail does if the result could not be printed, or a file that ns-3 writes
     * (GetTraceFiles) is not complete. A command line is declared before the objects of the
     * simulation: ns-3 completes its files when these are destroyed.
     */
    ~FederatedCommandLine();

    FederatedCommandLine(const FederatedCommandLine&) = delete;
    FederatedCommandLine& operator=(const FederatedCommandLine&) = delete;

    /**
     * Add a whole number.
     * @param name Name of the option.
     * @param help What it means; the range is added.
     * @param [in,out] value Its default, and where the value goes.
     * @param min Smallest value.
     * @param max Largest value.
     */
    void AddCount(const std::string& name,
                  const std::string& help,
                  uint32_t& value,
                  uint32_t min,
                  uint32_t max);

    /**
     * Add a real number.
     * @param name Name of the option.
     * @param help What it means; the range is added.
     * @param [in,out] value Its default, and where the value goes.
     * @param min Smallest value.
     * @param max Largest value.
     */
    void AddReal(const std::string& name,
                 const std::string& help,
                 double& value,
                 double min,
                 double max);

    /**
     * Add a time, which a user writes with its unit: 500ms, 4s, 1.5min.
     * @param name Name of the option.
     * @param help What it means; the range is added.
     * @param [in,out] value Its default, and where the value goes.
     * @param min Smallest value.
     * @param max Largest value.
     */
    void AddTime(const std::string& name,
                 const std::string& help,
                 Time& value,
                 const Time& min,
                 const Time& max);

    /**
     * Add a choice among words.
     * @param name Name of the option.
     * @param help What it means; the words are added.
     * @param [in,out] value Its default, and where the value goes.
     * @param choices The words.
     * @param spellings Other spellings, which are read as the words that they stand for.
     */
    void AddChoice(const std::string& name,
                   const std::string& help,
                   std::string& value,
                   const std::vector<std::string>& choices,
                   const std::map<std::string, std::string>& spellings = {});

    /**
     * Add a text.
     * @param name Name of the option.
     * @param help What it means.
     * @param [in,out] value Its default, and where the value goes.
     * @param check A further check of the text, which is not empty.
     */
    void AddText(const std::string& name,
                 const std::string& help,
                 std::string& value,
                 const Check& check = nullptr);

    /**
     * Add a switch: --name alone, --name=true|1 or --name=false|0, in upper or lower case.
     * @param name Name of the option.
     * @param help What it means.
     * @param [in,out] value Its default, and where the value goes.
     * @param needsOutput Whether it makes the example write a file: then --output is needed, too.
     */
    void AddFlag(const std::string& name,
                 const std::string& help,
                 bool& value,
                 bool needsOutput = false);

    /**
     * Add --data=DIR, a folder that must exist, also if it is the default.
     * @param [in,out] folder Its default, and where the value goes.
     */
    void AddData(std::string& folder);

    /**
     * Add --output=PREFIX, the start of the path of every file that the example writes. The folder
     * must exist and be writable, also if it is the default.
     * @param [in,out] prefix Its default (empty: nothing is written), and where the value goes.
     */
    void AddOutput(std::string& prefix);

    /**
     * Read the options. --PrintHelp and the other print options end the process with exit code 0.
     * @param argc Number of words.
     * @param argv The words, the program first.
     * @param [out] error On failure, one sentence that says what was wrong.
     * @return whether every option was right.
     */
    [[nodiscard]] bool Parse(int argc, char* argv[], std::string& error);

    /**
     * Read the options, or end the process as Fail does.
     * @param argc Number of words.
     * @param argv The words, the program first.
     */
    void ParseOrExit(int argc, char* argv[]);

    /**
     * Print one sentence on standard error and end the process with exit code 1. Among several
     * ranks all but the first wait before they print, so that a mistake of all is said once.
     * @param error What was wrong, such as the error of a data loader.
     */
    [[noreturn]] void Fail(const std::string& error) const;

    /**
     * End the process as Fail does, unless a condition holds.
     * @param isRight The condition.
     * @param error What is wrong if it does not hold.
     */
    void Require(bool isRight, const std::string& error) const;

    /**
     * End an example that has no federation, as FederatedHelper::Finish() ends the others: print
     * the result line on standard output.
     * @param result The result line.
     * @return the exit code of the example, 0.
     */
    [[nodiscard]] int Finish(const FederatedResultLine& result) const;

    /** @return how the program was called; after Parse(). */
    FederatedCommand GetCommand() const;

    /** @return the files that ns-3 writes, to add to them. */
    FederatedTraceFiles& GetTraceFiles();

  private:
    /** Returns a value as a user would write it. */
    using Show = std::function<std::string()>;

    /** An option of the example. */
    struct Option
    {
        std::string name;  //!< Its name, without dashes.
        std::string text;  //!< Its default, as --PrintHelp shows it.
        bool isFlag;       //!< Whether the name alone is enough.
        bool checkDefault; //!< Whether the default has to be read too, because it may be wrong.
        bool needsOutput;  //!< Whether a flag that is set needs --output.
        Check read;        //!< Checks a value, and stores it when it is right.
        Show show;         //!< Returns the value.
    };

    /**
     * Add an option that needs a value.
     * @param name Its name, without dashes.
     * @param help What it means.
     * @param read Checks a value, and stores it when it is right.
     * @param show Returns the value.
     */
    void Add(const std::string& name, const std::string& help, const Check& read, const Show& show);

    /**
     * @param words The words after the program.
     * @return the error, empty if there is none.
     */
    std::string ReadAll(const std::vector<std::string>& words);

    /**
     * @param name Name of an option of the example or of ns-3.
     * @param hasValue Whether an equal sign follows.
     * @param value What follows it.
     * @return the error, empty if there is none.
     */
    std::string ReadOne(const std::string& name, bool hasValue, const std::string& value);

    CommandLine m_commandLine;           //!< Prints the help.
    std::deque<Option> m_options;        //!< The options; their addresses stay.
    std::vector<std::string> m_words;    //!< The command line.
    FederatedCommand::Values m_settings; //!< What it set in ns-3.
    FederatedTraceFiles m_files;         //!< What ns-3 writes.
};

} // namespace ns3

#endif // FEDERATED_COMMAND_LINE_H
