// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/engine_use.hpp"

#include "fabric/fabric_test.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Engines with room for a context of 90 B and a bitmap, twice. */
constexpr const char* ENGINES = R"(
[progress_engine]
cores = 1
clock = "1GHz"
ud_cycles = 1000
uc_cycles = 1000
memory = "200B"
context = "90B"
)";

TEST(EngineUse, CommunicatorsHoldMemoryOfTheirHostsUntilTheyReleaseIt)
{
  const Fabric fabric = fabric_of(FABRIC + ENGINES);
  EngineUse engines(fabric);
  const std::vector<VertexId> left{0, 1};
  const std::vector<VertexId> right{2, 3};
  const std::vector<VertexId> middle{1, 2};
  engines.take_memory(left, 1, 80); // 90 B + 80 bits
  EXPECT_TRUE(engines.has_memory(middle, 2, 80));
  EXPECT_FALSE(engines.has_memory(middle, 2, 81)); // host 1 has 100 B left
  EXPECT_TRUE(engines.has_memory(right, 2, 81));
  engines.take_memory(middle, 2, 80);
  EXPECT_FALSE(engines.has_memory(right, 3, 81));
  EXPECT_FALSE(engines.has_memory(left, 3, 1));
  engines.release_memory(1);
  EXPECT_TRUE(engines.has_memory(left, 3, 80));
}

TEST(EngineUse, RanksOfAHostShareItsMemory)
{
  const Fabric fabric = fabric_of(FABRIC + ENGINES);
  const EngineUse engines(fabric);
  EXPECT_TRUE(engines.has_memory(std::vector<VertexId>{0, 0, 1}, 1, 80));
  EXPECT_FALSE(engines.has_memory(std::vector<VertexId>{0, 0, 0}, 1, 80));
}

TEST(EngineUse, HasNoLimitWithoutEngines)
{
  const Fabric fabric = fabric_of(FABRIC);
  EngineUse engines(fabric);
  const std::vector<VertexId> hosts{0, 1};
  engines.take_memory(hosts, 1, 1'000'000);
  EXPECT_TRUE(engines.has_memory(hosts, 2, 1'000'000));
}

TEST(EngineUse, CountsWorkersByHost)
{
  const Fabric fabric = fabric_of(FABRIC);
  EngineUse engines(fabric);
  EXPECT_EQ(engines.receiving(0), 0);
  engines.add_receiving(0, 4);
  engines.add_receiving(0, 2);
  engines.add_receiving(1, 1);
  engines.add_receiving(0, -4);
  EXPECT_EQ(engines.receiving(0), 2);
  EXPECT_EQ(engines.receiving(1), 1);
}

} // namespace
} // namespace weft
