// SPDX-License-Identifier: GPL-2.0-only

#include "device-registry.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::federated
{

uint64_t
DeviceAccount::TakeSerial(uint32_t round)
{
    lastSerial = std::max<uint64_t>(round, lastSerial + 1);
    return lastSerial;
}

std::vector<DeviceRegistry::Federation>&
DeviceRegistry::GetFederations()
{
    // Never destroyed: without Simulator::Destroy() tasks would end after the statics of ns-3.
    static auto& federations = *new std::vector<Federation>;
    return federations;
}

std::size_t
DeviceRegistry::FindNumber(const Ptr<LearningTask>& task)
{
    std::vector<Federation>& federations = GetFederations();
    if (federations.empty())
    {
        Simulator::ScheduleDestroy(&DeviceRegistry::Clear);
    }
    const auto federation =
        std::find_if(federations.begin(),
                     federations.end(),
                     [&task](const Federation& one) { return one.task == task; });
    if (federation == federations.end())
    {
        federations.push_back({task, {}});
        return federations.size() - 1;
    }
    return static_cast<std::size_t>(federation - federations.begin());
}

void
DeviceRegistry::Enter(const Ptr<LearningTask>& task)
{
    FindNumber(task);
}

std::shared_ptr<DeviceAccount>
DeviceRegistry::Find(const Ptr<LearningTask>& task, uint32_t device)
{
    const std::size_t number = FindNumber(task);
    std::shared_ptr<DeviceAccount>& account = GetFederations()[number].accounts[device];
    if (!account)
    {
        account = std::make_shared<DeviceAccount>();
        account->device = device;
        account->federation = static_cast<uint32_t>(number);
    }
    return account;
}

void
DeviceRegistry::Visit(const Ptr<LearningTask>& task, const Visitor& visitor)
{
    for (const Federation& federation : GetFederations())
    {
        if (federation.task == task)
        {
            for (const auto& [device, account] : federation.accounts)
            {
                visitor(device, *account);
            }
        }
    }
}

void
DeviceRegistry::Clear()
{
    GetFederations().clear();
}

} // namespace ns3::federated
