/* What weft knows of each MPI communicator: where its ranks are, its reduction tree, its calls in flight.
 *
 * Every rank's n-th collective on a communicator must be the same call. The first rank to make it enters it; the
 * others are held against that entry, so that a program that breaks the rule is told so instead of hanging.
 */
#pragma once

#include "collective/offload_policy.hpp"
#include "collective/reduction_tree.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

/** What must be equal at all ranks of a call. Fields that a collective does not have stay at their defaults. */
struct CallSignature {
  const char* collective = "";
  MPI_Datatype datatype  = MPI_DATATYPE_NULL;
  MPI_Op operation       = MPI_OP_NULL;
  std::int64_t count     = 0;
  int root               = -1;

  /** Whether MPI allows two ranks to make these as one call. Types and operations that a program made are different
   *  objects at each rank, so only predefined ones are compared. */
  bool agrees_with(const CallSignature& other) const;
  /** As a person would write it: "MPI_Allreduce(256 x MPI_INT, MPI_SUM)". */
  std::string text() const;
};

/** State of one offloaded call, shared by the ranks that make it. */
class OffloadedCall {
public:
  virtual ~OffloadedCall() = default;
};

/** One call in flight. */
struct PendingCall {
  CallSignature signature;
  int first_rank = 0;
  int entered    = 0;
  int left       = 0;
  std::vector<bool> inside;           ///< ranks that have entered and not left, for messages about deadlocks
  Fallback decision = Fallback::none; ///< made by the first rank, followed by all
  std::shared_ptr<OffloadedCall> offloaded;
};

class Communicator {
public:
  int id = 0;
  std::vector<aid_t> members; ///< SimGrid's actor of each rank
  std::vector<VertexId> rank_hosts;
  std::vector<int> nic_position; ///< of each rank among those of its host
  std::optional<ReductionTree> tree;
  Fallback obstacle = Fallback::none; ///< why no call on it can be offloaded
  std::vector<bool> attached;         ///< ranks that will tell when they free it
  int freed           = 0;            ///< how many ranks have
  mutable bool served = false;        ///< whether its switches have actors for it (message granularity)
  mutable std::vector<simgrid::s4u::ActorPtr> servers; ///< those actors

  int size() const { return static_cast<int>(rank_hosts.size()); }
  /** "MPI_COMM_WORLD" or "communicator 3 (of 4 ranks)". */
  std::string text() const;

  /** Rank @p rank makes its next call. Returns the entry, whose signature may differ from @p signature; where
   *  entered == 1, this rank is the first. */
  std::shared_ptr<PendingCall> enter(int rank, const CallSignature& signature);
  /** How many calls rank @p rank has made. */
  std::int64_t calls_made(int rank) const { return calls_made_[static_cast<std::size_t>(rank)]; }
  /** Rank @p rank returns from @p call. */
  void leave(int rank, PendingCall& call);
  /** The rank of an actor; nothing where it is no member. */
  std::optional<int> rank_of(aid_t actor) const;
  /** The oldest call in flight that rank @p rank has not entered; none where there is none. */
  const PendingCall* waiting_for(int rank) const;
  /** The calls that not all ranks have left, oldest first. */
  const std::deque<std::shared_ptr<PendingCall>>& pending() const { return pending_; }

  explicit Communicator(int ranks);

private:
  std::vector<std::int64_t> calls_made_; // by rank
  std::int64_t first_pending_ = 0;       // number of the oldest call in pending_
  std::deque<std::shared_ptr<PendingCall>> pending_;
};

} // namespace weft
