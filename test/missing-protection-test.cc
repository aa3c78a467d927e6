// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"

using namespace ns3;

using MissingProtectionDeathTest = Federation;

TEST_F(MissingProtectionDeathTest, AKeyIsRefusedWithASentenceIfTheBuildHasNoLibrary)
{
    if (HasProtection())
    {
        GTEST_SKIP() << "this build can protect messages";
    }
    const char* sentence = "is set, but this build cannot protect messages: install OpenSSL";
    Build(2);
    center->SetAttribute("EncryptionKey", StringValue("a key"));
    EXPECT_DEATH(Run(), std::string("EncryptionKey ") + sentence);
    EXPECT_DEATH(center->GetDeviceKey(0), std::string("EncryptionKey ") + sentence);
    Build(2);
    apps[1]->SetAttribute("DeviceKey", StringValue("a key"));
    EXPECT_DEATH(Run(), std::string("DeviceKey of device 1 ") + sentence);
}
