// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-trace-files.h"

#include "federated-test-folder.h"
#include "file-size-limit.h"

#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/trace-helper.h"

#include <gtest/gtest.h>

#include <set>

using namespace ns3;

/** @ingroup federated-tests Files of ns-3 in a folder of their own. */
class FederatedTraceFilesTest : public FederatedTestFolder
{
  protected:
    FederatedTraceFilesTest()
        : m_devices(SimpleNetDeviceHelper().Install(NodeContainer(1))),
          m_path(PcapHelper().GetFilenameFromDevice(GetFolder() + "/run", m_devices.Get(0)))
    {
        m_files.AddCaptures(GetFolder() + "/run", m_devices);
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Let ns-3 write a capture. */
    void Capture() const
    {
        const auto file = PcapHelper().CreateFile(m_path, std::ios::out, PcapHelper::DLT_RAW);
        for (uint32_t size : {0, 100, 1400, 1})
        {
            file->Write(Seconds(1), Create<Packet>(size));
        }
    }

    /** @return the error, empty if all files are complete. */
    std::string Check() const
    {
        std::string error;
        const bool complete = m_files.AreComplete(error);
        EXPECT_EQ(complete, error.empty());
        return error;
    }

    NetDeviceContainer m_devices; //!< One net device.
    std::string m_path;           //!< Of its capture.
    FederatedTraceFiles m_files;  //!< What is checked.
};

TEST_F(FederatedTraceFilesTest, AreCompleteIfNs3WroteThem)
{
    EXPECT_EQ(Check(), "") << "not begun yet";
    Capture();
    EXPECT_EQ(Check(), "");
    EXPECT_EQ(CountFiles(), 1) << "checking leaves nothing behind";
}

TEST_F(FederatedTraceFilesTest, SayWhereACaptureEndsInAPacket)
{
    Capture();
    const std::string name = m_path.substr(GetFolder().size() + 1);
    const std::string whole = Read(name);
    const std::size_t last = 24 + 4 * 16 + 1501;
    ASSERT_EQ(whole.size(), last);
    const std::set<std::size_t> ends{24, 40, 156, 1572, last};
    for (std::size_t size = 0; size <= whole.size(); ++size)
    {
        Write(name, whole.substr(0, size));
        EXPECT_EQ(Check(),
                  ends.count(size) > 0
                      ? ""
                      : "The file '" + m_path + "' is not complete: the disk is full or failed.")
            << size << " bytes";
    }
}

TEST_F(FederatedTraceFilesTest, NoticeACaptureOnAFullDisk)
{
    {
        const FileSizeLimit limit(1000);
        Capture();
    }
    EXPECT_NE(Check(), "");
}

TEST_F(FederatedTraceFilesTest, NeedRoomForMore)
{
    Capture();
    std::string error;
    {
        const FileSizeLimit limit(2000);
        EXPECT_FALSE(m_files.AreComplete(error));
    }
    EXPECT_EQ(error, "Cannot write '" + m_path + "': File too large.");
}

TEST_F(FederatedTraceFilesTest, AreLinesOrElementsThatEnd)
{
    const std::string lines = Write("run.tr", "");
    m_files.AddLines(lines);
    EXPECT_EQ(Check(), "") << "nothing was traced";
    Write("run.tr", "one\ntwo\n");
    EXPECT_EQ(Check(), "");
    Write("run.tr", "one\ntw");
    EXPECT_NE(Check().find("run.tr"), std::string::npos) << Check();
    Write("run.tr", "one\n");
    const std::string xml = Write("run.xml", "<flows>\n</flows>\n");
    m_files.AddXml(xml, "flows");
    EXPECT_EQ(Check(), "");
    for (const char* text : {"", "\n", "<flows>\n", "<flows>\n</flows>", "<flows>\n</flow>\n"})
    {
        Write("run.xml", text);
        EXPECT_NE(Check().find("run.xml"), std::string::npos) << text;
    }
}
