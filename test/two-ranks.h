// SPDX-License-Identifier: GPL-2.0-only

#ifndef TWO_RANKS_H
#define TWO_RANKS_H

#include "ns3/federated-ranks.h"

#include "child-process.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/** @ingroup federated-tests @brief Two processes that tell each other their numbers. */
class LinkedRanks : public FederatedRanks::Engine
{
  public:
    /** @param other The other process. @param rank The number of this one. */
    void Link(ChildProcess& other, uint32_t rank)
    {
        m_other = &other;
        m_rank = rank;
    }

    void Begin(int& /* argc */, char**& /* argv */) override
    {
    }

    uint32_t GetRank() const override
    {
        return m_rank;
    }

    uint32_t GetSize() const override
    {
        return 2;
    }

    void AlignWindows() override
    {
    }

    double GetMax(double value) override
    {
        char text[64];
        std::snprintf(text, sizeof(text), "%a", value);
        m_other->Tell(text);
        return std::max(value, std::strtod(m_other->Ask().c_str(), nullptr));
    }

    std::vector<std::string> GetAll(const std::string& text) override
    {
        m_other->Tell(ToLine(text));
        std::vector<std::string> all{text, FromLine(m_other->Ask())};
        if (m_rank == 1)
        {
            std::swap(all[0], all[1]);
        }
        return all;
    }

    void End() override
    {
    }

    /** @param text A text without form feeds. @return it in a line. */
    static std::string ToLine(std::string text)
    {
        std::replace(text.begin(), text.end(), '\n', '\f');
        return text;
    }

    /** @param line What ToLine() gave. @return the text. */
    static std::string FromLine(std::string line)
    {
        std::replace(line.begin(), line.end(), '\f', '\n');
        return line;
    }

  private:
    ChildProcess* m_other = nullptr; //!< The other process.
    uint32_t m_rank = 0;             //!< The number of this one.
};

/**
 * @ingroup federated-tests
 * Run two ranks without MPI, the second one in a forked process.
 * @param main What each does; it returns a text.
 * @return the texts of both.
 */
inline std::array<std::string, 2>
RunOnTwoRanks(const std::function<std::string()>& main)
{
    LinkedRanks ranks;
    FederatedRanks::Register(&ranks);
    ChildProcess other(
        [&](ChildProcess& first)
        {
            ranks.Link(first, 1);
            first.Tell(LinkedRanks::ToLine(main()));
        });
    ranks.Link(other, 0);
    std::array<std::string, 2> texts;
    texts[0] = main();
    texts[1] = LinkedRanks::FromLine(other.Ask());
    FederatedRanks::Register(nullptr);
    return texts;
}

} // namespace ns3

#endif // TWO_RANKS_H
