// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/reception.hpp"

#include "fabric/fabric_test.hpp"

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** An engine whose threads each process a chunk in a microsecond. */
std::string engines(const std::string& more)
{
  return R"(
[progress_engine]
cores = 2
clock = "1GHz"
ud_cycles = 1000
uc_cycles = 1000
copy_latency = "5us"
)" + more;
}

/** Call of all hosts of a fabric, with a block of each. */
class Reception {
public:
  const Fabric fabric;
  FabricState state{fabric};
  std::vector<VertexId> hosts;
  EngineUse use{fabric};
  std::optional<MulticastCall> call;

  explicit Reception(const std::string& text) : fabric(fabric_of(text))
  {
    hosts.resize(static_cast<std::size_t>(fabric.host_count()));
    std::iota(hosts.begin(), hosts.end(), 0);
    const std::vector<double> parts(hosts.size(), 1e6);
    call.emplace(describe_multicast(fabric.multicast(),
                                    std::make_shared<const GroupResult>(make_multicast_group(state, hosts, 0)), hosts,
                                    {1, 1, 0, 0}, parts));
  }
  MulticastReception reception() { return {fabric, use, *call}; }
};

constexpr double EXACT   = 1e-12;
constexpr double LATENCY = 1e-6 + 5e-6; // of a chunk: its processing and its copy

TEST(MulticastReception, TakesNoTimeWithoutAnEngine)
{
  Reception its(FABRIC);
  MulticastReception reception = its.reception();
  reception.begin(0);
  const auto [time, lost] = reception.process(0, {1e-3, 2e-3, 100}, {});
  EXPECT_EQ(time, 2e-3);
  EXPECT_TRUE(lost.empty());
  EXPECT_EQ(its.use.receiving(0), 0);
  EXPECT_EQ(reception.send_rate(0).value(), std::numeric_limits<double>::infinity());
}

// 100 chunks in 50 us, and a thread that processes one in a microsecond.
TEST(MulticastReception, ASlowThreadProcessesTheBacklogAfterTheLastChunk)
{
  Reception its(FABRIC + engines("receive_workers = 1\n"));
  MulticastReception reception = its.reception();
  reception.begin(2);
  EXPECT_EQ(its.use.receiving(2), 1);
  const auto [time, lost] = reception.process(2, {0, 50e-6, 100}, {});
  EXPECT_NEAR(time, 100e-6 + LATENCY, EXACT);
  EXPECT_TRUE(lost.empty());
}

// When the last of 100 chunks has arrived, after 50 us, 50 have been processed: with room for 20, 30 are lost.
TEST(MulticastReception, ChunksThatFindNoRoomAreLost)
{
  Reception its(FABRIC + engines("receive_workers = 1\nstaging_entries = 20\n"));
  MulticastReception reception = its.reception();
  reception.begin(1);
  const auto [time, lost] = reception.process(1, {0, 50e-6, 100}, {});
  EXPECT_NEAR(static_cast<double>(lost.size()), 30, 1);
  EXPECT_NEAR(time, 70e-6 + LATENCY, 1e-6);
}

TEST(MulticastReception, CallsOfAHostShareItsThreads)
{
  Reception its(replaced(FABRIC, "[nic]", "[multicast]\ntrees = 4\n[nic]") + engines("receive_workers = 2\n"));
  MulticastReception one = its.reception();
  one.begin(0);
  EXPECT_EQ(its.use.receiving(0), 2);
  const auto alone = one.process(0, {0, 10e-6, 100}, {}).time;
  EXPECT_NEAR(alone, 50e-6 + LATENCY, EXACT); // two threads
  {
    MulticastReception other = its.reception();
    other.begin(0);
    other.begin(0); // has begun
    EXPECT_EQ(its.use.receiving(0), 4);
    EXPECT_NEAR(other.process(0, {0, 10e-6, 100}, {}).time, 100e-6 + LATENCY, EXACT);
    EXPECT_EQ(its.use.receiving(1), 0);
  }
  EXPECT_EQ(its.use.receiving(0), 2); // a call that ends gives its threads back
  one.end(0);
  EXPECT_EQ(its.use.receiving(0), 0);
}

TEST(MulticastReception, ThreadsSleepUntilTheFirstChunkHasWokenThem)
{
  Reception its(FABRIC + engines("receive_workers = 1\nactivation = \"30us\"\n"));
  MulticastReception reception = its.reception();
  reception.begin(0);
  EXPECT_TRUE(reception.sleeps(0, 20e-6, std::vector{0.0}));
  EXPECT_FALSE(reception.sleeps(0, 31e-6, std::vector{0.0}));
  EXPECT_NEAR(reception.process(0, {0, 10e-6, 10}, {}).time, 30e-6 + 10e-6 + LATENCY, EXACT);
}

} // namespace
} // namespace weft
