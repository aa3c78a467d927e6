// SPDX-License-Identifier: GPL-2.0-only

#include "binary-response.h"

#include "ns3/abort.h"
#include "ns3/federated-number.h"

#include <cmath>

namespace ns3::federated
{

void
BinaryResponse::SetEpsilon(double epsilon)
{
    m_coin = PrivacyCoin(epsilon);
    m_span = m_coin.GetThreshold() - FAIR;
}

void
BinaryResponse::SetDecoder(const char* owner, const std::string& decoder)
{
    const std::string prefix = "gain:";
    m_gain = 0;
    if (decoder.compare(0, prefix.size(), prefix) == 0)
    {
        const bool isNumber = FederatedNumber::ReadReal(decoder.substr(prefix.size()), m_gain);
        NS_ABORT_MSG_IF(!isNumber || !(m_gain > 0),
                        owner << ": Decoder is '" << decoder
                              << "', its gain is not a number above 0");
    }
    else
    {
        NS_ABORT_MSG_IF(decoder != "bayes" && decoder != "unbiased",
                        owner << ": Decoder is '" << decoder << "', not bayes, unbiased or gain:x");
    }
    m_decoder = decoder;
}

const std::string&
BinaryResponse::GetDecoder() const
{
    return m_decoder;
}

bool
BinaryResponse::Check(const char* owner, std::string& error) const
{
    if (m_decoder == "unbiased" && GetContrast() <= 0)
    {
        error = std::string(owner) +
                ": Epsilon is so small that the coin is fair, which no decoder makes unbiased; "
                "choose a larger one, or Decoder=bayes.";
        return false;
    }
    return true;
}

double
BinaryResponse::GetRealizedEpsilon() const
{
    return m_coin.GetRealizedEpsilon();
}

double
BinaryResponse::GetContrast() const
{
    return 2 * m_coin.GetProbability() - 1;
}

BinaryResponse::UpdateRho
BinaryResponse::GetUpdateRho(double clipBound, double halfWidth, std::size_t dimension) const
{
    const double bound = clipBound * (1 + 1e-12); // positions are rounded
    const double reach = std::min(halfWidth, bound);
    const double contrast = GetContrast() * reach / halfWidth; // t
    const double ratio = bound / reach;
    const double count =
        dimension > 0 ? std::min(static_cast<double>(dimension), ratio * ratio) : ratio * ratio;
    const double loss = 2 * std::atanh(contrast);
    UpdateRho rho;
    rho.proven = count * loss * loss / 2;
    if (2 * contrast * contrast <= 1)
    {
        rho.tight = count * loss * std::tanh(loss / 2);
    }
    return rho;
}

double
BinaryResponse::GetGain(double chance) const
{
    if (m_gain > 0)
    {
        return m_gain;
    }
    const double contrast = GetContrast();
    if (m_decoder == "unbiased")
    {
        std::string error;
        NS_ABORT_MSG_IF(!Check("BinaryResponse", error), error);
        return 1 / (contrast * chance);
    }
    return contrast / 3;
}

} // namespace ns3::federated
