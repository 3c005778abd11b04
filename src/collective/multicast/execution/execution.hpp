// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of one call by the multicast protocol (collective/multicast/protocol.hpp) in time. The protocol's requests
 * are delegated: signals, multicasts and reads move over links (flows.hpp), chunks are the data of the call's owner,
 * and timers are those of the carrier. */
#pragma once

#include "collective/multicast/execution/flows.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace weft {

class MulticastExecution : MulticastActions, MulticastListener, BreakableCall, Due {
  static constexpr std::size_t NONE = ~std::size_t{0};
  /** Progress of a rank. */
  struct Rank {
    std::size_t timer    = NONE; // among actions_
    MulticastPhase phase = MulticastPhase::barrier;
    Seconds since{}; // start of its phase
    Seconds start{}; // start of its call
    MulticastTimes times{};
  };
  /** Action that waits for its time. */
  struct Delayed {
    std::function<void()> action;
    std::shared_ptr<void> owner; // kept until then
    std::uint64_t timer = 0;
  };
  const MulticastService& service_;
  MulticastOwner& owner_;
  const MulticastCall& call_;
  MulticastFlows flows_;
  MulticastProtocol protocol_;
  std::vector<Rank> ranks_;
  std::vector<Delayed> delayed_;
  std::vector<std::size_t> idle_; // free positions in delayed_
  double fetched_bytes_ = 0;

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  std::size_t delay(Seconds time, std::function<void()> action);
  Delayed take(std::size_t number);
  void cancel(std::size_t number);
  void set_timer(int rank, Seconds time);

  // Due
  void due(std::uint64_t number) override;

  // BreakableCall
  void change_bandwidths() override { flows_.change_bandwidths(); }

  // MulticastListener
  void block_left(int block) override { protocol_.injected(block); }
  void chunks_came(int rank, int block, ChunkRun run) override { protocol_.arrived(rank, block, run); }
  void after(Seconds time, std::function<void()> action) override;
  void later(std::function<void()> action) override { delay(Seconds(), std::move(action)); }

  // MulticastActions
  void send(int from, int to, const MulticastSignal& signal) override;
  void multicast(int block) override { flows_.multicast(block); }
  bool hears(int rank) const override { return flows_.hears(rank, call_.model.cutoff_slack); }
  void store(int rank, int block, ChunkRun run, int from) override { owner_.store(rank, block, run, from); }
  void fetch(int rank, int from, const std::vector<MulticastFetch>& what) override;
  void set_timer(int rank, std::int64_t chunks) override;
  void set_timer_after_silence(int rank) override;
  void enters(int rank, MulticastPhase phase) override;

public:
  /** @p service, @p owner and @p call must outlive the execution. */
  MulticastExecution(const MulticastService& service, MulticastOwner& owner, const MulticastCall& call);
  MulticastExecution(const MulticastExecution&)            = delete;
  MulticastExecution& operator=(const MulticastExecution&) = delete;
  ~MulticastExecution() override;

  /** Starts the call of a rank. */
  void enter(int rank);
  /** Returns whether all ranks have left the call. */
  bool all_over() const { return protocol_.all_over(); }

  /** Returns the time at which a rank entered. */
  Seconds start(int rank) const { return at(rank).start; }
  /** Returns what a rank has observed, once all ranks have left the call. */
  MulticastRank seen(int rank) const;
  MulticastTraffic traffic() const;
};

} // namespace weft
