// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-run-record.h"

#include "federated-test-folder.h"
#include "file-size-limit.h"

#include "ns3/federated-helper.h"
#include "ns3/federated-output-file.h"
#include "ns3/federated-star-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/position-allocator.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

using namespace ns3;

/** @ingroup federated-tests A run of three devices in a star, with tiny images. */
class FederatedRunRecords : public FederatedTestFolder
{
  protected:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        Renew();
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Begin again: without places and without a command line. */
    void Renew()
    {
        Simulator::Destroy();
        m_helper = std::make_unique<FederatedHelper>();
        m_nodes = NodeContainer(3);
        m_helper->AddGroup(NodeContainer(NodeContainer(m_nodes.Get(0)), m_nodes.Get(1)), 2);
        m_helper->AddGroup(NodeContainer(m_nodes.Get(2)), 4);
        m_helper->SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
        m_helper->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_helper->SetTaskAttribute("Threads", UintegerValue(1));
        m_helper->SetCenterAttribute("Participants", UintegerValue(3));
        m_helper->SetCenterAttribute("Rounds", UintegerValue(2));
        m_helper->SetEncryptionKey("nobody shall read this");
        FederatedStarHelper star;
        star.SetTiers(0);
        m_center = CreateObject<Node>();
        star.Install(*m_helper, m_center);
        m_helper->StopWhenFinished();
    }

    /** @return whether the traces are enabled; if not, m_error says why. */
    bool Enable(bool links = true)
    {
        return m_helper->EnableTraces(GetFolder() + "/run", m_error, links);
    }

    /** @return the content of PREFIX-run.json. */
    std::string ReadRun() const
    {
        return Read("run-run.json");
    }

    /** Expect that PREFIX-run.json has a line. */
    void ExpectLine(const std::string& line) const
    {
        EXPECT_NE(ReadRun().find("\n" + line), std::string::npos) << line << " in " << ReadRun();
    }

    std::unique_ptr<FederatedHelper> m_helper;
    NodeContainer m_nodes;
    Ptr<Node> m_center;
    std::string m_error;
};

TEST(FederatedJson, EscapesWhatJsonDoesNotAllow)
{
    EXPECT_EQ(FederatedJson::Text(""), R"("")");
    EXPECT_EQ(FederatedJson::Text("a/b </script>"), R"("a/b </script>")");
    EXPECT_EQ(FederatedJson::Text("\"\\\n\x1f\x7f"), R"("\"\\\u000a\u001f\u007f")");
    EXPECT_EQ(FederatedJson::Text(std::string("\0", 1)), R"("\u0000")");
    EXPECT_EQ(FederatedJson::Object({{"a\"", "1"}}), R"({"a\"": 1})");
}

TEST(FederatedJson, IsAlwaysUtf8)
{
    // The first and the last character of each length.
    for (const char* text : {"\xc2\x80",
                             "\xdf\xbf",
                             "\xe0\xa0\x80",
                             "\xed\x9f\xbf",
                             "\xee\x80\x80",
                             "\xef\xbf\xbf",
                             "\xf0\x90\x80\x80",
                             "\xf4\x8f\xbf\xbf"})
    {
        EXPECT_EQ(FederatedJson::Text(text), std::string("\"") + text + "\"");
    }
    const std::string bad = "\\ufffd";
    EXPECT_EQ(FederatedJson::Text("\xff"), "\"" + bad + "\"");
    EXPECT_EQ(FederatedJson::Text("a\x80z"), "\"a" + bad + "z\"");
    EXPECT_EQ(FederatedJson::Text("\xc3"), "\"" + bad + "\"") << "ends within a character";
    EXPECT_EQ(FederatedJson::Text("\xc0\xaf"), "\"" + bad + bad + "\"") << "longer than needed";
    EXPECT_EQ(FederatedJson::Text("\xe0\x9f\xbf"), "\"" + bad + bad + bad + "\"");
    EXPECT_EQ(FederatedJson::Text("\xed\xa0\x80"), "\"" + bad + bad + bad + "\"") << "surrogate";
    EXPECT_EQ(FederatedJson::Text("\xf4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
    EXPECT_EQ(FederatedJson::Text("\xf0\x8f\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
}

TEST(FederatedJson, HasNullForWhatIsNotFinite)
{
    EXPECT_EQ(FederatedJson::Real(0.25), "0.25");
    EXPECT_EQ(FederatedJson::Real(1e-6), "1e-06");
    EXPECT_EQ(FederatedJson::Real(std::numeric_limits<double>::quiet_NaN()), "null");
    EXPECT_EQ(FederatedJson::Real(-std::numeric_limits<double>::infinity()), "null");
    EXPECT_EQ(FederatedJson::List({}), "[]");
    EXPECT_EQ(FederatedJson::Object({}, 2), "{}");
    EXPECT_EQ(FederatedJson::Object({{"a", "1"}, {"b", "[2, 3]"}}, 2),
              "{\n  \"a\": 1,\n  \"b\": [2, 3]\n}");
}

TEST_F(FederatedRunRecords, DescribeARunBeforeItsFirstRound)
{
    m_helper->SetCommand({"mine", {"./mine", "--a=\"b\""}, {{"a", "\"b\""}}, {{"RngRun", "7"}}});
    RngSeedManager::SetRun(7);
    ASSERT_TRUE(Enable()) << m_error;
    EXPECT_EQ(CountFiles(), 4);
    ExpectLine(R"(  "schema": 1,)");
    ExpectLine(R"(  "command": ["./mine", "--a=\"b\""],)");
    ExpectLine(R"(    "a": "\"b\"")");
    ExpectLine(R"(    "RngRun": "7")");
    ExpectLine(R"(  "rng_run": 7,)");
    ExpectLine(R"(    "d": 148,)"); // 4 classes of 36 pixels and a bias
    ExpectLine(R"(    "groups": [{"devices": 2, "bits": 2}, {"devices": 1, "bits": 4}],)");
    ExpectLine(R"(      "BitBudget": "ns3::FixedBitBudget[Bits=30]",)");
    ExpectLine(R"(  "tables": ["rounds", "devices", "links"],)");
    ExpectLine(R"(  "result": null,)");
    ExpectLine(R"(  "privacy": null)");
    EXPECT_EQ(ReadRun().find("nobody shall read this"), std::string::npos);
}

TEST_F(FederatedRunRecords, SayWhatAScriptDoesNotTell)
{
    ASSERT_TRUE(Enable(false)) << m_error;
    ExpectLine(R"(  "program": null,)");
    ExpectLine(R"(  "command": null,)");
    ExpectLine(R"(  "options": null,)");
    ExpectLine(R"(  "tables": ["rounds", "devices"],)");
    EXPECT_EQ(CountFiles(), 3);
}

TEST_F(FederatedRunRecords, HoldTheResultAfterTheLastRound)
{
    ASSERT_TRUE(Enable()) << m_error;
    Simulator::Run();
    const auto traces = m_helper->GetTraceWriter();
    ASSERT_TRUE(traces->IsComplete(m_error)) << m_error;
    ExpectLine("    \"rounds\": 2,");
    ExpectLine("  \"privacy\": [\"privacy: ");

    FederatedResultLine result = traces->GetResult();
    result.AddReal("more", std::numeric_limits<double>::infinity());
    ASSERT_TRUE(traces->WriteResult(result, m_error)) << m_error;
    ExpectLine("    \"more\": null\n  },");
}

TEST_F(FederatedRunRecords, OutliveTheHelper)
{
    ASSERT_TRUE(Enable()) << m_error;
    m_helper.reset();
    Simulator::Run();
    ExpectLine("    \"rounds\": 2,");
    ExpectLine("  \"privacy\": null");
}

TEST_F(FederatedRunRecords, ListTheDevicesAndTheirFirstPlaces)
{
    ASSERT_TRUE(Enable()) << m_error;
    EXPECT_EQ(Read("run-devices.csv"),
              "device,group,bits,samples,x_m,y_m,z_m\n"
              "center,,,,,,\n0,0,2,40,,,\n1,0,2,40,,,\n2,1,4,40,,,\n");

    Renew();
    auto places = CreateObject<ListPositionAllocator>();
    for (double x : {0.0, 1.5, -2e-7, 3.0})
    {
        places->Add(Vector(x, 7, 0.25));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(NodeContainer(NodeContainer(m_center), m_nodes));
    ASSERT_TRUE(Enable()) << m_error;
    EXPECT_EQ(Read("run-devices.csv"),
              "device,group,bits,samples,x_m,y_m,z_m\n"
              "center,,,,0,7,0.25\n0,0,2,40,1.5,7,0.25\n1,0,2,40,-2e-07,7,0.25\n"
              "2,1,4,40,3,7,0.25\n");
}

TEST_F(FederatedRunRecords, LeaveEarlierFilesIfOneIsBusy)
{
    for (const std::string busy : {"devices.csv", "run.json", "links.csv", "rounds.csv"})
    {
        Renew();
        for (const char* name : {"devices.csv", "run.json", "links.csv", "rounds.csv"})
        {
            Write(std::string("run-") + name, "old");
        }
        FederatedOutputFile other(GetFolder() + "/run-" + busy);
        EXPECT_FALSE(Enable());
        EXPECT_EQ(m_error,
                  "Cannot write '" + GetFolder() + "/run-" + busy +
                      "': it is already being written, by another process or by this one.");
        EXPECT_EQ(CountFiles(), 5) << "the old ones, and that of the other";
        for (const char* name : {"devices.csv", "run.json", "links.csv", "rounds.csv"})
        {
            EXPECT_EQ(Read(std::string("run-") + name), "old") << busy;
        }
    }
}

TEST_F(FederatedRunRecords, SayWhatCannotBeWritten)
{
    {
        const FileSizeLimit limit(1000); // tables begin with fewer bytes
        EXPECT_FALSE(Enable());
    }
    const std::string sentence = "Cannot write '" + GetFolder() + "/run-run.json': File too large.";
    EXPECT_EQ(m_error, sentence);
    EXPECT_EQ(CountFiles(), 0);

    ASSERT_TRUE(Enable()) << m_error;
    const std::string begin = ReadRun();
    m_error.clear();
    {
        const FileSizeLimit limit(begin.size() + 10);
        Simulator::Run();
    }
    EXPECT_FALSE(m_helper->GetTraceWriter()->IsComplete(m_error));
    EXPECT_EQ(m_error, sentence);
    EXPECT_EQ(ReadRun(), begin) << "the file without a result stays";
}

TEST_F(FederatedRunRecords, EndAScriptWithASentenceIfATableCouldNotBeWritten)
{
    m_helper->SetCommand({"mine", {"./mine"}, {}, {}});
    ASSERT_TRUE(Enable()) << m_error;
    {
        const FileSizeLimit limit(ReadRun().size() + 10);
        Simulator::Run();
    }
    testing::internal::CaptureStderr();
    EXPECT_EQ(m_helper->Finish(), 1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "mine: Cannot write '" + GetFolder() + "/run-run.json': File too large.\n");
}

TEST_F(FederatedRunRecords, EndAScriptWithASentenceIfTheResultCannotBeWritten)
{
    m_helper->SetCommand({"mine", {"./mine"}, {}, {}});
    ASSERT_TRUE(Enable()) << m_error;
    Simulator::Run();
    const FederatedOutputFile other(GetFolder() + "/run-run.json");
    testing::internal::CaptureStderr(); // no death test: the tables belong to this process
    EXPECT_EQ(m_helper->Finish(), 1);
    EXPECT_NE(
        testing::internal::GetCapturedStderr().find("\nmine: Cannot write '" + GetFolder() +
                                                    "/run-run.json': it is already being written"),
        std::string::npos);
}
