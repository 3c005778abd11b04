// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/route_check.hpp"

#include "fabric/fabric_test.hpp"
#include "fabric/topology/star.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Check, ProvesEveryPairOfASmallFabric)
{
  EXPECT_EQ(check(fabric_of(FABRIC)),
            "12 routes, every pair of hosts, and to and from each of 1 switch: each is connected end to end over "
            "existing cables, visits nothing twice, passes a switch and has at most 2 links");
}

TEST(Check, HasNothingToProveForOneHost)
{
  const Fabric fabric = fabric_of(replaced(FABRIC, "hosts = 4", "hosts = 1"));
  EXPECT_EQ(fabric.host_count(), 1);
  EXPECT_EQ(check(fabric).find("0 routes, every pair of hosts"), 0);
}

TEST(Check, SamplesALargeFabric)
{
  const std::string text = replaced(replaced(FABRIC, "hosts = 4", "hosts = 1025"), "max_ports = 8", "max_ports = 1025");
  EXPECT_EQ(check(fabric_of(text)).find("16,400 routes, a seeded sample of every host's, and"), 0);
}

/** Star with a wrong next hop to host 1 at one vertex. */
class Misrouted : public Star {
  VertexId from_;
  Hop hop_;

public:
  Misrouted(int hosts, VertexId from, Hop hop) : Star(hosts), from_(from), hop_(hop) {}
  Hop next_hop(VertexId at, VertexId to) const override
  {
    return at == from_ && to == 1 ? hop_ : Star::next_hop(at, to);
  }
};

class Flat : public Star {
public:
  using Star::Star;
  int diameter() const override { return 1; }
};

/** Returns the error of check() for a topology to whose cables the links @p more are added. */
std::string check_message(std::unique_ptr<const Topology> topology, const std::vector<Link>& more = {})
{
  FabricParts parts;
  parts.name     = "odd";
  parts.switches = {SwitchModel()};
  for (const Cable& cable : topology->cables()) {
    const std::string name = topology->vertex_name(cable.lower);
    parts.links.push_back({name + ".up", cable.lower, cable.upper, BytesPerSecond(1), Seconds(1)});
    parts.links.push_back({name + ".down", cable.upper, cable.lower, BytesPerSecond(1), Seconds(1)});
  }
  parts.links.insert(parts.links.end(), more.begin(), more.end());
  parts.topology = std::move(topology);
  return message_of([&] { check(Fabric(std::move(parts))); });
}

TEST(Check, FindsWrongRoutes)
{
  const std::string route = "fabric odd: the route from host-0 to host-1 ";
  EXPECT_EQ(check_message(std::make_unique<Star>(3)), "");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{7, 3})), route + "takes a cable that does not exist");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{-1, 3})), route + "takes a cable that does not exist");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{4, 3})),
            route + "takes host-2.up from host-0, where it does not begin");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{0, 1})), route + "ends at switch");
  EXPECT_EQ(check_message(std::make_unique<Flat>(3)), route + "has 2 links, and the topology's diameter is 1");
  const Link aside{"aside", 0, 2, BytesPerSecond(1), Seconds(1)};
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{6, 2}), {aside}),
            route + "passes through the host host-2");
  const Link direct{"direct", 0, 1, BytesPerSecond(1), Seconds(1)};
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{6, 1}), {direct}), ""); // a direct cable is a route
}

} // namespace
} // namespace weft
