// SPDX-License-Identifier: GPL-2.0-only

#ifndef PARSE_WORDS_H
#define PARSE_WORDS_H

#include "ns3/federated-command-line.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @param words The words of a command line, without the program.
 * @param cmd The command line.
 * @return its error; empty if there is none.
 */
inline std::string
ParseWords(std::vector<std::string> words, FederatedCommandLine& cmd)
{
    std::string program = "federated-test";
    std::vector<char*> arguments{program.data()};
    for (auto& word : words)
    {
        arguments.push_back(word.data());
    }
    std::string error;
    const bool isRight = cmd.Parse(static_cast<int>(arguments.size()), arguments.data(), error);
    return isRight ? "" : error;
}

} // namespace ns3

#endif // PARSE_WORDS_H
