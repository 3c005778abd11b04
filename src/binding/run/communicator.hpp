// SPDX-License-Identifier: LGPL-2.1-only
/* State of each MPI communicator: the location of its ranks, its calls in flight, and per-communicator state of
 * mechanisms.
 *
 * Every rank's n-th collective on a communicator must be the same call. The first rank to make it creates an entry; all
 * other ranks are compared with that entry, so that a program that breaks the rule gets an error instead of hanging. */
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
/** Data of one call that the hosts execute. */
class HostData;
/** Call that the hosts execute by a weft schedule. */
class ScheduledCall;

/** Call in flight on a communicator: its descriptor, the ranks in it, and the objects that execute it. */
struct CallInFlight {
  const KeptDescriptor call; ///< as described by the first rank
  const int first_rank;
  int entered       = 0;
  int left          = 0;
  double last_entry = 0;    ///< simulated time at which the latest rank entered
  std::vector<bool> inside; ///< ranks that have entered and not left, for deadlock reports
  Decision decision;        ///< made by the first rank for all ranks
  std::shared_ptr<OffloadedCall> offloaded;
  std::shared_ptr<HostData> host_data; ///< set if weft moves the data
  std::shared_ptr<ScheduledCall> scheduled;

  CallInFlight(const CallDescriptor& its_call, int its_first_rank, int ranks)
      : call(its_call), first_rank(its_first_rank), inside(static_cast<std::size_t>(ranks))
  {
  }

  /** Returns the time that a rank, which ends its part at @p now, waited for late ranks: from its entry to that of the
   * last rank, or to its own end if that is earlier, as for the root of a Bcast. Its time in the call is therefore this
   * wait plus its time once all ranks have entered. */
  double wait(double entry, double now) const
  {
    return (std::cmp_less(entered, inside.size()) ? now : last_entry) - entry;
  }
};

/** Key of a communicator in a run. */
struct CommunicatorKey {
  int world;  ///< world of the job whose ranks created it (Job::world)
  int number; ///< SMPI's number, the same on all members and never reused; -1: the program's MPI_COMM_WORLD; lower: the
              ///< MPI_COMM_WORLD of a spawned world

  auto operator<=>(const CommunicatorKey&) const = default;
};

/** State that a mechanism or the selector keeps for a communicator during its lifetime. */
class CommunicatorState {
public:
  CommunicatorState()                                    = default;
  CommunicatorState(const CommunicatorState&)            = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  virtual ~CommunicatorState()                           = default;

  /** Releases the run's resources that calls on the communicator have acquired. */
  virtual void release() {}
};

class Communicator {
public:
  const int id;              ///< SMPI's number
  const int world;           ///< see CommunicatorKey
  const int handle;          ///< number unique within the run; key of channels and memory
  std::vector<aid_t> actors; ///< SimGrid's actor of each rank
  std::vector<VertexId> rank_hosts;
  std::vector<int> rank_sockets;          ///< socket of each rank on its host; empty if the fabric has no sockets
  std::vector<simgrid::s4u::Host*> hosts; ///< host of each rank; null if the rank has ended
  /// Members, which contribute to the tree: each rank, or each host on behalf of all its ranks (see
  /// NicModel::contributions).
  std::vector<int> member_of;                      ///< by rank
  std::vector<std::vector<int>> member_ranks;      ///< by member; the first rank sends the member's contribution
  std::pair<const CollectiveKind*, int> last_call; ///< collective and root of the last decided call
  int calls_in_a_row = 1;     ///< number of consecutive calls that predictions assume for the last decided call
  std::vector<bool> attached; ///< ranks whose freeing of the communicator will be reported
  bool is_only_world = false; ///< false if error messages must name its job, because there are several
  int freed          = 0;     ///< number of ranks that have freed it

  CommunicatorKey key() const { return {world, id}; }
  bool is_world() const { return id < 0; }
  /** Returns the number that distributes tree roots over equally suitable switches. */
  std::size_t tree_number() const { return static_cast<std::size_t>(is_world() ? 0 : id + 1); }
  int size() const { return static_cast<int>(actors.size()); }
  Members all_members() const { return {member_of, member_ranks}; }
  int members() const { return static_cast<int>(member_ranks.size()); }
  /** Returns a rank's socket; -1 if it is unknown. */
  int socket(int rank) const { return rank_sockets.empty() ? -1 : rank_sockets[static_cast<std::size_t>(rank)]; }
  /** Returns whether @p rank sends its member's contribution. */
  bool speaks(int rank) const { return member_ranks[static_cast<std::size_t>(member(rank))].front() == rank; }
  int member(int rank) const { return member_of[static_cast<std::size_t>(rank)]; }
  /** Returns the name for error messages: "MPI_COMM_WORLD", "MPI_COMM_WORLD of program 2" after the first, or
   * "communicator 3 (of 4 ranks)". */
  std::string text() const;

  /** Returns the state of a kind, created by @p make on first use. */
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
  /** Releases the resources that calls on the communicator have acquired; it must not be used afterwards. */
  void release();

  /** Enters rank @p rank's next call. Returns the entry, whose descriptor may differ from @p call; if entered == 1,
   * this rank is the first. */
  std::shared_ptr<CallInFlight> enter(int rank, const CallDescriptor& call);
  /** Returns the number of calls that rank @p rank has made. */
  std::int64_t calls_made(int rank) const { return calls_made_[static_cast<std::size_t>(rank)]; }
  /** Ends rank @p rank's part in @p call. */
  void leave(int rank, CallInFlight& call);
  /** Returns the rank of an actor; nothing if it is not a member. */
  std::optional<int> rank_of(aid_t actor) const;
  /** Returns the oldest call in flight that rank @p rank has not entered; null if there is none. */
  const CallInFlight* waiting_for(int rank) const;
  /** Returns the calls that some ranks have not left, oldest first. */
  const std::deque<std::shared_ptr<CallInFlight>>& pending() const { return pending_; }

  Communicator(CommunicatorKey key, int handle, int ranks);

private:
  std::vector<std::pair<std::type_index, std::unique_ptr<CommunicatorState>>> states_;
  std::vector<std::int64_t> calls_made_; // by rank
  std::int64_t first_pending_ = 0;       // number of the oldest call in pending_
  std::deque<std::shared_ptr<CallInFlight>> pending_;
};

} // namespace weft
