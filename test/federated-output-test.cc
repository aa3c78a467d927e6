// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-output-file.h"

#include "child-process.h"
#include "federated-test-folder.h"
#include "file-size-limit.h"

#include "ns3/federated-result-line.h"
#include "ns3/federated-version.h"

#include <gtest/gtest.h>

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
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

TEST_F(FederatedOutputFiles, HoldWholeRowsAfterTheDiskIsFull)
{
    std::string error;
    std::string again;
    FederatedOutputFile file(GetFolder() + "/a.csv");
    file.GetStream() << "round,loss\n";
    EXPECT_TRUE(file.Publish(error)) << error;
    bool first = false;
    bool second = true;
    bool third = true;
    {
        const FileSizeLimit limit(20);
        file.GetStream() << "1,0.5\n"; // 17 bytes
        first = file.Flush(error);
        file.GetStream() << "2,0.25\n"; // 24
        second = file.Flush(error);
    }
    file.GetStream() << "3,0.125\n"; // there is room again
    third = file.Flush(again);
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
    EXPECT_FALSE(third) << "a row is missing";
    EXPECT_EQ(error, "Cannot write '" + GetFolder() + "/a.csv': File too large.");
    EXPECT_EQ(again, error);
    EXPECT_FALSE(file.Sync(error));
    EXPECT_EQ(Read("a.csv"), "round,loss\n1,0.5\n");
    EXPECT_EQ(CountFiles(), 1);
}

TEST_F(FederatedOutputFiles, LeaveNothingWhenTheDiskIsFull)
{
    Write("a.csv", "old");
    std::string error;
    for (const bool publish : {false, true})
    {
        bool done = true;
        FederatedOutputFile file(GetFolder() + "/a.csv");
        file.GetStream() << std::string(100000, 'x');
        {
            const FileSizeLimit limit(50000);
            done = publish ? file.Publish(error) : file.Commit(error);
        }
        EXPECT_FALSE(done);
        EXPECT_NE(error.find("File too large"), std::string::npos) << error;
        EXPECT_EQ(CountFiles(), 1) << "also if the object is never destroyed";
        EXPECT_EQ(Read("a.csv"), "old");
    }
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

TEST_F(FederatedOutputFiles, HoldWholeRowsOnADiskThatIsReallyFull)
{
#ifdef __linux__
    const std::string row = std::string(998, 'x') + "\n";
    ChildProcess child(
        [this, &row](ChildProcess& self)
        {
            // A disk of 64 kB, which nobody else sees and which vanishes with this process.
            if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
                mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                mount("tmpfs", GetFolder().c_str(), "tmpfs", 0, "size=65536") != 0)
            {
                self.Tell("cannot mount a small disk");
                return;
            }
            std::string error;
            FederatedOutputFile file(GetFolder() + "/a.csv");
            bool written = file.Publish(error);
            for (int i = 0; i < 1000 && written; ++i)
            {
                file.GetStream() << row;
                written = file.Flush(error);
            }
            self.Tell(error);
            self.Tell(std::to_string(Read("a.csv").size()));
        });
    const std::string error = child.Ask();
    if (error == "cannot mount a small disk")
    {
        GTEST_SKIP() << error;
    }
    EXPECT_EQ(error, "Cannot write '" + GetFolder() + "/a.csv': No space left on device.");
    EXPECT_EQ(child.Ask(), std::to_string(65536 / row.size() * row.size()));
#else
    GTEST_SKIP() << "mounting a small disk is known for Linux only";
#endif
}

TEST_F(FederatedOutputFiles, AreWrittenByOneObjectAtATime)
{
    std::string error;
    const std::string path = GetFolder() + "/a.csv";
    const std::string busy = "Cannot write '" + path +
                             "': it is already being written, by another process or by this one.";
    {
        FederatedOutputFile file(path);
        file.GetStream() << "round\n";
        EXPECT_TRUE(file.Flush(error)) << error;
        {
            FederatedOutputFile second(path);
            second.GetStream() << "intruder\n";
            EXPECT_FALSE(second.Flush(error));
            EXPECT_EQ(error, busy);
        }
        EXPECT_EQ(Read("a.csv.part"), "round\n") << "neither truncated nor removed";
        EXPECT_TRUE(file.Publish(error)) << error;
        {
            FederatedOutputFile second(path);
            EXPECT_FALSE(second.Publish(error));
            EXPECT_EQ(error, busy);
        }
        EXPECT_EQ(CountFiles(), 1);
        file.GetStream() << "1\n";
        EXPECT_TRUE(file.Flush(error)) << error;
    }
    EXPECT_EQ(Read("a.csv"), "round\n1\n");
    FederatedOutputFile next(path);
    next.GetStream() << "next\n";
    EXPECT_TRUE(next.Commit(error)) << error;
    FederatedOutputFile last(path);
    EXPECT_TRUE(last.Flush(error)) << "a committed file is free: " << error;
    EXPECT_EQ(Read("a.csv"), "next\n");
}

TEST_F(FederatedOutputFiles, AreWrittenByOneProcessAtATime)
{
    const std::string path = GetFolder() + "/a.csv";
    for (const bool publish : {false, true})
    {
        ChildProcess other(
            [&path, publish](ChildProcess& self)
            {
                std::string error;
                FederatedOutputFile file(path);
                file.GetStream() << "first\n";
                self.Tell((publish ? file.Publish(error) : file.Flush(error)) ? "yes" : error);
                self.Ask(); // is never answered
            });
        ASSERT_EQ(other.Ask(), "yes");
        std::string error;
        {
            FederatedOutputFile file(path);
            EXPECT_FALSE(file.Publish(error));
            EXPECT_NE(error.find("already being written"), std::string::npos) << error;
        }
        EXPECT_EQ(Read(publish ? "a.csv" : "a.csv.part"), "first\n");
        EXPECT_EQ(CountFiles(), 1);
        other.Kill();
        FederatedOutputFile file(path);
        file.GetStream() << "second\n";
        EXPECT_TRUE(file.Commit(error)) << "the lock has died with its process: " << error;
        EXPECT_EQ(Read("a.csv"), "second\n");
        EXPECT_EQ(CountFiles(), 1);
        std::filesystem::remove(path);
    }
}

TEST_F(FederatedOutputFiles, AreNotKeptByForkedProcesses)
{
    const std::string path = GetFolder() + "/a.csv";
    std::string error;
    auto file = std::make_unique<FederatedOutputFile>(path);
    file->GetStream() << "round\n";
    EXPECT_TRUE(file->Flush(error)) << error;
    ChildProcess child(
        [&file](ChildProcess& self)
        {
            std::string reason;
            file->GetStream() << "forked\n";
            self.Tell(file->Flush(reason) ? "written" : reason);
            file.reset();
            self.Tell("destroyed");
            self.Ask();
        });
    EXPECT_EQ(child.Ask(),
              "Cannot write '" + path + "': it belongs to the process that opened it.");
    EXPECT_EQ(child.Ask(), "destroyed");
    EXPECT_EQ(Read("a.csv.part"), "round\n");
    FILE* program = popen("cat >/dev/null", "w");
    ASSERT_NE(program, nullptr);
    EXPECT_TRUE(file->Publish(error)) << error;
    file.reset();
    FederatedOutputFile next(path);
    EXPECT_TRUE(next.Flush(error)) << "while child and program run: " << error;
    pclose(program);
}

TEST_F(FederatedOutputFiles, AreRemovedWhenAProgramExitsEarly)
{
    const std::string path = GetFolder() + "/a.csv";
    ChildProcess child(
        [&path](ChildProcess& self)
        {
            std::string error;
            FederatedOutputFile file(path);
            file.GetStream() << "round\n";
            self.Tell(file.Flush(error) ? "yes" : error);
            self.Ask();
            std::exit(1); // does not destroy the object
        });
    EXPECT_EQ(child.Ask(), "yes");
    EXPECT_EQ(CountFiles(), 1);
    child.Tell("exit");
    child.Wait();
    EXPECT_EQ(CountFiles(), 0);
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
    EXPECT_EQ(line.ToJson(),
              "{\n    \"version\": \"" FEDERATED_VERSION
              "\",\n    \"rounds\": 20,\n    \"time_s\": 123456.75,\n"
              "    \"test_accuracy\": 0.8125,\n    \"tiny\": 1e-06,\n"
              "    \"lost_fraction\": null,\n    \"algorithm\": \"fwo-cso\"\n  }");
}
