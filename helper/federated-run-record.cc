// SPDX-License-Identifier: GPL-2.0-only

#include "federated-run-record.h"

#include "ns3/federated-version.h"
#include "ns3/rng-seed-manager.h"

#include <sstream>

namespace ns3
{

namespace
{

/**
 * @param texts Texts.
 * @return a list of them.
 */
std::string
WriteTexts(const std::vector<std::string>& texts)
{
    std::vector<std::string> values;
    for (const std::string& text : texts)
    {
        values.push_back(FederatedJson::Text(text));
    }
    return FederatedJson::List(values);
}

/**
 * @param values Names and texts.
 * @param indent Spaces before each of them.
 * @return an object.
 */
std::string
WriteValues(const FederatedCommand::Values& values, unsigned indent)
{
    FederatedJson::Members members;
    for (const auto& [name, value] : values)
    {
        members.emplace_back(name, FederatedJson::Text(value));
    }
    return FederatedJson::Object(members, indent);
}

/**
 * @param text A text.
 * @return a list of its lines.
 */
std::string
WriteLines(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        lines.push_back(line);
    }
    return WriteTexts(lines);
}

} // namespace

std::string
FederatedRunRecord::ToJson(const std::vector<std::string>& tables, const std::string& result) const
{
    const std::string nothing = FederatedJson::NOTHING;
    const bool known = !command.program.empty();
    FederatedJson::Members classes;
    for (const auto& [name, values] : attributes)
    {
        classes.emplace_back(name, WriteValues(values, 6));
    }
    const FederatedJson::Members members{
        {"schema", "1"},
        {"version", FederatedJson::Text(FEDERATED_VERSION)},
        {"program", known ? FederatedJson::Text(command.program) : nothing},
        {"command", known ? WriteTexts(command.words) : nothing},
        {"options", known ? WriteValues(command.options, 4) : nothing},
        {"settings", known ? WriteValues(command.settings, 4) : nothing},
        {"rng_seed", std::to_string(RngSeedManager::GetSeed())},
        {"rng_run", std::to_string(RngSeedManager::GetRun())},
        {"facts", FederatedJson::Object(facts, 4)},
        {"attributes", FederatedJson::Object(classes, 4)},
        {"tables", WriteTexts(tables)},
        {"result", result},
        {"privacy", result != nothing && privacy ? WriteLines(privacy()) : nothing},
    };
    return FederatedJson::Object(members, 2) + "\n";
}

} // namespace ns3
