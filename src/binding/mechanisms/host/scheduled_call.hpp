// SPDX-License-Identifier: LGPL-2.1-only
/* Calls that the hosts execute by weft's own schedules: each rank sleeps once, and is woken when its part has ended. */
#pragma once

#include "binding/data/host_data.hpp"
#include "binding/data/neighborhood.hpp"
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

/** Sizes of a call in elements of a rank's own arguments; the call's descriptor supplies the rest of the HostCall. */
struct HostShape {
  Elements count   = 0; ///< as in HostCall
  Bytes element    = Bytes(1);
  const int* parts = nullptr; ///< Reduce_scatter and Allgatherv: elements per rank
  /// Set for calls that only move data, whose blocks may differ between ranks.
  const Sides* sides = nullptr;
  bool uneven        = false;
  /// Set for neighbourhood collectives, whose `sides` have blocks by neighbour.
  std::shared_ptr<const Neighborhood> neighborhood = {};
  /// Set for calls on intercommunicators: the rank's part.
  const BetweenGroups* between = nullptr;
  /// Set for calls that SMPI's algorithm has refused.
  bool smpi_refuses = false;
};

class ScheduledCall : public RankCallbacks, public ProgressedCall, public std::enable_shared_from_this<ScheduledCall> {
  /** Bytes that a rank sends to each peer, or receives from each. */
  class Blocks {
    Side side_;
    std::vector<Elements> kept_; // copy, if the rank may return from the call and change or free the memory of side_

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
  std::vector<Elements> parts_; // set for reductions and Allgatherv
  std::vector<Member> members_; // by rank; empty unless call_ and parts_ cannot describe the blocks
  std::shared_ptr<const Neighborhood> neighborhood_; // null unless it is a neighbourhood collective
  std::vector<BetweenGroups> between_;               // by rank; empty unless it is on an intercommunicator
  std::vector<FlowEnd> on_end_;                      // by rank
  std::vector<Tally> tallies_;                       // by rank; empty unless tallies are kept
  RankActors actors_;
  int entered_ = 0; // ranks that have entered
  int ended_   = 0; // ranks that have ended
  Execution execution_;

  Elements block(int from, int to) const;
  NeighborMessages neighbors(int rank) const;
  Schedule steps(int rank);

public:
  ScheduledCall(HostNetwork& network, const Communicator& communicator, const HostFallback& fallback, HostCall call,
                const HostShape& shape);

  /** Selects the algorithm for this call, as one of @p calls consecutive ones, from the first rank's @p shape. Called
   * before any rank joins. @return false if there is none. @throws UserError if a prediction contains a call without a
   * rule. */
  bool choose(const HostShape& shape, int calls);

  /** Name of the algorithm, with the library that chose it unless the selection itself did. */
  std::string algorithm() const;
  Tuning tuning() const { return choice_.tuning; }
  /** Starts counting each rank's messages and rounds. */
  void keep_tallies() { tallies_.resize(on_end_.size()); }
  /** Empty unless keep_tallies() was called. */
  const std::vector<Tally>& tallies() const { return tallies_; }
  /** Enters rank @p rank; @p on_end runs in SimGrid's kernel context once the rank's part has ended. If the rank @p
   * blocks, the arrays in @p shape stay unchanged until then. The caller must call wake() at the same instant. */
  void join(int rank, const HostShape& shape, bool blocks, FlowEnd on_end);
  /** Resumes the execution for all ranks entered so far. Lets other ranks run. */
  void wake() { network_.wake(); }

  void rank_ended(int rank) override;
  bool makes_progress(int rank) const override { return actors_.makes_progress(rank); }
  int socket(int rank) const override { return actors_.socket(rank); }
  Seconds with_os_noise(int rank, Seconds start, Seconds work) override
  {
    return actors_.with_os_noise(rank, start, work);
  }
  void make_progress(int rank) override { execution_.make_progress(rank); }
  void call_failed(const std::string& why) override;
  void call_refused(const std::string& why) override { actors_.refuse(why); }
};

/** Creates the execution of @p call with @p shape; null if @p fallback has no algorithm for it. @throws UserError like
 * ScheduledCall::choose(). */
std::shared_ptr<ScheduledCall> make_scheduled_call(HostNetwork& network, const Communicator& communicator,
                                                   const HostFallback& fallback, HostCall call, const HostShape& shape);

} // namespace weft
