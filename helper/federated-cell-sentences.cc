// SPDX-License-Identifier: GPL-2.0-only

#include "federated-cell-sentences.h"

#include <algorithm>

namespace ns3::federated
{

void
CellSentences::Add(const std::string& text, uint32_t cell)
{
    auto same = std::find_if(m_sentences.begin(),
                             m_sentences.end(),
                             [&text](const Sentence& other) { return other.text == text; });
    if (same == m_sentences.end())
    {
        same = m_sentences.insert(same, {text, {}});
    }
    same->cells.insert(cell);
}

const std::vector<CellSentences::Sentence>&
CellSentences::GetAll() const
{
    return m_sentences;
}

std::string
CellSentences::Describe(const std::set<uint32_t>& cells)
{
    std::string text = cells.size() == 1 ? "Cell " : "Cells ";
    for (auto cell = cells.begin(); cell != cells.end();)
    {
        const uint32_t first = *cell;
        uint32_t last = first;
        for (++cell; cell != cells.end() && *cell == last + 1; ++cell)
        {
            last = *cell;
        }
        text += (first == *cells.begin() ? "" : ", ") + std::to_string(first) +
                (last > first ? " to " + std::to_string(last) : "");
    }
    return text;
}

} // namespace ns3::federated
