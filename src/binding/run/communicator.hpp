// SPDX-License-Identifier: LGPL-2.1-only
/* What weft knows of each MPI communicator: where its ranks are, its calls in flight, and what mechanisms keep there.
 *
 * Every rank's n-th collective on a communicator must be the same call. The first rank to make it enters it; the
 * others are held against that entry, so that a program that breaks the rule is told so instead of hanging.
 */
#pragma once

#include "collective/decision.hpp"
#include "fabric/fabric.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/collective/members.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace weft {

/** State of one offloaded call, shared by the ranks that make it. */
class OffloadedCall;
/** The data of one call that the hosts execute. */
class HostData;
/** One that they execute by a schedule of weft's. */
class ScheduledCall;

/** Call in flight on a communicator: its description, the ranks that are in it, and what carries it out. */
struct CallInFlight {
  const KeptDescriptor call; ///< the first rank's
  const int first_rank;
  int entered = 0;
  int left    = 0;
  std::vector<bool> inside; ///< ranks that have entered and not left, for messages about deadlocks
  Decision decision;        ///< made by the first rank, followed by all
  std::shared_ptr<OffloadedCall> offloaded;
  std::shared_ptr<HostData> host_data; ///< where weft moves it
  std::shared_ptr<ScheduledCall> scheduled;

  CallInFlight(const CallDescriptor& its_call, int its_first_rank, int ranks)
      : call(its_call), first_rank(its_first_rank), inside(static_cast<std::size_t>(ranks))
  {
  }
};

/** Key of a communicator in a run. */
struct CommunicatorKey {
  int world;  ///< of the job whose ranks have made it (Job::world)
  int number; ///< SMPI's, the same at all members and never used again; -1: the program's MPI_COMM_WORLD

  auto operator<=>(const CommunicatorKey&) const = default;
};

/** What a mechanism, or who decides, keeps at a communicator as long as that lives. */
class CommunicatorState {
public:
  CommunicatorState()                                    = default;
  CommunicatorState(const CommunicatorState&)            = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  virtual ~CommunicatorState()                           = default;

  /** Gives back what calls on the communicator have taken of the run. */
  virtual void release() {}
};

class Communicator {
public:
  const int id;              ///< SMPI's number
  const int world;           ///< see CommunicatorKey
  const int handle;          ///< the run's own number, of no other communicator: by it channels and memory are held
  std::vector<aid_t> actors; ///< SimGrid's actor of each rank
  std::vector<VertexId> rank_hosts;
  std::vector<simgrid::s4u::Host*> hosts; ///< of each rank; none where it has ended
  /// Who contributes to the tree: each rank, or each host for all of its ranks (see NicModel::contributions).
  std::vector<int> member_of;                      ///< by rank
  std::vector<std::vector<int>> member_ranks;      ///< by member; the first one speaks for it
  std::pair<const CollectiveKind*, int> last_call; ///< that was decided: collective and root
  int calls_in_a_row = 1;     ///< to which the call belongs that was decided last, as predictions take it
  std::vector<bool> attached; ///< ranks that will tell when they free it
  int freed = 0;              ///< how many ranks have

  CommunicatorKey key() const { return {world, id}; }
  bool is_world() const { return id < 0; }
  /** By which the roots of trees are spread over switches that would serve as well. */
  std::size_t tree_number() const { return static_cast<std::size_t>(id + 1); }
  int size() const { return static_cast<int>(actors.size()); }
  Members all_members() const { return {member_of, member_ranks}; }
  int members() const { return static_cast<int>(member_ranks.size()); }
  /** Whether @p rank speaks for its member. */
  bool speaks(int rank) const { return member_ranks[static_cast<std::size_t>(member(rank))].front() == rank; }
  int member(int rank) const { return member_of[static_cast<std::size_t>(rank)]; }
  /** "MPI_COMM_WORLD", "MPI_COMM_WORLD of program 2" after the first, or "communicator 3 (of 4 ranks)". */
  std::string text() const;

  /** The state of a kind, which @p make makes when it is first asked for. */
  template <std::derived_from<CommunicatorState> State, class Make> State& state(Make&& make)
  {
    for (const auto& [kind, its] : states_)
      if (kind == typeid(State))
        return static_cast<State&>(*its);
    std::unique_ptr<State> made = make();
    State& its                  = *made;
    states_.emplace_back(typeid(State), std::move(made));
    return its;
  }
  /** Nobody will use it any more: what calls on it have taken is given back. */
  void release();

  /** Rank @p rank makes its next call. Returns the entry, whose description may differ from @p call; where
   *  entered == 1, this rank is the first. */
  std::shared_ptr<CallInFlight> enter(int rank, const CallDescriptor& call);
  /** How many calls rank @p rank has made. */
  std::int64_t calls_made(int rank) const { return calls_made_[static_cast<std::size_t>(rank)]; }
  /** Rank @p rank's part of @p call has ended. */
  void leave(int rank, CallInFlight& call);
  /** The rank of an actor; nothing where it is no member. */
  std::optional<int> rank_of(aid_t actor) const;
  /** The oldest call in flight that rank @p rank has not entered; none where there is none. */
  const CallInFlight* waiting_for(int rank) const;
  /** The calls that not all ranks have left, oldest first. */
  const std::deque<std::shared_ptr<CallInFlight>>& pending() const { return pending_; }

  Communicator(CommunicatorKey key, int handle, int ranks);

private:
  std::vector<std::pair<std::type_index, std::unique_ptr<CommunicatorState>>> states_;
  std::vector<std::int64_t> calls_made_; // by rank
  std::int64_t first_pending_ = 0;       // number of the oldest call in pending_
  std::deque<std::shared_ptr<CallInFlight>> pending_;
};

} // namespace weft
