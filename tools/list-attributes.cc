// SPDX-License-Identifier: GPL-2.0-only

/*
 * Lists the attributes and trace sources of all classes of the module, as the TypeIds have them, in
 * reStructuredText: doc/tables/attributes.rst, which doc/attributes.rst includes.
 *
 *    build/list-attributes > doc/tables/attributes.rst
 *    build/list-attributes --check doc/tables/attributes.rst     exit code 1 if that is outdated
 */

#include "ns3/address.h"
#include "ns3/attribute.h"
#include "ns3/fusion-center.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/pointer.h"
#include "ns3/socket-address.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

/**
 * @param text Any text.
 * @return it without special meaning in reStructuredText.
 */
std::string
Escape(const std::string& text)
{
    std::string escaped;
    for (char c : text)
    {
        escaped += std::string("*`|_\\").find(c) == std::string::npos ? "" : "\\";
        escaped += c;
    }
    return escaped;
}

/**
 * @param text Any text.
 * @return it as a literal; empty if it is.
 */
std::string
Quote(const std::string& text)
{
    return text.empty() ? "" : "``" + text + "``";
}

/**
 * @param name Name of a class.
 * @return it without its namespace.
 */
std::string
Shorten(const std::string& name)
{
    const std::string space = "ns3::";
    return name.compare(0, space.size(), space) == 0 ? name.substr(space.size()) : name;
}

/** Write the begin of a table. */
void
BeginTable(std::ostream& out, const std::string& widths, const std::vector<std::string>& heads)
{
    out << ".. list-table::\n   :header-rows: 1\n   :widths: " << widths << "\n\n";
    for (std::size_t i = 0; i < heads.size(); ++i)
    {
        out << (i == 0 ? "   * - " : "     - ") << heads[i] << '\n';
    }
}

/** Write a row of a table. */
void
AddRow(std::ostream& out, const std::vector<std::string>& cells)
{
    for (std::size_t i = 0; i < cells.size(); ++i)
    {
        out << (i == 0 ? "   * -" : "     -") << (cells[i].empty() ? "" : " ") << cells[i] << '\n';
    }
}

/**
 * @param text A text.
 * @param separator Divides it.
 * @return its parts.
 */
std::vector<std::string>
Split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
    {
        parts.push_back(part);
    }
    return parts;
}

/**
 * @param text A time as ns-3 prints it, in nanoseconds.
 * @return it in the largest unit in which it is a whole number.
 */
std::string
FormatTime(const std::string& text)
{
    const Time time(text);
    const std::vector<std::pair<Time::Unit, int64_t>> units{
        {Time::S, 1000000000}, {Time::MS, 1000000}, {Time::US, 1000}, {Time::NS, 1}};
    const auto unit =
        std::find_if(units.begin(),
                     units.end(),
                     [&time](const auto& one) { return time.GetNanoSeconds() % one.second == 0; });
    std::ostringstream out;
    out << time.GetNanoSeconds() / unit->second
        << std::map<Time::Unit, const char*>{{Time::S, " s"},
                                             {Time::MS, " ms"},
                                             {Time::US, " us"},
                                             {Time::NS, " ns"}}
               .at(unit->first);
    return out.str();
}

/**
 * @param kind What the values of an attribute are.
 * @param range Their range, LEAST:MOST.
 * @return both in words; limits that are those of the type are left out.
 */
std::string
DescribeRange(const std::string& kind, const std::string& range)
{
    static const std::vector<std::string> ENDS{
        "4294967295", "18446744073709551615", "1.79769e+308", "inf", "+9.22337e+18ns"};
    const std::vector<std::string> ends = Split(range, ':');
    const bool isTime = kind == "time";
    const std::string from = isTime ? FormatTime(ends.at(0)) : ends.at(0);
    const bool isOpen = std::find(ENDS.begin(), ENDS.end(), ends.at(1)) != ENDS.end();
    return kind + " from " + from +
           (isOpen ? " on" : " to " + (isTime ? FormatTime(ends.at(1)) : ends.at(1)));
}

/**
 * @param checker Checks the values of an attribute.
 * @return what they can be, in words.
 */
std::string
DescribeValues(const Ptr<const AttributeChecker>& checker)
{
    static const std::map<std::string, std::string> KINDS{{"UintegerValue", "whole number"},
                                                          {"IntegerValue", "whole number"},
                                                          {"DoubleValue", "number"},
                                                          {"TimeValue", "time"},
                                                          {"BooleanValue", "true or false"},
                                                          {"StringValue", "text"},
                                                          {"AddressValue", "address"},
                                                          {"DataRateValue", "data rate"},
                                                          {"TypeIdValue", "TypeId"}};
    const std::string name = Shorten(checker->GetValueTypeName());
    const std::string more = checker->GetUnderlyingTypeInformation();
    if (name == "EnumValue")
    {
        std::string choices;
        for (const std::string& choice : Split(more, '|'))
        {
            choices += (choices.empty() ? "" : ", ") + Quote(choice);
        }
        return choices;
    }
    if (name == "PointerValue")
    {
        const auto begin = more.find("ns3::", more.find('<'));
        return "object: " + Quote(Shorten(more.substr(begin, more.find(' ', begin) - begin)));
    }
    const auto kind = KINDS.find(name);
    const auto space = more.find(' ');
    return kind == KINDS.end()          ? name
           : space == std::string::npos ? kind->second
                                        : DescribeRange(kind->second, more.substr(space + 1));
}

/**
 * @param attribute An attribute.
 * @return its initial value, in words where ns-3's text cannot be read.
 */
std::string
DescribeInitial(const TypeId::AttributeInformation& attribute)
{
    const auto& initial = *attribute.originalInitialValue;
    const std::string text = initial.SerializeToString(attribute.checker);
    if (const auto address = dynamic_cast<const AddressValue*>(&initial))
    {
        std::ostringstream place;
        place << federated::SocketAddress(address->Get());
        return address->Get().IsInvalid() ? "not set" : Quote(place.str());
    }
    if (dynamic_cast<const TimeValue*>(&initial))
    {
        return FormatTime(text);
    }
    const bool isNull = dynamic_cast<const PointerValue*>(&initial) && text == "0";
    return isNull ? "none" : text.empty() ? "empty" : Quote(text);
}

/** Write the attributes and trace sources of a class. */
void
ListClass(std::ostream& out, const TypeId& type)
{
    if (type.GetAttributeN() > 0)
    {
        BeginTable(out, "15 20 22 43", {"attribute", "values", "initial value", "meaning"});
        for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            const auto attribute = type.GetAttribute(i);
            AddRow(out,
                   {Quote(attribute.name),
                    DescribeValues(attribute.checker),
                    DescribeInitial(attribute),
                    Escape(attribute.help)});
        }
        out << '\n';
    }
    if (type.GetTraceSourceN() > 0)
    {
        BeginTable(out, "20 36 44", {"trace source", "when", "signature of a sink"});
        for (std::size_t i = 0; i < type.GetTraceSourceN(); ++i)
        {
            const auto source = type.GetTraceSource(i);
            AddRow(out, {Quote(source.name), Escape(source.help), Quote(source.callback)});
        }
        out << '\n';
    }
}

/** @return the class below ns-3's own ones that a class descends from: its kind. */
std::string
GetKind(TypeId type)
{
    while (type.GetParent().GetGroupName() == "Federated")
    {
        type = type.GetParent();
    }
    return type.GetName();
}

/** Write all classes of the module. */
void
ListAll(std::ostream& out)
{
    std::map<std::string, std::vector<TypeId>> kinds; // classes by what they are children of
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.GetGroupName() == "Federated" && type.IsChildOf(Object::GetTypeId()))
        {
            kinds[GetKind(type)].push_back(type);
        }
    }
    // The applications and the task first, then the strategies.
    std::vector<std::string> order{
        "ns3::FusionCenter", "ns3::FederatedDevice", "ns3::LearningTask", "ns3::Eavesdropper"};
    for (const auto& [name, types] : kinds)
    {
        if (std::find(order.begin(), order.end(), name) == order.end())
        {
            order.push_back(name);
        }
    }
    out << ".. Made by build/list-attributes; do not edit.\n\n";
    for (const std::string& kind : order)
    {
        auto& types = kinds.at(kind);
        std::sort(types.begin(),
                  types.end(),
                  [&kind](const TypeId& a, const TypeId& b)
                  {
                      const bool isFirst = a.GetName() == kind;
                      const bool isSecond = b.GetName() == kind;
                      return isFirst != isSecond ? isFirst : a.GetName() < b.GetName();
                  });
        out << Shorten(kind) << '\n' << std::string(Shorten(kind).size(), '*') << "\n\n";
        std::string bare; // classes without attributes and trace sources
        for (const TypeId& type : types)
        {
            if (type.GetAttributeN() > 0 || type.GetTraceSourceN() > 0)
            {
                out << (types.size() > 1 ? Quote(type.GetName()) + "\n\n" : "");
                ListClass(out, type);
            }
            else if (type.GetName() != kind)
            {
                bare += (bare.empty() ? "" : ", ") + Quote(type.GetName());
            }
        }
        out << (bare.empty() ? "" : "Without attributes of their own: " + bare + ".\n\n");
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    FusionCenter::GetTypeId(); // without a symbol of it the library is not linked
    std::ostringstream text;
    ListAll(text);
    if (argc == 1)
    {
        std::cout << text.str();
        return 0;
    }
    if (argc != 3 || std::string(argv[1]) != "--check")
    {
        std::cerr << "Usage: list-attributes [--check FILE]\n";
        return 1;
    }
    std::ifstream file(argv[2]);
    const std::string stored((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
    if (stored == text.str())
    {
        return 0;
    }
    std::cerr << argv[2] << " is outdated: build/list-attributes > doc/tables/attributes.rst\n";
    return 1;
}
