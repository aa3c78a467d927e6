// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_CELL_SENTENCES_H
#define FEDERATED_CELL_SENTENCES_H

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ns3::federated
{

/** @brief Sentences about cells. One that is true of several is kept once, with their numbers. */
class CellSentences
{
  public:
    /** A sentence. */
    struct Sentence
    {
        std::string text;         //!< The sentence.
        std::set<uint32_t> cells; //!< The cells of which it is true.
    };

    /** @param text A sentence. @param cell A cell of which it is true. */
    void Add(const std::string& text, uint32_t cell);

    /** @return all sentences, in the order in which they were added first. */
    const std::vector<Sentence>& GetAll() const;

    /**
     * @param cells Numbers of cells, at least one.
     * @return them in words, such as "Cells 0 to 2, 5".
     */
    static std::string Describe(const std::set<uint32_t>& cells);

  private:
    std::vector<Sentence> m_sentences; //!< No two with one text.
};

} // namespace ns3::federated

#endif // FEDERATED_CELL_SENTENCES_H
