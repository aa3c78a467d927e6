// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_TRACE_FILES_H
#define FEDERATED_TRACE_FILES_H

#include "ns3/net-device-container.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Checks the files that ns-3 writes without saying whether it could: captures, ASCII traces,
 * XML files.
 *
 * ns-3 writes nothing more to a file after a failure, so that the file ends early: in the middle of
 * a packet, of a line, or without its closing tag. It could also end between two packets or lines;
 * therefore the disk must have room for some more bytes, too.
 *
 * A file is complete only after all objects of the simulation were destroyed, because ns-3 closes
 * it when the last reference to its net device is gone.
 */
class FederatedTraceFiles
{
  public:
    /**
     * @param prefix Start of the paths, as given to EnablePcap.
     * @param devices Net devices, whose captures will be checked.
     */
    void AddCaptures(const std::string& prefix, const NetDeviceContainer& devices);

    /** @param path Path of a file with lines of text, or without any, that will be checked. */
    void AddLines(const std::string& path);

    /**
     * @param path Path of an XML file that will be checked.
     * @param root Name of its root element.
     */
    void AddXml(const std::string& path, const std::string& root);

    /**
     * @param [out] error On failure, one sentence with the path and what was wrong.
     * @return whether all files are complete. A file that is not there was never begun: newer
     * releases of ns-3 begin a capture with its first packet.
     */
    [[nodiscard]] bool AreComplete(std::string& error) const;

  private:
    /** A file. */
    struct File
    {
        std::string path;   //!< Its path.
        std::string ending; //!< What a text must end with; empty: a capture.
    };

    std::vector<File> m_files; //!< The files.
};

} // namespace ns3

#endif // FEDERATED_TRACE_FILES_H
