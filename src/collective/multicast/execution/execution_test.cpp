// SPDX-License-Identifier: LGPL-2.1-only
/* Closed forms on a quiet star of four hosts, where a message arrives two latencies and the time in the switch after
 * its bytes have been sent (docs/multicast.md; Khalilov et al., SC '24, sections III and IV). */
#include "collective/multicast/execution/execution.hpp"

#include "collective/in_network/quiet_carrier_test.hpp"
#include "fabric/fabric_test.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr double RATE    = 1e9;
constexpr double WAY     = 2 * 1e-6 + 0.25e-6;
constexpr double SLACK   = 100e-6;
constexpr double MTU     = 4096;
constexpr double HEADERS = 78;
constexpr double CHUNK   = MTU + HEADERS;
constexpr double EXACT   = 1e-9;

/** Returns the time of a message. */
double signal(double payload = 0)
{
  return WAY + (payload + 16) / RATE;
}
/** Returns the time to send a block. */
double data(double bytes)
{
  return (bytes + HEADERS * std::ceil(bytes / MTU)) / RATE;
}

/** Ranks on all hosts of a fabric with real memory, and one call. Owns itself as the protocol's delays ask. */
class Ranks : public MulticastOwner {
  std::shared_ptr<int> token_ = std::make_shared<int>(); // references to the owner
  std::vector<std::vector<std::vector<int>>> stored_;    // by rank, block, chunk: how often it was stored

public:
  const Fabric fabric;
  QuietCarrier carrier{fabric};
  FabricState state{fabric};
  EngineUse engines{fabric};
  RecoveryModel model{Seconds(), Seconds(), Seconds(1e-3), 3, 2};
  LinkLosses losses;
  std::optional<CallRecovery> recovery;
  std::vector<VertexId> hosts;
  std::optional<MulticastService> service;
  std::optional<MulticastCall> call;
  std::optional<MulticastExecution> execution;
  std::vector<double> ends;   // by rank; -1: it is in the call
  double on_links        = 0; // payload
  double forwarded_bytes = 0;
  double noise           = 0; // of each use of a core

  /** @p parts: bytes by rank. */
  Ranks(const std::string& text, const std::vector<double>& parts, bool faults = false) : fabric(fabric_of(text))
  {
    hosts.resize(static_cast<std::size_t>(fabric.host_count()));
    std::iota(hosts.begin(), hosts.end(), 0);
    if (faults)
      recovery.emplace(CallRecovery{CallPolicy::resend, model, state, losses});
    service.emplace(MulticastService{carrier, fabric, state, engines, recovery ? &*recovery : nullptr});
    call.emplace(describe_multicast(fabric.multicast(),
                                    std::make_shared<const GroupResult>(make_multicast_group(state, hosts, 0)), hosts,
                                    {1, 1, 0, 0}, parts));
    ends.assign(parts.size(), -1);
    std::vector<std::vector<int>> blocks;
    for (const MulticastBlock& block : call->shape.blocks)
      blocks.emplace_back(static_cast<std::size_t>(block.chunks));
    stored_.assign(parts.size(), blocks);
    execution.emplace(*service, *this, *call);
  }

  void enter()
  {
    for (int rank = 0; rank < call->ranks(); ++rank)
      execution->enter(rank);
  }
  /** Ends the call, whose ranks must then have all data, and returns the time of the last end. */
  double run()
  {
    carrier.run();
    EXPECT_TRUE(execution->all_over());
    EXPECT_EQ(token_.use_count(), 1) << "the owner is kept";
    for (int rank = 0; rank < call->ranks(); ++rank)
      for (std::size_t block = 0; block < call->sizes.size(); ++block)
        for (const int times : stored_[static_cast<std::size_t>(rank)][block])
          EXPECT_EQ(times, call->shape.blocks[block].root == rank ? 0 : 1) << "rank " << rank << ", block " << block;
    return *std::ranges::max_element(ends);
  }
  double enter_and_run()
  {
    enter();
    return run();
  }
  std::int64_t drops(int rank) const { return execution->seen(rank).drops.all; }

  Seconds with_os_noise(int /*rank*/, Seconds work) override { return work + Seconds(noise); }
  void store(int rank, int block, ChunkRun run, int from) override
  {
    auto& chunks       = stored_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(block)];
    const auto& theirs = stored_[static_cast<std::size_t>(from)][static_cast<std::size_t>(block)];
    for (auto chunk = static_cast<std::size_t>(run.first); std::cmp_less(chunk, run.first + run.count); ++chunk) {
      ++chunks[chunk];
      EXPECT_TRUE(from == call->block(block).root || theirs[chunk] == 1) << "it does not have the chunk";
    }
  }
  void count_on_link(LinkId /*link*/, Bytes payload) override { on_links += payload.value(); }
  void forwarded(Bytes blocks, Seconds start) override
  {
    EXPECT_LT(start, carrier.now());
    forwarded_bytes += blocks.value();
  }
  FlowEnd when_arrived(std::function<void()> next) override
  {
    return [kept = token_, next = std::move(next)](const FlowResult& result) {
      EXPECT_TRUE(result.arrived());
      next();
    };
  }
  std::shared_ptr<void> keep() override { return token_; }
  void rank_ended(int rank) override { ends[static_cast<std::size_t>(rank)] = carrier.now().value(); }
};

std::string with(const std::string& tables)
{
  return FABRIC + tables;
}
std::vector<double> bcast(double bytes)
{
  return {bytes, 0, 0, 0};
}
std::vector<double> allgather(double bytes)
{
  return {bytes, bytes, bytes, bytes};
}

// ---- Without losses

TEST(MulticastExecution, ABcastIsABarrierTheDataAndAHandshake)
{
  for (const double size : {1., 4096., 4097., 1e6}) {
    Ranks ranks(FABRIC, bcast(size));
    EXPECT_NEAR(ranks.enter_and_run(), 2 * signal() + data(size) + WAY + signal(), EXACT);
    const MulticastRank seen = ranks.execution->seen(2);
    EXPECT_NEAR(seen.times.barrier, 2 * signal(), EXACT);
    EXPECT_NEAR(seen.times.multicast, data(size) + WAY, EXACT);
    EXPECT_EQ(seen.times.recovery, 0);
    EXPECT_EQ(seen.counts.timer_expiries, 0);
    EXPECT_EQ(ranks.execution->start(2), Seconds());
    const MulticastTraffic traffic = ranks.execution->traffic();
    EXPECT_EQ(traffic.multicasts, 1);
    EXPECT_EQ(traffic.payload, size);
    EXPECT_EQ(traffic.headers, HEADERS * std::ceil(size / MTU));
    EXPECT_EQ(ranks.on_links, 4 * size); // up once, down to three hosts
    EXPECT_EQ(ranks.forwarded_bytes, size);
  }
}

// A step lasts as long as its blocks on the busiest cable: that of a rank which only receives, if there is one.
TEST(MulticastExecution, AnAllgatherHasAsManyStepsAsItsLongestChain)
{
  const double size = 400'000;
  const std::vector<std::vector<int>> blocks{{1, 1, 1, 1}, {2, 2}, {3, 1}, {3}};
  for (std::size_t chains = 1; chains <= blocks.size(); ++chains) {
    Ranks ranks(with("[multicast]\nchains = " + std::to_string(chains) + "\n"), allgather(size));
    const std::vector<int>& steps = blocks[chains - 1];
    const double activations      = static_cast<double>(steps.size() - 1) * signal();
    const double moved            = std::accumulate(steps.begin(), steps.end(), 0) * data(size);
    EXPECT_NEAR(ranks.enter_and_run(), 2 * signal() + moved + activations + WAY + signal(), EXACT) << chains;
    EXPECT_EQ(ranks.execution->traffic().chunks, 4 * 98);
    EXPECT_EQ(ranks.on_links, 4 * 4 * size);
  }
}

TEST(MulticastExecution, RanksThatHaveNoPartHaveNoTurn)
{
  Ranks ranks(FABRIC, {5000, 0, 3000, 0});
  EXPECT_EQ(ranks.call->shape.chains, (std::vector<std::vector<int>>{{0, 1}}));
  EXPECT_NEAR(ranks.enter_and_run(), 2 * signal() + data(5000) + signal() + data(3000) + WAY + signal(), EXACT);
}

TEST(MulticastExecution, NoRootStartsBeforeTheLastRankHasEntered)
{
  Ranks ranks(FABRIC, bcast(1e6));
  for (const int rank : {0, 1, 3})
    ranks.execution->enter(rank);
  ranks.carrier.run_until(1e-3);
  EXPECT_EQ(ranks.execution->traffic().multicasts, 0);
  ranks.execution->enter(2);
  // Its message of the second round tells rank 0 that all have entered.
  EXPECT_NEAR(ranks.run(), 1e-3 + signal() + data(1e6) + WAY + signal(), EXACT);
  EXPECT_EQ(ranks.execution->start(2), Seconds(1e-3));
}

// A core is used twice for each message and once for the multicast; the chunks need none.
TEST(MulticastExecution, NoiseOfCoresDelaysMessagesAndTheRootButNotChunks)
{
  Ranks ranks(FABRIC, bcast(1e6));
  ranks.noise = 10e-6;
  EXPECT_NEAR(ranks.enter_and_run(), 3 * (signal() + 20e-6) + 10e-6 + data(1e6) + WAY, EXACT);
}

TEST(MulticastExecution, ASlowCableDelaysItsHostUnlessFullBuffersPauseTheRoot)
{
  const std::string slow = "[[links]]\nmatch = \"host-3\"\nbandwidth = \"0.25GBps\"\n";
  const double size      = 1e6;
  Ranks buffered(with(slow), bcast(size));
  buffered.enter_and_run();
  const double begin = 2 * (WAY + 16 / (RATE / 4)); // the barrier crosses the slow cable
  EXPECT_NEAR(buffered.execution->seen(3).times.multicast, 4 * data(size) + WAY, 1e-7);
  EXPECT_NEAR(buffered.execution->seen(1).times.multicast, data(size) + WAY, 1e-7);
  Ranks paused(with(slow + "[multicast]\nslow_branch = \"pause\"\n"), bcast(size));
  EXPECT_NEAR(paused.enter_and_run(), begin + 4 * data(size) + WAY + WAY + 16 / (RATE / 4), 1e-7);
  EXPECT_NEAR(paused.execution->seen(1).times.multicast, 4 * data(size) + WAY, 1e-7);
}

TEST(MulticastExecution, ASlowEngineBoundsItsHost)
{
  const std::string engine = "[progress_engine]\ncores = 1\nclock = \"1GHz\"\nud_cycles = 8000\nuc_cycles = 8000\n";
  const double chunks      = 250;
  Ranks ranks(with(engine), bcast(chunks * MTU));
  // 8 us a chunk from the begin of the first one's arrival, and as long until the last one is in the user's buffer.
  EXPECT_NEAR(ranks.enter_and_run(), 2 * signal() + WAY + (chunks + 1) * 8e-6 + signal(), EXACT);
  EXPECT_EQ(ranks.engines.receiving(1), 0); // given back
}

// ---- Losses

/** Returns the time to ask for a block, to get the answer, and to read so many bytes in so many runs. */
double fetch(double bytes, int runs)
{
  return 2 * signal(4) + signal(16 * runs) + signal(bytes);
}

TEST(MulticastExecution, ListedChunksAreFetchedAfterASlackOfSilence)
{
  Ranks ranks(with("[[multicast.drops]]\nroot = 0\nreceiver = 2\nchunks = [1, 3, 99]\n"), bcast(5 * MTU));
  // When the timer of the data's time and the slack expires, the last chunk is more recent than the slack.
  const double expired = 2 * signal() + data(5 * MTU) + WAY + SLACK;
  EXPECT_NEAR(ranks.enter_and_run(), expired + fetch(2 * MTU, 2) + signal(), EXACT);
  const MulticastRank seen = ranks.execution->seen(2);
  EXPECT_EQ(seen.drops.all, 2);
  EXPECT_EQ(seen.counts.fetched, 2);
  EXPECT_EQ(seen.counts.timer_expiries, 2);
  EXPECT_EQ(seen.counts.requests, 1);
  EXPECT_NEAR(seen.times.recovery, fetch(2 * MTU, 2), EXACT);
  EXPECT_EQ(ranks.execution->traffic().fetched_bytes, 2 * MTU);
  EXPECT_EQ(ranks.drops(1) + ranks.drops(3), 0);
}

// Nothing arrives, so that the first timer starts the recovery; the block then passes from neighbour to neighbour.
TEST(MulticastExecution, ABlockThatAllRanksMissTravelsAlongTheirRing)
{
  const double size = 10 * MTU;
  Ranks ranks(with("[[multicast.drops]]\nprobability = 1.0\n"), bcast(size));
  const double expired = 2 * signal() + 10 * CHUNK / RATE + SLACK;
  const double hop     = signal(4) + signal(16) + signal(size); // the acknowledgement, the read, the data
  EXPECT_NEAR(ranks.enter_and_run(), expired + signal(4) + 3 * hop + signal(), EXACT);
  for (const int rank : {1, 2, 3}) {
    EXPECT_EQ(ranks.drops(rank), 10);
    EXPECT_EQ(ranks.execution->seen(rank).counts.timer_expiries, 1);
    EXPECT_NEAR(ranks.execution->seen(rank).times.recovery, signal(4) + rank * hop, EXACT);
  }
}

// The timer expires before the second root's block has come, but chunks have arrived within the slack.
TEST(MulticastExecution, NobodyAsksForBlocksWhoseTurnHasNotCome)
{
  Ranks ranks(with("[multicast]\nmtu = \"64B\"\ncutoff_slack = \"3us\"\n"), allgather(100));
  ranks.enter_and_run();
  std::int64_t expiries = 0;
  for (int rank = 0; rank < 4; ++rank) {
    expiries += ranks.execution->seen(rank).counts.timer_expiries;
    EXPECT_EQ(ranks.execution->seen(rank).counts.requests, 0);
  }
  EXPECT_GT(expiries, 0);
}

// Three roots at once send to a receiver's port at three times the rate of its cable: the port has room for 50 chunks.
TEST(MulticastExecution, APortWithoutRoomDropsTheExcess)
{
  const auto port = [](const char* chains) {
    return with("[multicast]\nchains = " + std::string(chains) + "\nport_buffer = \"208700B\"\n");
  };
  Ranks one(port("1"), allgather(100 * MTU));
  one.enter_and_run();
  Ranks all(port("4"), allgather(100 * MTU));
  all.enter_and_run();
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(one.drops(rank), 0);
    EXPECT_NEAR(static_cast<double>(all.drops(rank)), 200 - 50, 2);
    EXPECT_EQ(all.execution->seen(rank).drops.port, all.drops(rank));
  }
}

TEST(MulticastExecution, AFullStagingRingDropsChunks)
{
  const std::string engine = "[progress_engine]\ncores = 1\nclock = \"1GHz\"\nud_cycles = 8000\nuc_cycles = 8000\n"
                             "staging_entries = 20\n";
  Ranks ranks(with(engine), bcast(200 * MTU));
  ranks.enter_and_run();
  const double arriving = 200 * CHUNK / RATE;
  for (const int rank : {1, 2, 3}) {
    EXPECT_NEAR(static_cast<double>(ranks.drops(rank)), 200 - arriving / 8e-6 - 20, 2);
    EXPECT_EQ(ranks.execution->seen(rank).drops.staging, ranks.drops(rank));
  }
}

// ---- Faults

constexpr double SIZE = 1e6;
const double CHUNKS   = std::ceil(SIZE / MTU);

TEST(MulticastExecution, FaultsThatDoNotHappenChangeNoTime)
{
  for (const int chains : {1, 2, 4}) {
    const std::string text = with("[multicast]\nchains = " + std::to_string(chains) + "\n");
    Ranks quiet(text, allgather(SIZE));
    Ranks careful(text, allgather(SIZE), true);
    EXPECT_EQ(careful.recovery->running.size(), 1);
    EXPECT_NEAR(careful.enter_and_run(), quiet.enter_and_run(), EXACT);
    careful.execution.reset();
    EXPECT_TRUE(careful.recovery->running.empty());
  }
}

TEST(MulticastExecution, ACableThatFailsLosesTheRestForItsHost)
{
  constexpr LinkId TO_RANK_2 = 2 * 2 + 1;
  const double begin         = 2 * signal();
  const double expired       = begin + CHUNKS * CHUNK / RATE + SLACK;
  for (const double part : {0.01, 0.3, 0.5, 0.99}) {
    Ranks ranks(FABRIC, bcast(SIZE), true);
    ranks.enter();
    ranks.carrier.run_until(begin + part * data(SIZE));
    ranks.carrier.cut(TO_RANK_2);
    ranks.run();
    const double came = std::floor(part * CHUNKS);
    const double lost = CHUNKS - came;
    EXPECT_EQ(ranks.drops(2), lost);
    EXPECT_EQ(ranks.drops(1) + ranks.drops(3), 0);
    EXPECT_EQ(ranks.recovery->cut_branches, 1);
    EXPECT_EQ(ranks.recovery->lost_chunks, lost);
    // Rank 1 waits for rank 2, which reads from it what came behind the last whole chunk.
    EXPECT_NEAR(ranks.ends[1], expired + fetch(SIZE - came * MTU, 1) + signal(), EXACT);
    EXPECT_NEAR(ranks.ends[3], begin + data(SIZE) + signal(), EXACT); // rank 0 reads nothing
  }
}

TEST(MulticastExecution, ARootWhoseCableFailsSendsOnAndNobodyGetsTheRest)
{
  Ranks ranks(FABRIC, bcast(SIZE), true);
  ranks.enter();
  ranks.carrier.run_until(2 * signal() + 0.5 * data(SIZE));
  ranks.carrier.cut(0);
  ranks.run();
  EXPECT_NEAR(ranks.execution->seen(0).times.multicast, data(SIZE), EXACT);
  const double lost = CHUNKS - std::floor(0.5 * CHUNKS);
  for (const int rank : {1, 2, 3})
    EXPECT_EQ(ranks.drops(rank), lost);
  EXPECT_EQ(ranks.execution->traffic().fetched_bytes, 3 * (SIZE - (CHUNKS - lost) * MTU));
}

TEST(MulticastExecution, ACableThatBecomesSlowPausesAllBranches)
{
  Ranks ranks(with("[multicast]\nslow_branch = \"pause\"\n"), bcast(SIZE), true);
  ranks.enter();
  ranks.carrier.run_until(2 * signal() + 0.5 * data(SIZE));
  ranks.recovery->bandwidths[2 * 3 + 1] = 0.25;
  ranks.recovery->tell([](BreakableCall& call) { call.change_bandwidths(); });
  ranks.run();
  for (const int rank : {1, 2, 3})
    EXPECT_NEAR(ranks.execution->seen(rank).times.multicast, 0.5 * data(SIZE) + 4 * 0.5 * data(SIZE) + WAY, EXACT);
}

} // namespace
} // namespace weft
