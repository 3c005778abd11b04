// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/fault_events.hpp"

#include "fabric/fabric_test.hpp"
#include "network/fabric_routes.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

FaultEvent link_event(double at, bool over)
{
  FaultEvent event{Seconds(at), "link", {}, {}, {}, {}};
  event.changes.push_back({FabricChange::What::link, 0, over});
  return event;
}

TEST(FaultEvents, AnEventBehindAnotherFaultIsHidden)
{
  const Fabric fabric = fabric_of(FABRIC);
  FabricState actual(fabric);
  FabricState known(fabric);
  Agenda agenda;
  FabricRoutes routes(&known);
  FlowNetwork network(agenda, routes, FabricRoutes::capacities(fabric), fabric.host_count() + fabric.switch_count());
  Recovery recovery(agenda, network, actual, known, {Seconds(), Seconds(), Seconds(1), 1});
  FaultEvents events({link_event(1, false), link_event(2, false), link_event(3, true), link_event(4, true)});
  for (int event = 0; event < 3; ++event) {
    events.begin();
    events.apply(recovery);
  }
  const FaultReport report = events.report(&recovery);
  ASSERT_EQ(report.events.size(), 3U);
  EXPECT_FALSE(report.events[0].hidden);
  EXPECT_TRUE(report.events[1].hidden);
  EXPECT_TRUE(report.events[2].hidden);
  EXPECT_EQ(report.left, 1U);
  ASSERT_TRUE(events.next());
  EXPECT_DOUBLE_EQ(events.next()->value(), 4);
  EXPECT_FALSE(actual.link_is_up(0));
}

TEST(FaultEvents, AHostIsDownUntilItsLastFaultIsOver)
{
  const auto event = [](double at, std::vector<int> dead, std::vector<int> repaired) {
    return FaultEvent{Seconds(at), "host", {}, {}, std::move(dead), std::move(repaired)};
  };
  const FaultEvents events({event(1, {3}, {}), event(2, {3}, {}), event(3, {}, {3}), event(4, {}, {3})});
  EXPECT_TRUE(events.hosts_down(Seconds(0.5)).empty());
  ASSERT_TRUE(events.hosts_down(Seconds(3.5)).contains(3));
  EXPECT_DOUBLE_EQ(events.hosts_down(Seconds(3.5)).at(3).value(), 1);
  EXPECT_TRUE(events.hosts_down(Seconds(4)).empty());
}

} // namespace
} // namespace weft
