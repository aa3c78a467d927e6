// SPDX-License-Identifier: GPL-2.0-only

#include "federated-number.h"

#include <boost/lexical_cast/try_lexical_convert.hpp>

#include <cmath>
#include <sstream>

namespace ns3
{

bool
FederatedNumber::ReadCount(const std::string& text, uint64_t& value)
{
    const std::size_t point = text.find('.');
    const std::string digits = text.substr(0, point);
    const std::string zeros = point == std::string::npos ? "0" : text.substr(point + 1);
    // Boost reads -1 as 2^64-1.
    if (digits.find_first_not_of("0123456789") != std::string::npos || zeros.empty() ||
        zeros.find_first_not_of('0') != std::string::npos)
    {
        return false;
    }
    uint64_t number;
    if (!boost::conversion::try_lexical_convert(digits, number))
    {
        return false;
    }
    value = number;
    return true;
}

bool
FederatedNumber::ReadReal(const std::string& text, double& value)
{
    double number;
    if (!boost::conversion::try_lexical_convert(text, number) || !std::isfinite(number))
    {
        return false;
    }
    value = number;
    return true;
}

std::vector<std::string>
FederatedNumber::Split(const std::string& list)
{
    std::vector<std::string> items;
    std::istringstream stream(list + ','); // also ends the last item, which may be empty
    for (std::string item; !list.empty() && std::getline(stream, item, ',');)
    {
        items.push_back(item);
    }
    return items;
}

bool
FederatedNumber::ReadReals(const std::string& list,
                           double min,
                           double max,
                           std::vector<double>& values)
{
    return ReadList(list, &FederatedNumber::ReadReal, min, max, values);
}

} // namespace ns3
