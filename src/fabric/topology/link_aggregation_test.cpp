// SPDX-License-Identifier: LGPL-2.1-only
/* Tests of both selections: routes end, hashes do not misroute, and the load on bundles is as even as documented. */
#include "fabric/topology/link_aggregation.hpp"

#include "fabric/topology/forwarding_hash.hpp"
#include "fabric/topology/topology_test.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Returns a topology of each kind, without its key `kind`, with bundles of @p cables: @p width squared switches in a
 *  grid, 2 * @p width leaves with as many hosts each in a fat tree, @p width groups in a Dragonfly. */
std::map<std::string, std::string> bundled(int cables, int width)
{
  const std::string count = std::to_string(cables);
  const std::string size  = std::to_string(width);
  const std::string grid  = "dimensions = [" + size + ", " + size + "]\nhosts_per_switch = 4\ncables = " + count;
  std::string custom = "hosts = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\"]\nswitches = [\"s\", \"t\"]\n";
  for (const char host : std::string("abcdefgh"))
    custom += std::string("[[topology.cables]]\nbetween = [\"") + host + "\", \"" + (host < 'e' ? "s" : "t") + "\"]\n";
  custom += "[[topology.cables]]\nbetween = [\"s\", \"t\"]\ncount = " + count;
  return {{"torus", grid},
          {"mesh", grid},
          {"fat_tree", "down = [" + std::to_string(2 * width) + ", " + std::to_string(2 * width) +
                           "]\nup = [1, 4]\ncables = [1, " + count + "]"},
          {"dragonfly", "groups = " + size + "\nchassis = 2\nrouters = 4\nhosts = 4\nglobal_cables = " + count +
                            "\nchassis_cables = " + count + "\nrouter_cables = " + count},
          {"custom", custom}};
}

std::string aggregated(const std::string& kind, const std::string& name, const std::string& keys)
{
  return "kind = \"" + kind + "\"\nlink_aggregation = \"" + name + "\"\n" + keys;
}

TEST(LinkAggregation, RoutesAndHashesAgree)
{
  for (int cables = 2; cables <= 4; ++cables)
    for (const auto& [kind, keys] : bundled(cables, 5)) // small, because all pairs of hosts are checked
      for (const std::string name : {"coordinates", "crc"}) {
        const std::string text = aggregated(kind, name, keys);
        const auto topology    = topology_of(text);
        TopologyCheck(*topology).check_all();
        const HashProof proof = prove(*make_forwarding_hash("auto", *topology), *topology);
        EXPECT_FALSE(proof.misroute) << text;
        EXPECT_TRUE(not proof.crowded || kind == "custom") << text; // one tag per destination
      }
}

/** Returns the maximum over all bundles of the load of the busiest cable relative to the mean, for messages from all
 * hosts to one in @p stride hosts. */
double unevenness(const Topology& topology, int cables, int stride)
{
  std::map<std::pair<VertexId, VertexId>, std::map<LinkId, int>> messages; // by the ends of a bundle
  Route route;
  for (VertexId from = 0; from < topology.host_count(); ++from)
    for (VertexId to = 0; to < topology.host_count(); to += stride) {
      route.clear();
      if (from != to)
        topology.route(from, to, route);
      for (std::size_t hop = 1; hop + 1 < route.links.size(); ++hop)
        ++messages[{route.through[hop - 1], route.through[hop]}][route.links[hop]];
    }
  int busiest = 0;
  int all     = 0;
  for (const auto& [ends, counts] : messages) {
    const auto carried = std::views::values(counts);
    busiest += *std::ranges::max_element(carried);
    all += std::accumulate(carried.begin(), carried.end(), 0);
  }
  return static_cast<double>(busiest) * cables / all;
}

// Figures of docs/forwarding.md.
TEST(LinkAggregation, IsAsEvenAsDocumented)
{
  struct Case {
    std::string kind;
    int cables;
    int stride;
    double coordinates;
    double crc;
  };
  for (const Case& row : std::vector<Case>{{"torus", 4, 1, 1.00, 1.00},
                                           {"torus", 4, 4, 4.00, 1.375},
                                           {"torus", 3, 1, 1.08, 1.25},
                                           {"torus", 3, 3, 2.34, 1.48},
                                           {"fat_tree", 4, 1, 1.00, 1.53},
                                           {"fat_tree", 4, 4, 1.00, 1.53},
                                           {"fat_tree", 3, 1, 1.27, 1.47},
                                           {"fat_tree", 3, 3, 3.00, 2.00},
                                           {"dragonfly", 4, 1, 1.00, 1.00},
                                           {"dragonfly", 4, 4, 1.70, 1.96},
                                           {"dragonfly", 3, 1, 1.12, 1.30},
                                           {"dragonfly", 3, 3, 2.33, 1.59}}) {
    const std::string keys = bundled(row.cables, 8).at(row.kind);
    const auto measured    = [&](const std::string& name) {
      return unevenness(*topology_of(aggregated(row.kind, name, keys)), row.cables, row.stride);
    };
    EXPECT_NEAR(measured("coordinates"), row.coordinates, 0.005) << row.kind << row.cables << row.stride;
    EXPECT_NEAR(measured("crc"), row.crc, 0.005) << row.kind << row.cables << row.stride;
  }
}

TEST(LinkAggregation, UnknownNamesAreRefused)
{
  for (const auto& [kind, keys] : bundled(2, 8))
    EXPECT_EQ(failure_of(aggregated(kind, "crc24", keys)),
              "[topology] link_aggregation: found \"crc24\"; allowed: coordinates, crc");
}

} // namespace
} // namespace weft
