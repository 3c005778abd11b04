// SPDX-License-Identifier: LGPL-2.1-only
/* What weft knows of each MPI communicator: where its ranks are, its tree, its calls in flight.
 *
 * Every rank's n-th collective on a communicator must be the same call. The first rank to make it enters it; the
 * others are held against that entry, so that a program that breaks the rule is told so instead of hanging.
 */
#pragma once

#include "binding/data/described.hpp"
#include "collective/decision.hpp"
#include "collective/in_network/stream.hpp"
#include "collective/multicast/plan.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace weft {

/** State of one offloaded call, shared by the ranks that make it. */
class OffloadedCall;
/** The data of one call that the hosts execute. */
class HostData;
/** One that they execute by a schedule of weft's. */
class ScheduledCall;

/** One call in flight. */
struct PendingCall {
  CallSignature signature; ///< the first rank's; its parts are kept here
  std::vector<int> parts;
  int first_rank = 0;
  int entered    = 0;
  int left       = 0;
  std::vector<bool> inside; ///< ranks that have entered and not left, for messages about deadlocks
  Decision decision;        ///< made by the first rank, followed by all
  std::shared_ptr<OffloadedCall> offloaded;
  std::shared_ptr<HostData> host_data; ///< where weft moves it
  std::shared_ptr<ScheduledCall> scheduled;

  /** How @p other, rank @p rank's, is not the same call, for people: nothing where MPI allows two ranks to make both as
   *  one. Types and operations that a program made are different objects at each rank, so only predefined ones are
   *  compared. */
  std::optional<std::string> differs(const CallSignature& other, int rank) const;
  /** Whether it is, as nearly all are: found out without the memory that words take on a rank's stack. */
  bool is_same(const CallSignature& other) const;
};

/** What a communicator is known by. */
struct CommunicatorKey {
  int world;  ///< the MPI program whose ranks have made it; they are numbered in the run
  int number; ///< SMPI's, the same at all members and never used again; -1: the program's MPI_COMM_WORLD

  auto operator<=>(const CommunicatorKey&) const = default;
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
  std::vector<int> member_of;                 ///< by rank
  std::vector<std::vector<int>> member_ranks; ///< by member; the first one speaks for it
  std::vector<int> nic_position;              ///< by member: which one it is of those that share its NIC
  std::optional<ReductionTree> tree;
  std::vector<const SwitchModel*> models; ///< of the tree's switches, each once, in their order
  /// Results of predictions by call: collective, whether it blocks, bytes, root, operation, calls in a row.
  using PredictedCall = std::tuple<const CollectiveKind*, bool, std::int64_t, int, MPI_Op, int>;
  std::map<PredictedCall, bool> host_is_faster;
  std::pair<const CollectiveKind*, int> last_call; ///< that was decided: collective and root
  int calls_in_a_row = 1; ///< to which the call belongs that was decided last, as predictions take it
  NoTree no_tree     = NoTree::no_common_switch; ///< where there is none: why
  std::vector<bool> attached;                    ///< ranks that will tell when they free it
  int freed                 = 0;                 ///< how many ranks have
  bool served               = false;             ///< whether its switches have actors for it (message granularity)
  std::int64_t served_calls = 0;                 ///< calls that those have been given
  std::vector<simgrid::s4u::ActorPtr> servers;   ///< those actors
  std::uint32_t streamed_calls = 0;              ///< that have started
  std::shared_ptr<Communicator> speakers;        ///< of the members, where ranks share them: see multicasting()
  std::optional<GroupResult> multicast;          ///< its multicast trees, where a call has asked for them
  std::int64_t multicast_calls = 0;              ///< by the multicast protocol

  CommunicatorKey key() const { return {world, id}; }
  bool is_world() const { return id < 0; }
  /** By which the roots of trees are spread over switches that would serve as well. */
  std::size_t tree_number() const { return static_cast<std::size_t>(id + 1); }
  int size() const { return static_cast<int>(actors.size()); }
  int members() const { return static_cast<int>(member_ranks.size()); }
  /** Whether @p rank speaks for its member. */
  bool speaks(int rank) const { return member_ranks[static_cast<std::size_t>(member(rank))].front() == rank; }
  /** Who takes part in multicasts: those who speak for members. */
  static std::shared_ptr<Communicator> multicasting(const std::shared_ptr<Communicator>& communicator)
  {
    return communicator->speakers ? communicator->speakers : communicator;
  }
  Communicator& multicasting() { return speakers ? *speakers : *this; }
  int member(int rank) const { return member_of[static_cast<std::size_t>(rank)]; }
  /** "MPI_COMM_WORLD", "MPI_COMM_WORLD of program 2" after the first, or "communicator 3 (of 4 ranks)". */
  std::string text() const;

  /** What a call is to the tree: parts and root by member. @p parts are those of the ranks. */
  TreeCall tree_call(const Described& described, const std::vector<double>& parts, const NicModel& nic) const;
  /** The streams of a call over its tree. Programs make the same calls over and over, so the last plan is kept. */
  std::shared_ptr<const StreamPlan> plan(const Fabric& fabric, const TreeCall& call, BytesPerSecond host_rate);

  /** Rank @p rank makes its next call. Returns the entry, whose signature may differ from @p signature; where
   *  entered == 1, this rank is the first. */
  std::shared_ptr<PendingCall> enter(int rank, const CallSignature& signature);
  /** How many calls rank @p rank has made. */
  std::int64_t calls_made(int rank) const { return calls_made_[static_cast<std::size_t>(rank)]; }
  /** Rank @p rank's part of @p call has ended. */
  void leave(int rank, PendingCall& call);
  /** The rank of an actor; nothing where it is no member. */
  std::optional<int> rank_of(aid_t actor) const;
  /** The oldest call in flight that rank @p rank has not entered; none where there is none. */
  const PendingCall* waiting_for(int rank) const;
  /** The calls that not all ranks have left, oldest first. */
  const std::deque<std::shared_ptr<PendingCall>>& pending() const { return pending_; }

  Communicator(CommunicatorKey key, int handle, int ranks);

private:
  struct KeptPlan {
    TreeCall call;
    BytesPerSecond host_rate;
    std::shared_ptr<const StreamPlan> plan;
  };
  std::optional<KeptPlan> kept_plan_;
  std::vector<std::int64_t> calls_made_; // by rank
  std::int64_t first_pending_ = 0;       // number of the oldest call in pending_
  std::deque<std::shared_ptr<PendingCall>> pending_;
};

} // namespace weft
