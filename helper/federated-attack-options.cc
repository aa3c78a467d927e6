// SPDX-License-Identifier: GPL-2.0-only

#include "federated-attack-options.h"

#include "federated-quantizers.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-number.h"
#include "ns3/object-factory.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

const std::string FIXED = "fixed:";

} // namespace

void
FederatedAttackOptions::Add(FederatedCommandLine& cmd)
{
    cmd.AddChoice("quantizer",
                  "Quantizer of the updates",
                  quantizer,
                  FederatedQuantizers::GetCoordinateWise());
    cmd.AddCount("bits", "Bits of a coordinate; rr has one", bits, 1, Quantizer::MAX_BITS);
    cmd.AddText("interval",
                "Interval of the levels: min-max, max-abs, layer-min-max or fixed:R",
                interval,
                [](const std::string& text)
                {
                    double radius = 0;
                    const bool isFixed =
                        text.compare(0, FIXED.size(), FIXED) == 0 &&
                        FederatedNumber::ReadReal(text.substr(FIXED.size()), radius) &&
                        radius > 0 && radius <= 1e6;
                    const bool isKnown = isFixed || text == "min-max" || text == "max-abs" ||
                                         text == "layer-min-max";
                    return isKnown ? std::string()
                                   : "is not min-max, max-abs, layer-min-max or fixed:R with R "
                                     "above 0, up to 1e6";
                });
    cmd.AddReal("epsilon",
                "Epsilon of a coordinate; laplace has d times that for an update",
                epsilon,
                1e-12,
                1000);
    cmd.AddReal("clip", "Bound of the update's l1 norm", clip, 1e-6, 1e9);
    cmd.AddChoice("attack", "The attack", attack, {"dlg", "idlg", "cosine", "linear"});
    cmd.AddCount("iterations",
                 "Iterations, the outer ones of dlg and idlg; 0 is 100 of these, 600 for cosine",
                 iterations,
                 0,
                 1000000);
}

void
FederatedAttackOptions::ReadOrExit(const FederatedCommandLine& cmd)
{
    cmd.Require(
        TypeId::LookupByNameFailSafe(FederatedQuantizers::GetTypeIdName(quantizer), &m_quantizer),
        "Option --quantizer=" + quantizer + " is not part of this build.");
    if (quantizer == "rr")
    {
        bits = 1;
    }
    if (interval.compare(0, FIXED.size(), FIXED) == 0)
    {
        FederatedNumber::ReadReal(interval.substr(FIXED.size()), m_radius);
    }
}

Ptr<Quantizer>
FederatedAttackOptions::MakeQuantizer(std::size_t dimension) const
{
    ObjectFactory factory;
    factory.SetTypeId(m_quantizer);
    TypeId::AttributeInformation attribute;
    if (quantizer == "laplace")
    {
        factory.Set("Sensitivity", DoubleValue(2 * clip));
        factory.Set("Epsilon", DoubleValue(epsilon * static_cast<double>(dimension)));
    }
    else if (m_quantizer.LookupAttributeByName("Epsilon", &attribute))
    {
        factory.Set("Epsilon", DoubleValue(epsilon));
    }
    return factory.Create<Quantizer>();
}

Ptr<IntervalRule>
FederatedAttackOptions::MakeInterval() const
{
    ObjectFactory factory;
    if (m_radius > 0)
    {
        factory.SetTypeId("ns3::FixedInterval");
        factory.Set("Low", DoubleValue(-m_radius));
        factory.Set("High", DoubleValue(m_radius));
    }
    else if (interval == "max-abs")
    {
        factory.SetTypeId("ns3::MaxAbsInterval");
    }
    else
    {
        factory.SetTypeId("ns3::MinMaxInterval");
        factory.Set("PerLayer", BooleanValue(interval == "layer-min-max"));
    }
    return factory.Create<IntervalRule>();
}

Ptr<GradientInversion>
FederatedAttackOptions::MakeAttack() const
{
    ObjectFactory factory(attack == "cosine"   ? "ns3::CosineInversion"
                          : attack == "linear" ? "ns3::LinearInversion"
                                               : "ns3::DlgInversion");
    if (attack == "idlg")
    {
        factory.Set("InferLabel", BooleanValue(true));
    }
    if (iterations > 0 && attack != "linear")
    {
        factory.Set("Iterations", UintegerValue(iterations));
    }
    return factory.Create<GradientInversion>();
}

} // namespace ns3
