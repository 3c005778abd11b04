// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/prediction.hpp"

#include "collective/host/selection/algorithms.hpp"
#include "fabric/fabric_test.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr double LATENCY = 2.25e-6; // latency of a route
constexpr Bytes VECTOR{984};
constexpr double WIRE = 1000 / 1e9; // including the envelope
constexpr Seconds ANY{1.0};

class PredictionTest : public ::testing::Test {
protected:
  Fabric fabric_ = fabric_of(FABRIC);
  std::vector<int> hosts_{0, 1, 2, 3};
  MessageCosts costs_ = costs_of({}, fabric_.host());

  static HostCall call(std::string_view collective, int ranks) { return {collective, ranks, 0, 984}; }
  std::vector<int> hosts(int ranks) const { return {hosts_.begin(), hosts_.begin() + ranks}; }
  Seconds interval(std::string_view collective, std::string_view algorithm, int ranks, int calls, Seconds most = ANY)
  {
    return predicted_interval(fabric_, costs_, hosts(ranks), call(collective, ranks),
                              {find_algorithm(collective, algorithm), {}}, calls, most);
  }
};

// Three ranks: the first sends its vector to the second, which exchanges with the third and sends the sum back.
TEST_F(PredictionTest, ACallLastsUntilItsLastRankHasLeft)
{
  const double message = LATENCY + WIRE;
  const auto* const by = find_algorithm("allreduce", "recursive_doubling");
  EXPECT_NEAR(interval("allreduce", "recursive_doubling", 3, 1).value(), 3 * message, 1e-15);
  EXPECT_NEAR(predicted_time(fabric_, costs_, hosts(3), call("allreduce", 3), {by, {}}).value(), 7 * message / 3,
              1e-15);
  // In consecutive calls, all ranks wait for the first.
  EXPECT_NEAR(interval("allreduce", "recursive_doubling", 3, 10).value(), 3 * message, 0.01 * message);
}

// Eager senders run ahead, so that the latency is paid once and the root's cable is always busy.
TEST_F(PredictionTest, CallsInARowOverlapIfRanksLeaveEarly)
{
  constexpr int CALLS = 10;
  costs_.eager_below  = Bytes(65536);
  EXPECT_NEAR(interval("reduce", "linear", 4, 1).value(), LATENCY + 3 * WIRE, 1e-12);
  EXPECT_NEAR(interval("reduce", "linear", 4, CALLS).value(), LATENCY / CALLS + 3 * WIRE, 1e-12);
}

TEST_F(PredictionTest, StopsBeyondTheLimit)
{
  const Seconds exact = interval("allreduce", "ring", 4, 10);
  EXPECT_LT(exact, ANY);
  EXPECT_EQ(interval("allreduce", "ring", 4, 10, exact * 1.001), exact);
  EXPECT_TRUE(std::isinf(interval("allreduce", "ring", 4, 10, exact * 0.999).value()));
  EXPECT_TRUE(std::isinf(interval("allreduce", "ring", 4, 1, exact * 0.5).value()));
}

} // namespace
} // namespace weft
