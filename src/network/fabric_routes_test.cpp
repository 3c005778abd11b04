// SPDX-License-Identifier: LGPL-2.1-only
#include "network/fabric_routes.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace weft {
namespace {

constexpr int TO = 1; // host

class FabricRoutesTest : public testing::Test {
protected:
  const Fabric fabric_   = fabric_of(replaced(
      FABRIC, "[nic]\n", "[[point_to_point]]\nfrom = \"0B\"\nlatency_factor = 2.0\nbandwidth_factor = 0.5\n\n[nic]\n"));
  const VertexId switch_ = fabric_.host_count();
  FabricRoutes ways_{fabric_};

  FlowRoute find(int from, int to, double bytes)
  {
    FlowRoute way;
    ways_.find(from, to, Bytes(bytes), UNKNOWN_PART, way);
    return way;
  }
};

TEST_F(FabricRoutesTest, FactorsApplyBetweenHostsOnly)
{
  const FlowRoute hosts = find(0, TO, 1000);
  EXPECT_DOUBLE_EQ(hosts.latency, 2 * 2.25e-6); // two cables and the switch
  EXPECT_DOUBLE_EQ(hosts.volume, 2000);
  EXPECT_EQ(hosts.resources.size(), 2U);
  const FlowRoute up = find(0, switch_, 1000);
  EXPECT_DOUBLE_EQ(up.latency, 1e-6);
  EXPECT_DOUBLE_EQ(up.penalty, 1e-6);
  EXPECT_DOUBLE_EQ(up.volume, 1000);
  EXPECT_DOUBLE_EQ(up.bound, 1e9);
  EXPECT_EQ(up.resources, (std::vector<int>{hosts.resources.front()}));
  EXPECT_EQ(find(switch_, TO, 1000).resources, (std::vector<int>{hosts.resources.back()}));
}

/** Records when messages arrive. */
class ArrivalTimes : public Receiving {
  const Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  explicit ArrivalTimes(const Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
};

TEST_F(FabricRoutesTest, EmptyMessagesToSwitchesTakeTheLatency)
{
  Agenda agenda;
  ArrivalTimes arrivals(agenda);
  FlowNetwork network(agenda, ways_, FabricRoutes::capacities(fabric_), switch_ + 1);
  network.send(0, switch_, Bytes(), UNKNOWN_PART, arrivals, 1);
  network.send(0, switch_, Bytes(1000), UNKNOWN_PART, arrivals, 2);
  network.send(switch_, 0, Bytes(), UNKNOWN_PART, arrivals, 3);
  agenda.run_until(Seconds(1));
  EXPECT_DOUBLE_EQ(arrivals.times.at(1), 1e-6);
  EXPECT_DOUBLE_EQ(arrivals.times.at(2), 2e-6);
  EXPECT_DOUBLE_EQ(arrivals.times.at(3), 1e-6);
}

} // namespace
} // namespace weft
