// SPDX-License-Identifier: GPL-2.0-only

#include "federated-result-line.h"

#include "ns3/assert.h"
#include "ns3/federated-version.h"

#include <cmath>
#include <locale>
#include <sstream>

namespace ns3
{

FederatedResultLine::FederatedResultLine()
    : m_line("result")
{
    AddText("version", FEDERATED_VERSION);
}

void
FederatedResultLine::AddReal(const std::string& key, double value)
{
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.precision(10);
    if (!std::isnan(value))
    {
        text << value;
    }
    AddText(key, text.str());
    m_values.back().second = FederatedJson::Real(value);
}

void
FederatedResultLine::AddCount(const std::string& key, uint64_t value)
{
    AddText(key, std::to_string(value));
    m_values.back().second = std::to_string(value);
}

void
FederatedResultLine::AddText(const std::string& key, const std::string& value)
{
    NS_ASSERT_MSG((key + value).find_first_of(" \t\n") == std::string::npos,
                  "a space in " << key << "=" << value);
    m_line += " " + key + "=" + value;
    m_values.emplace_back(key, FederatedJson::Text(value));
}

void
FederatedResultLine::Print(std::ostream& stream) const
{
    stream << m_line << std::endl;
}

std::string
FederatedResultLine::ToJson() const
{
    return FederatedJson::Object(m_values, 4);
}

} // namespace ns3
