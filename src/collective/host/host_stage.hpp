// SPDX-License-Identifier: LGPL-2.1-only
/* Host stage of an offloaded call with per-host contributions (NicModel::contributions): the ranks of a host combine
 * their data at a leader, the first rank, which calls the switch and distributes the result. Both directions are
 * ordinary schedules among the ranks of a host.
 *
 *   collective           to the leader                  from the leader
 *   Allreduce, Barrier   Reduce                         Bcast
 *   Reduce               Reduce                         a message to the root
 *   Reduce_scatter       Reduce                         Scatter
 *   Bcast                a message from the root        Bcast
 *   Allgather            Gather                         Bcast
 *   Alltoall             Gather                         Scatter
 *
 * No rank leaves before its host has the result, since the network may read its buffers until then. */
#pragma once

#include "collective/host/engine/execution.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/collective/members.hpp"
#include "model/nic/nic_model.hpp"

#include <memory>
#include <vector>

namespace weft {

/** Algorithms of the Reduce and the Bcast within a host. */
struct HostStageAlgorithms {
  const Algorithm* reduce;
  const Algorithm* bcast;

  /** Returns the algorithms named by @p nic. Throws UserError for unknown names. */
  static HostStageAlgorithms of(const NicModel& nic);
};

/** Offloaded call as seen by the ranks of a host. */
struct HostStageCall {
  Movement movement;
  int root = -1; ///< rank; rooted collectives only
  Bytes message; ///< the whole vector
  Bytes element{1};
  bool commutative          = true;
  std::vector<double> parts = {}; ///< bytes by rank, if ranks have parts or blocks
  Bytes buffers             = {}; ///< size of a rank's buffers; see buffers_of_a_rank
};

/** Returns @p call as the ranks of a host see it. */
HostStageCall host_stage_call(const CallDescriptor& call);

class HostStage {
public:
  /** Callbacks of a host stage; rank_ended() is called when a rank has finished its part of the call. */
  class Listener : public RankCallbacks {
  public:
    /** Reports that the leader of @p member holds its host's contribution, and that all ranks of the host have
     * entered. */
    virtual void contributed(int member) = 0;
  };

  /** All arguments except @p call must outlive the object. */
  HostStage(Agenda& agenda, Messages& network, const MessageCosts& costs, const std::vector<int>& hosts,
            Members members, HostStageAlgorithms algorithms, HostStageCall call, Listener& listener,
            const std::shared_ptr<Execution::Memory>& memory = nullptr);

  /** Enters @p rank now. */
  void enter(int rank, Seconds now);
  /** Delivers the result for @p member to its leader now. */
  void deliver(int member, Seconds now);
  /** Makes @p rank attend again. */
  void make_progress(int rank);

private:
  /** Schedules of one direction, to or from the leader. */
  struct Way : RankCallbacks {
    HostStage& stage;
    void (HostStage::* const when_ended)(int rank);
    Execution execution;

    Way(HostStage& its_stage, Schedule (HostStage::*steps)(int rank) const, void (HostStage::*ended)(int rank),
        Agenda& agenda, Messages& network, const MessageCosts& costs, const std::vector<int>& hosts,
        const std::shared_ptr<Execution::Memory>& memory);
    void rank_ended(int rank) override { (stage.*when_ended)(rank); }
    bool makes_progress(int rank) const override { return stage.listener_.makes_progress(rank); }
    int socket(int rank) const override { return stage.listener_.socket(rank); }
    Seconds with_os_noise(int rank, Seconds start, Seconds work) override
    {
      return stage.listener_.with_os_noise(rank, start, work);
    }
    void call_failed(const std::string& why) override { stage.listener_.call_failed(why); }
    void call_refused(const std::string& why) override { stage.listener_.call_refused(why); }
  };
  struct Member {
    int entered    = 0;     // number of ranks that have entered
    bool together  = false; // true if the leader holds the host's contribution
    bool delivered = false;
    std::vector<int> waiting; // ranks that only await the delivery
  };

  const Members all_;
  const HostStageAlgorithms algorithms_;
  const HostStageCall call_;
  Listener& listener_;
  Agenda& agenda_;
  std::vector<Member> members_;
  Way up_;
  Way down_;

  const std::vector<int>& ranks_of(int rank) const;
  Schedule give(int rank) const;
  Schedule get(int rank) const;
  HostCall among_host(std::string_view collective, std::size_t ranks) const;
  Schedule in_parts(std::string_view collective, int rank) const;
  void given(int rank);
  void got(int rank);
  void tell_if_together(int member);
};

} // namespace weft
