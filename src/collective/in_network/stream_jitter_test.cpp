// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream_jitter.hpp"

#include "fabric/fabric_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace weft {
namespace {

const std::string JITTER = "[[noise.link]]\njitter = '1us'\ndistribution = ";

ReductionTree tree_of(const Fabric& fabric)
{
  const std::vector<VertexId> hosts{0, 1, 2, 3};
  return *build_reduction_tree(fabric, hosts, 0).tree;
}

Seconds jitter_of(const Fabric& fabric, const Movement& movement, int root, std::uint32_t number)
{
  return stream_jitter(tree_of(fabric), {movement, Bytes(8), root, {}}, Jitter(*fabric.noise()), 0, number);
}

TEST(StreamJitter, IsThatOfTheWayUpAndDown)
{
  const Fabric fabric = fabric_of(FABRIC + JITTER + "'fixed'\n");
  EXPECT_DOUBLE_EQ(jitter_of(fabric, Movement::allreduce, -1, 0).value(), 2e-6);
  const Fabric one = fabric_of(FABRIC + JITTER + "'fixed'\nmatch = 'host-2'\n");
  EXPECT_DOUBLE_EQ(jitter_of(one, Movement::allreduce, -1, 0).value(), 2e-6);
  EXPECT_DOUBLE_EQ(jitter_of(one, Movement::reduce, 0, 0).value(), 1e-6); // only the way up from that host
  EXPECT_DOUBLE_EQ(jitter_of(one, Movement::bcast, 2, 0).value(), 2e-6);
}

// On a star, the maximum of four exponential delays up, and of four down: twice the fourth harmonic number.
TEST(StreamJitter, WaitsForTheSlowest)
{
  const Fabric fabric           = fabric_of(FABRIC + JITTER + "'exponential'\n");
  constexpr std::uint32_t CALLS = 40000;
  Seconds sum;
  for (std::uint32_t call = 0; call < CALLS; ++call)
    sum += jitter_of(fabric, Movement::allreduce, -1, call);
  EXPECT_NEAR(sum.value() / CALLS, 2 * (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) * 1e-6, 0.03e-6);
}

} // namespace
} // namespace weft
