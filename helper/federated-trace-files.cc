// SPDX-License-Identifier: GPL-2.0-only

#include "federated-trace-files.h"

#include "federated-output-file.h"

#include "ns3/trace-helper.h"

#include <cstdint>
#include <fstream>

namespace ns3
{

namespace
{

/**
 * @param stream A capture.
 * @param size Its size in bytes.
 * @return whether it ends with a whole packet.
 */
bool
IsWholeCapture(std::ifstream& stream, uint64_t size)
{
    constexpr uint64_t FILE_HEADER = 24;
    uint64_t end = FILE_HEADER;
    while (end < size)
    {
        // Seconds, fractions, bytes that follow, bytes of the packet: as this machine stores them.
        uint32_t header[4] = {};
        stream.seekg(static_cast<std::streamoff>(end));
        stream.read(reinterpret_cast<char*>(header), sizeof(header));
        end += sizeof(header) + header[2];
    }
    return stream && end == size;
}

const char* const LINE_END = "\n";

/**
 * @param stream A text.
 * @param size Its size in bytes.
 * @param ending What it must end with.
 * @return whether it does, or has no lines at all.
 */
bool
IsWholeText(std::ifstream& stream, uint64_t size, const std::string& ending)
{
    std::string text(ending.size(), '\0');
    if (size >= ending.size())
    {
        stream.seekg(static_cast<std::streamoff>(size - ending.size()));
        stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    }
    return text == ending || (size == 0 && ending == LINE_END);
}

/**
 * @param path Path of a file.
 * @param [out] error On failure, one sentence.
 * @return whether there is room for another file beside it.
 */
bool
HasRoom(const std::string& path, std::string& error)
{
    constexpr std::size_t BLOCK = 4096; // fewer bytes might not need a block of their own
    FederatedOutputFile probe(path);    // never committed
    probe.GetStream() << std::string(BLOCK, '\0');
    return probe.Sync(error);
}

} // namespace

void
FederatedTraceFiles::AddCaptures(const std::string& prefix, const NetDeviceContainer& devices)
{
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        m_files.push_back({PcapHelper().GetFilenameFromDevice(prefix, devices.Get(i)), ""});
    }
}

void
FederatedTraceFiles::AddLines(const std::string& path)
{
    m_files.push_back({path, LINE_END});
}

void
FederatedTraceFiles::AddXml(const std::string& path, const std::string& root)
{
    m_files.push_back({path, "</" + root + ">" + LINE_END});
}

bool
FederatedTraceFiles::AreComplete(std::string& error) const
{
    for (const File& file : m_files)
    {
        std::ifstream stream(file.path, std::ios::binary | std::ios::ate);
        if (!stream)
        {
            continue;
        }
        const auto size = static_cast<uint64_t>(stream.tellg());
        if (file.ending.empty() ? !IsWholeCapture(stream, size)
                                : !IsWholeText(stream, size, file.ending))
        {
            error = "The file '" + file.path + "' is not complete: the disk is full or failed.";
            return false;
        }
    }
    return m_files.empty() || HasRoom(m_files.front().path, error);
}

} // namespace ns3
