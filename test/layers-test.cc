// SPDX-License-Identifier: GPL-2.0-only

// The rooms of the module (folders of model/, the applications, helper/) lie in layers: a room
// includes headers of rooms below it only. This test reads the #include lines of all files.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace
{

/** Rooms, and those that each of them includes. */
using Rooms = std::map<std::string, std::set<std::string>>;

/** A file that includes a header of the module. */
struct Include
{
    std::string file;   //!< The file, as model/room/name.cc.
    std::string header; //!< What it includes, as model/room/name.h.
};

/** @return which rooms each room may include, itself aside. */
Rooms
GetRule()
{
    Rooms rule;
    std::set<std::string> below;
    const auto add = [&rule, &below](const std::vector<std::string>& rooms)
    {
        for (const std::string& room : rooms)
        {
            rule[room] = below;
        }
        below.insert(rooms.begin(), rooms.end());
    };
    add({"base"});
    for (const char* room : {"theory", "wire", "channel"})
    {
        rule[room] = below;
    }
    add({"quantization"});
    add({"learning"});
    add({"fusion"});
    add({"privacy"});
    below.insert({"theory", "wire", "channel"});
    add({"center", "device"});
    add({"applications"});
    add({"energy", "hierarchy"});
    add({"helper"});
    return rule;
}

/**
 * @param path A file, as model/room/name.cc, model/name.cc or helper/name.cc.
 * @return its room.
 */
std::string
GetRoom(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return folder == "model" ? "applications" : folder.filename().string();
}

/** @return the headers and sources of the library, as model/room/name.cc, in order. */
std::set<std::string>
FindFiles()
{
    const std::filesystem::path root = FEDERATED_SOURCE_DIR;
    std::set<std::string> files;
    for (const char* folder : {"model", "helper"})
    {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
        {
            const auto& path = entry.path();
            if (path.extension() == ".h" || path.extension() == ".cc")
            {
                files.insert(path.lexically_relative(root).generic_string());
            }
        }
    }
    return files;
}

/**
 * @param files Files of the library.
 * @return all their includes of headers of the library. Headers are staged in one folder, so the
 * name tells which one is meant.
 */
std::vector<Include>
ReadIncludes(const std::set<std::string>& files)
{
    const auto getName = [](const std::string& path)
    { return std::filesystem::path(path).filename().string(); };
    std::map<std::string, std::string> headers;
    for (const std::string& file : files)
    {
        headers[getName(file)] = file;
    }
    std::vector<Include> includes;
    for (const std::string& file : files)
    {
        std::ifstream stream(std::string(FEDERATED_SOURCE_DIR) + "/" + file);
        for (std::string line; std::getline(stream, line);)
        {
            const std::string start = "#include \"";
            if (line.compare(0, start.size(), start) == 0)
            {
                const auto end = line.find('"', start.size());
                const auto header =
                    headers.find(getName(line.substr(start.size(), end - start.size())));
                if (header != headers.end())
                {
                    includes.push_back({file, header->second});
                }
            }
        }
    }
    return includes;
}

/**
 * @param includes Includes.
 * @return which rooms each room includes, itself aside.
 */
Rooms
GetRooms(const std::vector<Include>& includes)
{
    Rooms rooms;
    for (const Include& include : includes)
    {
        const std::string room = GetRoom(include.file);
        rooms[room]; // also of a room that includes no other one
        if (room != GetRoom(include.header))
        {
            rooms[room].insert(GetRoom(include.header));
        }
    }
    return rooms;
}

/**
 * @param includes Includes.
 * @param rule Which rooms each room may include.
 * @return a line for each include that the rule does not allow.
 */
std::vector<std::string>
FindWrongIncludes(const std::vector<Include>& includes, const Rooms& rule)
{
    std::vector<std::string> wrong;
    for (const Include& include : includes)
    {
        const std::string from = GetRoom(include.file);
        const std::string to = GetRoom(include.header);
        const auto allowed = rule.find(from);
        if (from != to && (allowed == rule.end() || allowed->second.count(to) == 0))
        {
            wrong.push_back(include.file + " includes " + include.header + ": " + from +
                            " must not include " + to);
        }
    }
    return wrong;
}

/**
 * @param rooms Which rooms each room includes.
 * @return the rooms of a cycle or above one, empty if there is none: what is left when rooms that
 * include nothing are taken away again and again.
 */
std::set<std::string>
FindCycle(Rooms rooms)
{
    for (bool changed = true; changed;)
    {
        changed = false;
        for (auto room = rooms.begin(); room != rooms.end();)
        {
            for (auto below = room->second.begin(); below != room->second.end();)
            {
                below = rooms.count(*below) == 0 ? room->second.erase(below) : std::next(below);
            }
            const bool isLowest = room->second.empty();
            changed = changed || isLowest;
            room = isLowest ? rooms.erase(room) : std::next(room);
        }
    }
    std::set<std::string> left;
    for (const auto& [room, below] : rooms)
    {
        left.insert(room);
    }
    return left;
}

/**
 * @param rooms Names.
 * @return them in one line.
 */
std::string
Join(const std::set<std::string>& rooms)
{
    std::string text;
    for (const std::string& room : rooms)
    {
        text += " " + room;
    }
    return text;
}

} // namespace

TEST(Layers, ARoomIncludesOnlyRoomsBelowIt)
{
    const std::vector<Include> includes = ReadIncludes(FindFiles());
    ASSERT_GT(includes.size(), 100U) << "the includes were not found";
    const Rooms rooms = GetRooms(includes);
    for (const auto& [room, below] : rooms)
    {
        std::cout << room << " ->" << Join(below) << "\n";
    }
    for (const std::string& wrong : FindWrongIncludes(includes, GetRule()))
    {
        ADD_FAILURE() << wrong;
    }
    EXPECT_EQ(Join(FindCycle(rooms)), "");
}

TEST(Layers, TheRuleCoversEveryRoomAndHasNoCycle)
{
    const Rooms rule = GetRule();
    EXPECT_EQ(Join(FindCycle(rule)), "");
    for (const std::string& file : FindFiles())
    {
        EXPECT_EQ(rule.count(GetRoom(file)), 1U) << file << " is in a room without a rule";
    }
    EXPECT_EQ(rule.at("base"), std::set<std::string>());
    EXPECT_EQ(rule.at("wire"), std::set<std::string>{"base"});
    EXPECT_EQ(rule.at("fusion"), (std::set<std::string>{"base", "learning", "quantization"}));
    EXPECT_EQ(rule.at("center").count("device"), 0U);
    EXPECT_EQ(rule.at("center").count("wire"), 1U);
    EXPECT_EQ(rule.at("hierarchy").count("applications"), 1U);
    EXPECT_EQ(rule.at("helper").size(), rule.size() - 1);
}

TEST(Layers, AWrongIncludeIsFound)
{
    const Rooms rule{{"low", {}}, {"high", {"low"}}, {"helper", {"high", "low"}}};
    const std::vector<Include> good{{"model/high/a.cc", "model/high/a.h"},
                                    {"model/high/a.cc", "model/low/b.h"},
                                    {"helper/c.cc", "model/high/a.h"}};
    EXPECT_TRUE(FindWrongIncludes(good, rule).empty());
    const struct
    {
        Include include;
        std::string wrong;
    } cases[] = {
        {{"model/low/b.cc", "model/high/a.h"},
         "model/low/b.cc includes model/high/a.h: low must not include high"},
        {{"model/low/b.h", "model/d.h"},
         "model/low/b.h includes model/d.h: low must not include applications"},
        {{"model/new/e.h", "model/low/b.h"},
         "model/new/e.h includes model/low/b.h: new must not include low"},
    };
    for (const auto& one : cases)
    {
        auto includes = good;
        includes.push_back(one.include);
        EXPECT_EQ(FindWrongIncludes(includes, rule), std::vector<std::string>{one.wrong});
    }
}

TEST(Layers, ACycleIsFound)
{
    const struct
    {
        Rooms rooms;
        std::string cycle;
    } cases[] = {
        {{{"a", {}}, {"b", {"a"}}, {"c", {"a", "b"}}}, ""},
        {{{"a", {"b"}}, {"b", {"a"}}, {"c", {}}}, " a b"},
        {{{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}, {"d", {}}}, " a b c"},
        {{{"a", {"outside"}}}, ""},
    };
    for (const auto& one : cases)
    {
        EXPECT_EQ(Join(FindCycle(one.rooms)), one.cycle);
    }
}
