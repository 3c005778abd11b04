// SPDX-License-Identifier: LGPL-2.1-only
/* Traffic of one call of the multicast protocol, messages between hosts and blocks over the trees,
 * and its losses.
 *
 * In runs with faults, each link of a tree has a flow of its own. A fault cuts the flow of its link, and the blocks on
 * it reach no further (collective/multicast/reach.hpp): the flows behind it are shortened, and the other branches and
 * the roots continue. */
#pragma once

#include "collective/multicast/backpressure.hpp"
#include "collective/multicast/drops.hpp"
#include "collective/multicast/execution/block_runs.hpp"
#include "collective/multicast/execution/call.hpp"
#include "collective/multicast/execution/reception.hpp"
#include "collective/multicast/execution/service.hpp"
#include "collective/multicast/execution/statistics.hpp"
#include "collective/multicast/reach.hpp"
#include "model/nic/staging_ring.hpp"
#include "model/noise/jitter.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace weft {

/** Receiver of events of blocks in flight. */
class MulticastListener {
public:
  virtual ~MulticastListener() = default;
  /** The last chunk has left the block's root. */
  virtual void block_left(int block) = 0;
  /** Chunks have reached a rank. */
  virtual void chunks_came(int rank, int block, ChunkRun run) = 0;
  /** Runs @p action after @p delay, or at once if that is zero. The call lives until then. */
  virtual void after(Seconds delay, std::function<void()> action) = 0;
  /** Runs @p action after all events of the current instant. The call lives until then. */
  virtual void later(std::function<void()> action) = 0;
};

class MulticastFlows {
  /** Flow of a link in a run with faults: the part of it that is on the network now, after the earlier ones. */
  struct Piece {
    std::uint64_t number = 0;
    bool flows           = true;
    double carried       = 0; // part of the flow in earlier pieces
    double size          = 1; // part of the flow in this piece
  };
  /** Roots that start simultaneously, as one set of flows. */
  struct Departure {
    std::vector<int> blocks;
    double start = 0;
    MulticastPlan plan{};
    std::vector<std::size_t> waits_for{};             // by flow: its own end, ends of the flows that feed it, and
                                                      // its release by backpressure
    std::vector<std::size_t> fed_by{};                // by flow: unfinished flows that feed it
    std::vector<std::vector<std::size_t>> feeds{};    // by flow: flows that wait for it
    std::vector<std::vector<std::size_t>> roots_of{}; // by flow: roots whose blocks leave with it
    std::vector<std::size_t> leaves_after{};          // by root: unfinished flows that carry its block from its host
    std::size_t going = 0;                            // unfinished flows

    std::vector<int> coming_to{};                        // by member: unfinished flows
    std::vector<int> being_fed{};                        // by member: flows with unfinished feeding flows
    std::vector<std::vector<std::int64_t>> unswitched{}; // by member: chunks that its switch dropped for lack of room

    Seconds slowest{}; // time of the slowest flow, if it slows down all others

    // In runs with faults.
    std::vector<Bytes> sizes{}; // of the blocks
    std::optional<BlockReach> reach{};
    std::vector<Piece> pieces{};            // by flow
    std::vector<std::int64_t> over_cable{}; // by member: chunks that its cable has carried, with those dropped before

    void prepare();
    bool is_first(std::size_t flow) const { return plan.flows[flow].after.empty(); }
    LinkId link(std::size_t flow) const { return plan.flows[flow].flow.links.front().link; }
    /** Flows over the roots' cables, each once. */
    std::vector<std::size_t> first_flows() const;
  };
  using Shared = std::shared_ptr<Departure>;
  /** Queue in a switch for a host's cable. */
  struct Port {
    StagingRing queue;
    std::vector<double> since{}; // start times of the arrivals in progress
  };
  /** A rank's view of the multicast. */
  struct Hearing {
    std::vector<double> since{}; // start times of the arrivals in progress
    double last = -1;            // arrival time of the latest chunks; -1: none yet
  };
  /** Deliveries by time: pairs of rank and chunks. */
  using Deliveries = std::map<double, std::vector<std::pair<int, std::vector<BlockRun>>>>;

  const MulticastService& service_;
  CallCarrier& carrier_;
  MulticastOwner& owner_;
  const MulticastCall& call_;
  MulticastListener& listener_;
  MulticastReception reception_;
  std::vector<std::vector<std::vector<ChunkRun>>> losses_; // by block and rank; empty for a block without losses
  std::vector<std::vector<int>> ranks_at_;                 // by member
  std::vector<Hearing> hearing_;                           // by rank
  std::vector<Port> ports_;                                // by member; empty if their buffers are unbounded
  std::vector<int> leaving_;                               // blocks whose roots start now
  Bytes together_;                           // bytes on a receiver's cable of the blocks in flight at a time
  std::optional<MulticastPlan> whole_;       // plan of all blocks, if they do not start together
  std::optional<Backpressure> backpressure_; // set for lossless links, once roots have started
  std::vector<Shared> departures_;           // roots that wait for the backpressure, by number
  int backpressure_timers_ = 0;
  std::vector<MulticastDrops> drops_;                // by rank
  std::vector<std::weak_ptr<Departure>> flying_;     // in runs with faults
  std::vector<std::pair<Shared, std::size_t>> cuts_; // flows that faults cut at this instant
  MulticastTraffic moved_;

  double clock() const { return carrier_.now().value(); }
  std::size_t member_of(int rank) const
  {
    return static_cast<std::size_t>(call_.group.member_of[static_cast<std::size_t>(rank)]);
  }
  void add_jitter(Departure& departure) const;
  Seconds jitter_of(int block, std::size_t member) const;
  void depart();
  MulticastPlan plan(const std::vector<int>& blocks, const LinkUse& use) const;
  LinkUse use_of_links() const;
  LinkUse use_of_idle_links() const;
  Bytes wire_of(int block) const { return call_.model.wire(call_.size(block)); }
  void start_flow(const Shared& departure, std::size_t flow);
  std::vector<BytesPerSecond> receive_rates(const Departure& departure) const;
  void hold_back(const Shared& departure);
  void await_backpressure();
  void release();
  MoreDrops drops_of_links() const;
  void take_off(int block);
  void ended(const Shared& departure, std::size_t flow);
  void complete(const Shared& departure, std::size_t flow);
  void pass_on(const Shared& departure, std::size_t flow);
  void fed(Departure& departure, std::size_t flow, const BlockReach::Progress& now = {});
  void leave(const Departure& departure, std::size_t root);
  void arrive(Departure& departure, std::size_t flow);
  bool gets_some(int rank, const Departure& departure) const;
  std::vector<BlockRun> runs_of_block(int rank, int block) const;
  std::vector<BlockRun> runs_to(int rank, const Departure& departure) const;
  std::vector<BlockRun> pass_switch(int rank, const Departure& departure);
  void receive(int rank, std::vector<BlockRun> runs, double first, double last, Deliveries& deliveries);
  void deliver(Deliveries deliveries);
  void report(const Departure& departure);

  // Faults: flow_faults.cpp
  CallRecovery* recovery() const { return service_.recovery; }
  void begin_faults(const Shared& departure);
  void start_piece(const Shared& departure, std::size_t flow, StreamFlow its, Seconds sharing);
  void cut(const Shared& departure, std::size_t flow, double left);
  void stop_cut_flows();
  void end_cut_flow(const Shared& departure, std::size_t flow);
  void close_port(const Shared& departure, std::size_t flow);
  double carried(const Departure& departure, std::size_t flow) const;
  void adjust(const Shared& departure);
  double take_rest(Departure& departure, std::size_t flow);
  Seconds time_of(const Departure& departure, std::size_t flow) const;
  Seconds slowest(const Departure& departure) const;
  std::vector<Seconds> switching_now(const Departure& departure) const;
  void change_rates(const Departure& departure);
  void count_arrival(int member, Departure& departure, std::size_t flow);
  void count_losses(int member, const Departure& departure, const std::vector<BlockReach::Loss>& losses);
  std::vector<BlockRun> carried_of(int rank, const Departure& departure, std::vector<BlockRun> runs);

public:
  /** All arguments must outlive this object. */
  MulticastFlows(const MulticastService& service, MulticastOwner& owner, const MulticastCall& call,
                 MulticastListener& listener);

  /** Sends a message as MPI does; @p arrived runs at its end. */
  void message(int from, int to, Bytes payload, std::function<void()> arrived);
  /** Sends a block. Blocks that are sent at the same time form one set of flows. */
  void multicast(int block);
  /** The bandwidths of links have changed. */
  void change_bandwidths();
  /** True if a rank has received chunks within the last @p time. */
  bool hears(int rank, Seconds time) const;
  /** Time at which a rank received its latest chunks; now while some arrive, -1 if none has. */
  double last_heard(int rank) const;
  /** Transmission time of a chunk on a rank's cable. */
  Seconds time_on_cable(int rank) const;
  MulticastReception& reception() { return reception_; }
  /** Traffic that blocks have put on links. */
  const MulticastTraffic& moved() const { return moved_; }
  /** Chunks that did not reach a rank. */
  const MulticastDrops& drops(int rank) const { return drops_[static_cast<std::size_t>(rank)]; }
};

} // namespace weft
