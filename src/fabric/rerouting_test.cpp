// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/rerouting.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace weft {
namespace {

/** Returns whether a route leads from one vertex to another over links that are up, without passing through a host. */
bool leads(const FabricState& state, const Route& route, VertexId from, VertexId to)
{
  VertexId at = from;
  for (const LinkId link : route.links) {
    if (state.fabric().link(link).from != at || not state.link_is_up(link))
      return false;
    at = state.fabric().link(link).to;
    if (at != to && state.fabric().topology().is_host(at))
      return false;
  }
  return at == to && route.through.size() + 1 == route.links.size();
}

TEST(ReroutingTest, RoutesAvoidWhatIsDownOnEveryTopology)
{
  for (const std::string topology : {"kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 2]",
                                     "kind = \"torus\"\ndimensions = [3, 3]\nhosts_per_switch = 1",
                                     "kind = \"dragonfly\"\ngroups = 3\nrouters = 3\nhosts = 1\nglobal_cables = 2"}) {
    const Fabric fabric = fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", topology));
    for (LinkId down = 0; down < static_cast<LinkId>(fabric.links().size()); ++down) {
      const Link& link = fabric.link(down);
      if (fabric.topology().is_host(link.from) || fabric.topology().is_host(link.to))
        continue;
      FabricState state(fabric);
      state.set_link(down, false);
      Rerouting rerouting(state);
      for (VertexId from = 0; from < fabric.host_count(); ++from)
        for (VertexId to = 0; to < fabric.host_count(); ++to) {
          if (from == to)
            continue;
          Route route;
          ASSERT_TRUE(rerouting.find(from, to, route)) << topology << link.name;
          EXPECT_TRUE(leads(state, route, from, to)) << topology << link.name;
          Route usual;
          fabric.route(from, to, usual);
          EXPECT_TRUE(not state.is_up(usual) || route.links.size() <= usual.links.size());
        }
    }
  }
}

TEST(ReroutingTest, DestinationsDivideTheWays)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 2]\nup = [1, 4]"));
  FabricState state(fabric);
  Rerouting rerouting(state);
  std::set<LinkId> used;
  for (VertexId to = 4; to < 8; ++to) {
    Route route;
    ASSERT_TRUE(rerouting.find(0, to, route));
    used.insert(route.links[1]);
  }
  EXPECT_GE(used.size(), 3U); // of four uplinks
}

TEST(ReroutingTest, AHostWithoutCablesIsNotReached)
{
  const Fabric fabric = fabric_of(FABRIC);
  FabricState state(fabric);
  state.set_link(2, false); // from host 1
  Rerouting rerouting(state);
  Route route;
  route.links = {7};
  EXPECT_FALSE(rerouting.find(1, 0, route));
  EXPECT_EQ(route.links, std::vector<LinkId>{7});
  EXPECT_TRUE(rerouting.find(0, 1, route));
}

} // namespace
} // namespace weft
