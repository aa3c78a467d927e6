// SPDX-License-Identifier: GPL-2.0-only

#include "strategy-checker.h"

#include "ns3/abort.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <sstream>

namespace ns3::federated
{

namespace
{

/**
 * @param type A class.
 * @param items What is in the brackets: Name=value, with | between.
 * @return the mistake in it; empty if there is none.
 */
std::string
FindMistakeInAttributes(const TypeId& type, const std::string& items)
{
    std::istringstream stream(items);
    for (std::string item; std::getline(stream, item, '|');)
    {
        const std::size_t equal = item.find('=');
        const std::string name = item.substr(0, equal);
        TypeId::AttributeInformation attribute;
        if (!type.LookupAttributeByName(name, &attribute))
        {
            return type.GetName() + " has no attribute '" + name + "'";
        }
        if (equal == std::string::npos ||
            !attribute.checker->CreateValidValue(StringValue(item.substr(equal + 1))))
        {
            return "the value in '" + item + "' is missing or wrong";
        }
    }
    return "";
}

/**
 * @param text A text for an object.
 * @param base The class that it must have.
 * @return the mistake in it; empty if there is none.
 */
std::string
FindMistake(const std::string& text, const TypeId& base)
{
    const std::size_t open = text.find('[');
    const std::string name = text.substr(0, open);
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(name, &type))
    {
        return "there is no class of that name";
    }
    if (type != base && !type.IsChildOf(base))
    {
        return "that class is of another kind";
    }
    if (!type.HasConstructor())
    {
        return "that class is abstract";
    }
    if (open == std::string::npos)
    {
        return "";
    }
    if (text.find(']') != text.size() - 1 || text.find('[', open + 1) != std::string::npos)
    {
        return "its brackets do not match";
    }
    if (text.find_first_of(" \t\n") != std::string::npos)
    {
        return "there are spaces in it"; // where ns-3 would stop to read
    }
    return FindMistakeInAttributes(type, text.substr(open + 1, text.size() - open - 2));
}

} // namespace

std::string
FindStrategyMistake(const std::string& text, const AttributeChecker& checker)
{
    const auto* pointers = dynamic_cast<const ns3::PointerChecker*>(&checker);
    if (!pointers)
    {
        return "";
    }
    const TypeId base = pointers->GetPointeeTypeId();
    const std::string mistake = FindMistake(text, base);
    return mistake.empty() ? ""
                           : "'" + text + "' cannot be used as " + base.GetName() + ": " + mistake;
}

bool
StrategyValue::DeserializeFromString(std::string value, Ptr<const AttributeChecker> checker)
{
    const std::string mistake = FindStrategyMistake(value, *checker);
    NS_ABORT_MSG_IF(!mistake.empty(), mistake);
    return PointerValue::DeserializeFromString(value, checker);
}

} // namespace ns3::federated
