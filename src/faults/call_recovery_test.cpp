// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/call_recovery.hpp"

#include "fabric/fabric_test.hpp"
#include "faults/recovery.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(CallRecovery, TheStepAfterATimeoutFollowsPolicyTreeAndState)
{
  const Fabric fabric = fabric_of(FABRIC);
  const FabricState actual(fabric);
  const RecoveryModel model{Seconds(), Seconds(), Seconds(1e-3), 3, 2};
  LinkLosses losses;
  const CallRecovery recovery{CallPolicy::rebuild, model, actual, losses};
  const auto step = [&](int timeouts, bool to_hosts, bool tree, bool up) {
    return recovery.after_timeout(timeouts, to_hosts, [tree] { return tree; }, [up] { return up; });
  };
  EXPECT_EQ(step(1, true, true, true), AfterTimeout::hosts);
  EXPECT_EQ(step(1, false, false, true), AfterTimeout::hosts);
  EXPECT_EQ(step(1, false, true, true), AfterTimeout::again);
  EXPECT_EQ(step(9, false, true, true), AfterTimeout::again);
  for (const int timeouts : {1, 2, 3}) // the retries plus one
    EXPECT_EQ(step(timeouts, false, true, false), AfterTimeout::wait);
  EXPECT_EQ(step(4, false, true, false), AfterTimeout::give_up);
}

TEST(CallRecovery, TellsEachCallThatIsStillRunning)
{
  struct Call : BreakableCall {
    CallRecovery* recovery = nullptr;
    Call* other            = nullptr;
    int told               = 0;
    void change_bandwidths() override
    {
      ++told;
      recovery->end(*other); // as at the end of a job
    }
  };
  const Fabric fabric = fabric_of(FABRIC);
  const FabricState actual(fabric);
  const RecoveryModel model{Seconds(), Seconds(), Seconds(1e-3), 3, 2};
  LinkLosses losses;
  CallRecovery recovery{CallPolicy::abort, model, actual, losses};
  Call one;
  Call two;
  one.recovery = two.recovery = &recovery;
  one.other                   = &two;
  two.other                   = &one;
  recovery.running            = {&one, &two};
  recovery.tell([](BreakableCall& call) { call.change_bandwidths(); });
  EXPECT_EQ(one.told, 1);
  EXPECT_EQ(two.told, 0);
}

} // namespace
} // namespace weft
