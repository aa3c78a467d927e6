// SPDX-License-Identifier: GPL-2.0-only

#ifndef PREPARATION_FIXTURE_H
#define PREPARATION_FIXTURE_H

#include "ns3/interval-rule.h"
#include "ns3/object-factory.h"
#include "ns3/quantizer.h"
#include "ns3/update-preparation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ns3
{

/** @ingroup federated-tests Quantizers and interval rules by name, and settings that use them. */
class PreparationFixture : public testing::Test
{
  protected:
    /**
     * @param quantizer Name of a quantizer, without "ns3::".
     * @param interval Name of an interval rule, without "ns3::".
     * @param clipNorm Norm that is clipped at 2.
     * @return settings, for 3 bits where the quantizer has that resolution.
     */
    UpdateSettings Make(const std::string& quantizer,
                        const std::string& interval,
                        ClipNorm clipNorm = CLIP_L1)
    {
        m_bits = quantizer == "RandomCoordinatesQuantizer"    ? 2
                 : quantizer == "RandomizedResponseQuantizer" ? 1
                                                              : 3;
        m_quantizer = ObjectFactory("ns3::" + quantizer).Create<Quantizer>();
        m_rule = ObjectFactory("ns3::" + interval).Create<IntervalRule>();
        return {clipNorm, 2, PeekPointer(m_rule), PeekPointer(m_quantizer), m_bits, false};
    }

    /** @return the names of all quantizers. */
    static std::vector<std::string> GetQuantizers()
    {
        return {"DpStochasticQuantizer",
                "GaussianQuantizer",
                "IdentityQuantizer",
                "LaplaceQuantizer",
                "OptimalDpQuantizer",
                "RandomCoordinatesQuantizer",
                "RandomizedResponseQuantizer",
                "UnbiasedStochasticQuantizer"};
    }

    Ptr<Quantizer> m_quantizer; //!< Of the settings made last.
    Ptr<IntervalRule> m_rule;   //!< Of the settings made last.
    unsigned m_bits = 0;        //!< Of the settings made last.
};

} // namespace ns3

#endif // PREPARATION_FIXTURE_H
