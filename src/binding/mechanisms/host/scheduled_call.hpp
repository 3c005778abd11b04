// SPDX-License-Identifier: LGPL-2.1-only
/* Calls that the hosts carry out by weft's own schedules: a rank sleeps once, and is woken when its part has ended. */
#pragma once

#include "binding/data/host_data.hpp"
#include "binding/mechanisms/rank_actors.hpp"
#include "binding/messages/host_network.hpp"
#include "binding/platform/flow_result.hpp"
#include "binding/run/communicator.hpp"
#include "collective/host/engine/execution.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/host/engine/tally.hpp"
#include "collective/host/fallback.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

/** Messages of a call, in the elements of a rank's own arguments; the rest of a HostCall is as its descriptor says. */
struct HostShape {
  Elements count   = 0; ///< as HostCall has it
  Bytes element    = Bytes(1);
  const int* parts = nullptr; ///< of Reduce_scatter and Allgatherv: elements of each rank's part
  /// Of calls that only move data, and whose ranks' blocks may differ.
  const Sides* sides = nullptr;
  bool uneven        = false;
};

class ScheduledCall : public RankCallbacks, public ProgressedCall, public std::enable_shared_from_this<ScheduledCall> {
  /** What a rank gives to each, or gets from each, in bytes. */
  class Blocks {
    Side side_;
    std::vector<Elements> kept_; // where the rank may go on, and change or free what the side points to

  public:
    Blocks() = default;
    Blocks(const Side& side, int ranks, bool keep);
    Elements of(int rank) const;
  };
  struct Member {
    Blocks gives;
    Blocks gets;
    bool inside = false;
  };

  HostNetwork& network_;
  HostCall call_;
  const HostFallback& fallback_;
  Selection::Choice choice_{};
  std::vector<Elements> parts_; // of reductions and Allgatherv
  std::vector<Member> members_; // by rank, where blocks differ otherwise
  std::vector<FlowEnd> on_end_; // by rank
  std::vector<Tally> tallies_;  // by rank, where they are kept
  RankActors actors_;
  int entered_ = 0; // ranks
  int ended_   = 0; // ranks
  Execution execution_;

  Elements block(int from, int to) const;
  Schedule steps(int rank);

public:
  ScheduledCall(HostNetwork& network, const Communicator& communicator, const HostFallback& fallback, HostCall call,
                const HostShape& shape);

  /** Which algorithm carries it out, as one of @p calls in a row; @p shape is the first rank's. Before any rank joins.
   *  Throws UserError where that cannot. */
  bool choose(const HostShape& shape, int calls);

  /** The algorithm's name, with the library that decides on the calls within it where it is not the selection. */
  std::string algorithm() const;
  Tuning tuning() const { return choice_.tuning; }
  /** Count what each rank does from now on. */
  void keep_tallies() { tallies_.resize(on_end_.size()); }
  /** None where nobody counts. */
  const std::vector<Tally>& tallies() const { return tallies_; }
  /** Rank @p rank enters; @p on_end runs in SimGrid's kernel context when its part has ended. Where it @p blocks, what
   *  the sides of @p shape point to stays as it is until then. wake() follows, at the same instant. */
  void join(int rank, const HostShape& shape, bool blocks, FlowEnd on_end);
  /** Have what has been entered go on. Lets other ranks run. */
  void wake() { network_.wake(); }

  void rank_ended(int rank) override;
  bool makes_progress(int rank) const override { return actors_.makes_progress(rank); }
  Seconds with_os_noise(int rank, Seconds start, Seconds work) override
  {
    return actors_.with_os_noise(rank, start, work);
  }
  void make_progress(int rank) override { execution_.make_progress(rank); }
  void call_failed(const std::string& why) override;
};

/** One of @p call, which @p shape says; null where @p fallback has no algorithm for it. Ends the run where it has one
 *  that cannot do it. */
std::shared_ptr<ScheduledCall> make_scheduled_call(HostNetwork& network, const Communicator& communicator,
                                                   const HostFallback& fallback, HostCall call, const HostShape& shape);

} // namespace weft
