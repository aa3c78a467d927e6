// SPDX-License-Identifier: GPL-2.0-only

#ifndef STRATEGY_CHECKER_H
#define STRATEGY_CHECKER_H

#include "ns3/pointer.h"

#include <string>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief An object that may be given as a text, such as "ns3::FixedBitBudget[Bits=30]".
 *
 * ns-3 crashes on an unknown class and on brackets that do not match, and accepts attributes in the
 * brackets that are out of range. Here all of these abort with a sentence.
 */
class StrategyValue : public PointerValue
{
  public:
    bool DeserializeFromString(std::string value, Ptr<const AttributeChecker> checker) override;
};

/**
 * @ingroup federated
 * @param text A text for an object.
 * @param checker The checker of an attribute.
 * @return the mistake in the text, without a period; empty if there is none, or the attribute does
 * not hold an object.
 */
std::string FindStrategyMistake(const std::string& text, const AttributeChecker& checker);

/**
 * @ingroup federated
 * @brief The checker of a StrategyValue.
 * @tparam T Class of the objects.
 */
template <typename T>
class StrategyChecker : public internal::PointerChecker<T>
{
    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<StrategyValue>();
    }
};

/**
 * @tparam T Class of the objects.
 * @return a checker for a pointer attribute, to be used instead of that of MakePointerChecker.
 */
template <typename T>
Ptr<const AttributeChecker>
MakeStrategyChecker()
{
    return Create<StrategyChecker<T>>();
}

} // namespace ns3::federated

#endif // STRATEGY_CHECKER_H
