// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-listeners.h"

#include "ns3/abort.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/federated-streams.h"
#include "ns3/ipv4.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"

#include <map>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Fading with separate random streams for listeners. ns-3 draws for one receiver after the
 * other, so that one more receiver would change the fading of all others.
 */
class WifiListeners::Fading : public PropagationLossModel
{
  public:
    /** @param others Fading of all other receivers. */
    void SetOthers(const Ptr<PropagationLossModel>& others)
    {
        m_others = others;
    }

    /**
     * @param listener Position of a listener.
     * @param fading Its fading.
     */
    void Add(const Ptr<MobilityModel>& listener, const Ptr<PropagationLossModel>& fading)
    {
        m_listeners[PeekPointer(listener)] = fading;
    }

  protected:
    void DoDispose() override
    {
        m_others = nullptr;
        m_listeners.clear();
        PropagationLossModel::DoDispose();
    }

  private:
    double DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const override
    {
        const auto found = m_listeners.find(PeekPointer(b));
        return (found == m_listeners.end() ? m_others : found->second)->CalcRxPower(power, a, b);
    }

    int64_t DoAssignStreams(int64_t stream) override
    {
        return m_others->AssignStreams(stream);
    }

    Ptr<PropagationLossModel> m_others; //!< Of all other receivers.
    std::map<const MobilityModel*, Ptr<PropagationLossModel>> m_listeners; //!< By receiver.
};

WifiListeners::WifiListeners(WifiRadios& radios,
                             const WifiTuning& tuning,
                             uint32_t mcs,
                             double power)
    : m_radios(radios),
      m_tuning(tuning),
      m_mcs(mcs),
      m_power(power)
{
}

WifiListeners::~WifiListeners() = default;

Ptr<NetDevice>
WifiListeners::Add(const Ptr<Node>& node)
{
    NS_ABORT_MSG_IF(node->GetObject<Ipv4>(),
                    "FederatedWifiHelper: a listener with IP would answer ARP");
    const auto mobility = node->GetObject<MobilityModel>();
    NS_ABORT_MSG_IF(!mobility, "FederatedWifiHelper: the node of a listener has no position");
    // An ad hoc radio does not look for an access point.
    const NetDeviceContainer radio = m_radios.Install(node, "ns3::AdhocWifiMac", m_mcs, m_power);
    TuneRadio(radio.Get(0), m_tuning);
    int64_t stream = FederatedStreams::LISTENERS +
                     FederatedStreams::NEXT_LISTENERS * m_radios.GetCell() +
                     FederatedStreams::LISTENER * m_count++;
    stream += WifiHelper().AssignStreams(radio, stream);
    if (const auto fading = m_radios.MakeFading())
    {
        if (!m_fading)
        {
            m_fading = CreateObject<Fading>();
            m_fading->SetOthers(m_radios.GetFading());
            m_radios.ReplaceFading(m_fading);
        }
        fading->AssignStreams(stream);
        m_fading->Add(mobility, fading);
    }
    return radio.Get(0);
}

Ptr<Eavesdropper>
WifiListeners::AddEavesdropper(const Vector& position, const FederatedHelper& federation)
{
    const auto node = CreateObject<Node>(federation.GetCenter()->GetNode()->GetSystemId());
    const auto place = CreateObject<ConstantPositionMobilityModel>();
    place->SetPosition(position);
    node->AggregateObject(place);
    Add(node);
    PointerValue quantizer;
    federation.GetCenter()->GetAttribute("Quantizer", quantizer);
    const auto eavesdropper = CreateObject<Eavesdropper>();
    eavesdropper->SetAttribute("Dimension", UintegerValue(federation.GetTask()->GetDimension()));
    eavesdropper->SetAttribute("Quantizer", quantizer);
    eavesdropper->SetAttribute("RotationSeed",
                               UintegerValue(federation.GetTask()->GetRotationSeed()));
    node->AddApplication(eavesdropper);
    return eavesdropper;
}

} // namespace ns3::federated
