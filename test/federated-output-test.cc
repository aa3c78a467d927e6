// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-output-file.h"

#include "federated-test-folder.h"

#include "ns3/federated-result-line.h"
#include "ns3/federated-version.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

using namespace ns3;

/** @ingroup federated-tests Files in a folder of their own. */
class FederatedOutputFiles : public FederatedTestFolder
{
};

TEST_F(FederatedOutputFiles, AppearWhenCommitted)
{
    std::string error;
    {
        FederatedOutputFile file(GetFolder() + "/a.csv");
        file.GetStream() << "round,loss\n" << 1234567 << ',' << 0.5 << '\n';
        EXPECT_EQ(Read("a.csv"), "");
        EXPECT_TRUE(file.Commit(error)) << error;
        EXPECT_FALSE(file.Commit(error));
        EXPECT_NE(error.find("committed before"), std::string::npos);
    }
    EXPECT_EQ(Read("a.csv"), "round,loss\n1234567,0.5\n");
    EXPECT_EQ(CountFiles(), 1);
}

TEST_F(FederatedOutputFiles, LeaveTheOldFileWhenNotCommitted)
{
    Write("a.csv", "old");
    {
        FederatedOutputFile file(GetFolder() + "/a.csv");
        file.GetStream() << "new";
    }
    EXPECT_EQ(Read("a.csv"), "old");
    EXPECT_EQ(CountFiles(), 1);
}

TEST_F(FederatedOutputFiles, GrowInPlaceOncePublished)
{
    std::string error;
    {
        FederatedOutputFile file(GetFolder() + "/a.csv");
        file.GetStream() << "round\n";
        EXPECT_EQ(Read("a.csv"), "");
        EXPECT_TRUE(file.Publish(error)) << error;
        EXPECT_EQ(Read("a.csv"), "round\n");
        file.GetStream() << "1\n";
        EXPECT_TRUE(file.Flush(error)) << error;
        EXPECT_EQ(Read("a.csv"), "round\n1\n");
        EXPECT_FALSE(file.Publish(error));
        EXPECT_NE(error.find("published before"), std::string::npos);
    }
    EXPECT_EQ(Read("a.csv"), "round\n1\n");
    EXPECT_EQ(CountFiles(), 1);
}

TEST_F(FederatedOutputFiles, ReportAFullDiskWhileTheyGrow)
{
    std::string error;
    std::filesystem::create_symlink("/dev/full", GetFolder() + "/a.csv.part");
    FederatedOutputFile file(GetFolder() + "/a.csv");
    file.GetStream() << "round\n";
    EXPECT_FALSE(file.Publish(error));
    EXPECT_NE(error.find("disk is full"), std::string::npos) << error;
}

TEST_F(FederatedOutputFiles, ReportWhatCannotBeWritten)
{
    std::string error;
    FederatedOutputFile missing(GetFolder() + "/none/a.csv");
    missing.GetStream() << "text";
    EXPECT_FALSE(missing.Commit(error));
    EXPECT_EQ(error, "Cannot write '" + GetFolder() + "/none/a.csv': No such file or directory.");

    std::filesystem::create_directory(GetFolder() + "/folder");
    {
        FederatedOutputFile folder(GetFolder() + "/folder");
        EXPECT_FALSE(folder.Commit(error));
        EXPECT_NE(error.find(GetFolder() + "/folder"), std::string::npos);
    }
    EXPECT_EQ(CountFiles(), 1);
}

TEST_F(FederatedOutputFiles, ReportAFullDisk)
{
    std::string error;
    std::filesystem::create_symlink("/dev/full", GetFolder() + "/a.csv.part");
    FederatedOutputFile file(GetFolder() + "/a.csv");
    file.GetStream() << std::string(100000, 'x');
    EXPECT_FALSE(file.Commit(error));
    EXPECT_NE(error.find("disk is full"), std::string::npos) << error;
}

TEST(FederatedResultLine, HasTheFormOfTheContract)
{
    FederatedResultLine line;
    line.AddCount("rounds", 20);
    line.AddReal("time_s", 123456.75);
    line.AddReal("test_accuracy", 0.8125);
    line.AddReal("tiny", 1e-6);
    line.AddReal("lost_fraction", std::numeric_limits<double>::quiet_NaN());
    line.AddText("algorithm", "fwo-cso");
    std::ostringstream stream;
    line.Print(stream);
    EXPECT_EQ(stream.str(),
              "result version=" FEDERATED_VERSION " rounds=20 time_s=123456.75 "
              "test_accuracy=0.8125 tiny=1e-06 lost_fraction= algorithm=fwo-cso\n");
}
