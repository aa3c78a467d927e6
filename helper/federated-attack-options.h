// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_ATTACK_OPTIONS_H
#define FEDERATED_ATTACK_OPTIONS_H

#include "federated-command-line.h"

#include "ns3/gradient-inversion.h"
#include "ns3/interval-rule.h"
#include "ns3/quantizer.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The options that attack examples share: how an update is quantized, and how it is
 * attacked.
 *
 * @code
    FederatedAttackOptions options;
    options.Add(cmd);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
   @endcode
 */
class FederatedAttackOptions
{
  public:
    /**
     * Add the options, with the values here as defaults.
     * @param cmd The command line.
     */
    void Add(FederatedCommandLine& cmd);

    /**
     * Check and convert the parsed options; exit with an error sentence if one is wrong.
     * @param cmd The command line.
     */
    void ReadOrExit(const FederatedCommandLine& cmd);

    /**
     * @param dimension d. The option epsilon is for one coordinate; laplace gets d times that.
     * @return a quantizer.
     */
    Ptr<Quantizer> MakeQuantizer(std::size_t dimension) const;

    /** @return an interval rule. */
    Ptr<IntervalRule> MakeInterval() const;

    /** @return an attack. */
    Ptr<GradientInversion> MakeAttack() const;

    std::string quantizer = "dp";     //!< none, sq, dp, laplace, rr or optimal.
    uint32_t bits = 6;                //!< b.
    std::string interval = "min-max"; //!< min-max, max-abs, layer-min-max or fixed:R.
    double epsilon = 1e-6;            //!< Of a coordinate.
    double clip = 10;                 //!< C, of the l1 norm.
    std::string attack = "dlg";       //!< dlg, idlg, cosine or linear.
    uint32_t iterations = 0;          //!< 0: the default of the attack.

  private:
    TypeId m_quantizer;  //!< Of the quantizer.
    double m_radius = 0; //!< Of a fixed interval.
};

} // namespace ns3

#endif // FEDERATED_ATTACK_OPTIONS_H
