// SPDX-License-Identifier: LGPL-2.1-only
/* What one call of the multicast protocol moves over links: messages between hosts, and blocks over the trees; and what
 * of those gets lost. */
#pragma once

#include "binding/mechanisms/multicast/multicast_call.hpp"
#include "binding/mechanisms/multicast/multicast_reception.hpp"
#include "binding/platform/flow_result.hpp"
#include "binding/run/run_context.hpp"
#include "collective/multicast/backpressure.hpp"
#include "model/nic/staging_ring.hpp"
#include "model/noise/jitter.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace weft {

/** Who hears what comes of blocks on their way. */
class MulticastListener {
public:
  virtual ~MulticastListener() = default;
  /** The last chunk has left the block's root. */
  virtual void block_left(int block) = 0;
  /** Chunks have come to a rank. */
  virtual void chunks_came(int rank, int block, ChunkRun run) = 0;
  /** What waits for a flow of the call: see OffloadedCall::arrival(). */
  virtual FlowEnd when_arrived(std::function<void()> next) = 0;
  /** @p action, in @p delay: at once where there is none. The call lives until then. */
  virtual void after(Seconds delay, std::function<void()> action) = 0;
  /** @p action, when all has happened that happens now. The call lives until then. */
  virtual void later(std::function<void()> action) = 0;
};

/** Chunks of a block. */
struct BlockRun {
  int block = 0;
  ChunkRun chunks;
};

class MulticastFlows {
  /** Roots that start at the same time: one set of flows. */
  struct Departure {
    std::vector<int> blocks;
    double start = 0;
    MulticastPlan plan{};
    std::vector<std::size_t> waits_for{};             // by flow: its own end, and those of flows that feed it
    std::vector<std::size_t> fed_by{};                // by flow: flows that feed it and have not ended
    std::vector<std::vector<std::size_t>> feeds{};    // by flow: those that wait for it
    std::vector<std::vector<std::size_t>> roots_of{}; // by flow: those whose blocks leave with it
    std::vector<std::size_t> leaves_after{};          // by root: flows that have not ended
    std::size_t going = 0;                            // flows that have not ended

    std::vector<int> coming_to{};                        // by member: flows that have not ended
    std::vector<int> being_fed{};                        // by member: flows of which some that feed them have not ended
    std::vector<std::vector<std::int64_t>> unswitched{}; // by member: chunks for which its switch had no room

    void prepare();
    /** The flows over the roots' cables, each once. */
    std::vector<std::size_t> first_flows() const;
  };
  using Shared = std::shared_ptr<Departure>;
  /** What waits in a switch for a host's cable. */
  struct Port {
    StagingRing queue;
    std::vector<double> since{}; // when what comes to the switch began to
  };
  /** What a rank hears of the multicast. */
  struct Hearing {
    std::vector<double> since{}; // when what comes began to
    double last = -1;            // when it got, or gets, the last ones; -1: none yet
  };
  /** By time: who gets what then. */
  using Deliveries = std::map<double, std::vector<std::pair<int, std::vector<BlockRun>>>>;

  RunContext& context_;
  MulticastRun& run_;
  const MulticastCall& call_;
  MulticastListener& listener_;
  MulticastReception reception_;
  std::vector<std::vector<std::vector<ChunkRun>>> losses_; // by block and rank; none where a block loses none
  std::vector<std::vector<int>> ranks_at_;                 // by member
  std::vector<Hearing> hearing_;                           // by rank
  std::vector<Port> ports_;                                // by member; none where they have room for all
  std::vector<int> leaving_;                               // blocks whose roots start now
  Bytes together_;                                         // that a receiver gets of the blocks in flight at a time
  std::optional<MulticastPlan> whole_;                     // of all blocks, where they do not start together
  std::optional<Backpressure> backpressure_;               // where links are lossless, once roots have started
  std::vector<Shared> departures_;                         // of the backpressure, by number
  int backpressure_timers_ = 0;
  std::vector<MulticastDrops> drops_; // by rank
  MulticastStatistics moved_;

  simgrid::s4u::Host* host(int rank) const { return call_.communicator->hosts[static_cast<std::size_t>(rank)]; }
  std::size_t member_of(int rank) const
  {
    return static_cast<std::size_t>(call_.group.member_of[static_cast<std::size_t>(rank)]);
  }
  /** How long a rank's core takes for what it does now. */
  Seconds work_of(int rank, Seconds work) const;
  void add_jitter(Departure& departure) const;
  Seconds jitter_of(int block, std::size_t member) const;
  void depart();
  MulticastPlan plan(const std::vector<int>& blocks, const LinkUse& use) const;
  LinkUse use_of_links() const;
  Bytes wire_of(int block) const { return call_.model.wire(call_.size(block)); }
  void hold_back(const Shared& departure);
  void await_backpressure();
  void release();
  void take_off(int block);
  void ended(const Shared& departure, std::size_t flow);
  void complete(const Shared& departure, std::size_t flow);
  void fed(Departure& departure, std::size_t flow);
  void leave(const Departure& departure, std::size_t root);
  void arrive(Departure& departure, std::size_t flow);
  bool gets_some(int rank, const Departure& departure) const;
  std::vector<BlockRun> runs_of_block(int rank, int block) const;
  std::vector<BlockRun> runs_to(int rank, const Departure& departure) const;
  std::vector<BlockRun> pass_switch(int rank, const Departure& departure);
  void receive(int rank, std::vector<BlockRun> runs, double first, double last, Deliveries& deliveries);
  void deliver(Deliveries deliveries);
  void add_events(const Departure& departure);

public:
  /** All must outlive it. */
  MulticastFlows(RunContext& context, MulticastRun& run, const MulticastCall& call, MulticastListener& listener);

  /** A message as MPI sends them. */
  void message(int from, int to, Bytes payload, std::function<void()> arrived);
  /** Send a block off. Those that are sent at the same time are one set of flows. */
  void multicast(int block);
  /** Whether a rank has got chunks within the last @p time. */
  bool hears(int rank, Seconds time) const;
  /** When it got the last ones; now while some come. */
  double last_heard(int rank) const;
  /** Of a chunk on a rank's cable. */
  Seconds time_on_cable(int rank) const;
  MulticastReception& reception() { return reception_; }
  /** What blocks have put on links. */
  const MulticastStatistics& moved() const { return moved_; }
  /** What has not reached a rank. */
  const MulticastDrops& drops(int rank) const { return drops_[static_cast<std::size_t>(rank)]; }
};

} // namespace weft
