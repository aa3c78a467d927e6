// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_COMPAT_H
#define FEDERATED_COMPAT_H

#include "ns3/attribute.h"
#include "ns3/enum.h"

/**
 * @file
 * @ingroup federated
 * The differences between the supported releases of ns-3, in one place.
 */

/** Application::AssignStreams is virtual from ns-3.42 on. */
#if __has_include("ns3/application-helper.h")
#define FEDERATED_OVERRIDES_SINCE_3_42 override
#else
#define FEDERATED_OVERRIDES_SINCE_3_42
#endif

namespace ns3
{
namespace energy
{
}
namespace lrwpan
{
}

/** Also names classes that have moved: compat::EnergySource, compat::LrWpanNetDevice. */
namespace compat
{

using namespace ns3;
using namespace energy; // the home of energy sources and models from ns-3.42 on
using namespace lrwpan; // likewise of lr-wpan

/** Preferred where it compiles: ns-3.41 and later want the type of the enumeration. */
template <typename Enum, typename Member>
auto
MakeEnumAccessor(Member member, int) -> decltype(ns3::MakeEnumAccessor<Enum>(member))
{
    return ns3::MakeEnumAccessor<Enum>(member);
}

/** Earlier releases. */
template <typename Enum, typename Member>
auto
MakeEnumAccessor(Member member, long) -> decltype(ns3::MakeEnumAccessor(member))
{
    return ns3::MakeEnumAccessor(member);
}

/**
 * @tparam Enum The enumeration.
 * @param member Pointer to the data member that holds the attribute.
 * @return an accessor for an attribute that is an enumeration.
 */
template <typename Enum, typename Member>
Ptr<const AttributeAccessor>
MakeEnumAccessor(Member member)
{
    return MakeEnumAccessor<Enum>(member, 0);
}

} // namespace compat
} // namespace ns3

#endif // FEDERATED_COMPAT_H
