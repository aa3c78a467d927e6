// SPDX-License-Identifier: GPL-2.0-only

#ifndef RECORDING_FUSION_H
#define RECORDING_FUSION_H

#include "ns3/fusion-rule.h"

#include <map>

namespace ns3
{

/** @ingroup federated-tests Equal weights, and a record of what the rule was told last. */
class RecordingFusion : public FusionRule
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::TestRecordingFusion").SetParent<FusionRule>();
        return tid;
    }

    mutable std::map<uint32_t, UpdateQuality> seen; // by device

  private:
    double DoGetScore(const UpdateQuality& update) const override
    {
        seen[update.device] = update;
        return 1;
    }
};

} // namespace ns3

#endif // RECORDING_FUSION_H
