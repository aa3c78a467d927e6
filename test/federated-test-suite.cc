// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace ns3;

namespace
{

/**
 * @param name Name of a GoogleTest suite, with a slash where it has parameters.
 * @return a name that ns-3 allows for a test.
 */
std::string
MakeTestName(std::string name)
{
    std::replace(name.begin(), name.end(), '/', '-');
    return name;
}

/**
 * @ingroup federated-tests
 * @brief Shows the outcome of one GoogleTest suite to ns-3's test-runner.
 */
class GoogleTestCase : public TestCase
{
  public:
    /** @param suite The suite, which has been run. */
    explicit GoogleTestCase(const testing::TestSuite* suite)
        : TestCase(MakeTestName(suite->name())),
          m_suite(suite)
    {
    }

  private:
    void DoRun() override
    {
        for (int i = 0; i < m_suite->total_test_count(); ++i)
        {
            const testing::TestInfo* test = m_suite->GetTestInfo(i);
            const testing::TestResult* result = test->result();
            for (int part = 0; part < result->total_part_count(); ++part)
            {
                const testing::TestPartResult& outcome = result->GetTestPartResult(part);
                if (outcome.failed())
                {
                    ReportTestFailure(test->name(),
                                      "",
                                      "",
                                      outcome.summary(),
                                      outcome.file_name() ? outcome.file_name() : "",
                                      outcome.line_number());
                }
            }
        }
    }

    const testing::TestSuite* m_suite; //!< The suite.
};

/**
 * @ingroup federated-tests
 * @brief The GoogleTest suites of the module as one ns-3 test suite.
 */
class FederatedTestSuite : public TestSuite
{
  public:
    FederatedTestSuite()
        : TestSuite("federated", Type::UNIT)
    {
    }

  private:
    void DoSetup() override
    {
        testing::InitGoogleTest();
        testing::UnitTest* tests = testing::UnitTest::GetInstance();
        auto& listeners = tests->listeners();
        delete listeners.Release(listeners.default_result_printer());
        // Outcomes are read from the results of each test; the summary says nothing more.
        [[maybe_unused]] const int status = RUN_ALL_TESTS();
        for (int i = 0; i < tests->total_test_suite_count(); ++i)
        {
            const testing::TestSuite* suite = tests->GetTestSuite(i);
            if (suite->should_run())
            {
                AddTestCase(new GoogleTestCase(suite));
            }
        }
    }
};

FederatedTestSuite g_federatedTestSuite; //!< Registers the suite.

} // namespace
