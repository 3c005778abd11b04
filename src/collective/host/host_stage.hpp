// SPDX-License-Identifier: LGPL-2.1-only
/* The hosts' own stage of an offloaded call, where one rank of each host speaks for all of its ranks
 * (NicModel::contributions): they hand it what they give, and get from it what comes back. Both are schedules among the
 * ranks of a host, with the costs of any other schedule: a Reduce or a Gather to the first rank of the host, and a
 * Bcast or a Scatter from it.
 *
 *   collective           to the speaker                 from the speaker
 *   Allreduce, Barrier   Reduce                         Bcast
 *   Reduce               Reduce                         a message to the root
 *   Reduce_scatter       Reduce                         Scatter
 *   Bcast                a message from the root        Bcast
 *   Allgather            Gather                         Bcast
 *   Alltoall             Gather                         Scatter
 *
 * No rank leaves before its host has what comes back: the network may read its buffers until then. */
#pragma once

#include "collective/host/engine/execution.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "model/collective/movement.hpp"
#include "model/nic/nic_model.hpp"

#include <memory>
#include <vector>

namespace weft {

/** The algorithms of a host's Reduce and Bcast. */
struct HostStageAlgorithms {
  const Algorithm* reduce;
  const Algorithm* bcast;

  /** Those that @p nic names. Throws UserError where there is no such. */
  static HostStageAlgorithms of(const NicModel& nic);
};

/** An offloaded call, as its ranks see it. */
struct HostStageCall {
  Movement movement;
  int root = -1; ///< rank; where one alone gives or gets
  Bytes message; ///< the whole vector
  Bytes element{1};
  bool commutative          = true;
  std::vector<double> parts = {}; ///< bytes, by rank; where ranks have parts or blocks
  Bytes buffers             = {}; ///< of a rank: see buffers_of_a_rank
};

/** The ranks of a call by the host that speaks for them. */
struct HostMembers {
  const std::vector<int>& of_rank;            ///< by rank
  const std::vector<std::vector<int>>& ranks; ///< by member; the first one speaks
};

class HostStage {
public:
  /** Told what has happened, as RankEnd is; its rank_ended() when a rank's part of the call has ended. */
  class Listener : public RankEnd {
  public:
    /** The speaker of @p member has what its host gives, and all of the host's ranks have entered. */
    virtual void contributed(int member) = 0;
  };

  /** All but @p call must outlive it. */
  HostStage(Agenda& agenda, Messages& network, const MessageCosts& costs, const std::vector<int>& hosts,
            HostMembers members, HostStageAlgorithms algorithms, HostStageCall call, Listener& listener,
            const std::shared_ptr<Execution::Memory>& memory = nullptr);

  /** @p rank enters the call, now. */
  void enter(int rank, Seconds now);
  /** What @p member gets has come to its speaker, now. */
  void deliver(int member, Seconds now);
  /** @p rank, which did not attend, does now. */
  void attend(int rank);

private:
  /** One of the two ways. */
  struct Way : RankEnd {
    HostStage& stage;
    void (HostStage::* const when_ended)(int rank);
    Execution execution;

    Way(HostStage& its_stage, Schedule (HostStage::*steps)(int rank) const, void (HostStage::*ended)(int rank),
        Agenda& agenda, Messages& network, const MessageCosts& costs, const std::vector<int>& hosts,
        const std::shared_ptr<Execution::Memory>& memory);
    void rank_ended(int rank) override { (stage.*when_ended)(rank); }
    bool attends(int rank) const override { return stage.listener_.attends(rank); }
    Seconds lengthened(int rank, Seconds start, Seconds work) override
    {
      return stage.listener_.lengthened(rank, start, work);
    }
    void call_failed(const std::string& why) override { stage.listener_.call_failed(why); }
  };
  struct Member {
    int entered    = 0;     // ranks
    bool together  = false; // the speaker has what they give
    bool delivered = false;
    std::vector<int> waiting; // ranks with nothing left to do but to wait for that
  };

  const HostMembers all_;
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
