// SPDX-License-Identifier: LGPL-2.1-only
/* Reaction of offloaded calls to faults of the switches and links that they use. */
#pragma once

#include "base/named.hpp"
#include "fabric/fabric_state.hpp"
#include "faults/fault_events.hpp"
#include "network/link_losses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** Calls that faults reach other than by cutting their flows. */
class BreakableCall {
public:
  BreakableCall()                                = default;
  BreakableCall(const BreakableCall&)            = delete;
  BreakableCall& operator=(const BreakableCall&) = delete;
  virtual ~BreakableCall()                       = default;
  /** The switch with this index has lost its state. */
  virtual void lose_state(int /*device*/) {}
  /** CallRecovery::bandwidths have changed. */
  virtual void change_bandwidths() {}
};

/** Call in the network that a fault has hit, and what became of it. */
struct HitCall {
  double hit;     ///< time
  double went_on; ///< time at which it continued or failed
  std::string collective;
  int communicator;
  const char* what; ///< "resent", "rebuilt", "on hosts" or "failed"
};

/** Next step of a call in the network after a timeout that follows a hit. */
enum class AfterTimeout : std::uint8_t {
  hosts,   ///< the hosts repeat it
  again,   ///< it continues over its tree
  give_up, ///< it fails, since its tree was down for all timeouts
  wait,    ///< for the next timeout
};

/** Faults as offloaded calls see them; of a run with faults. */
struct CallRecovery {
  CallPolicy policy;
  const RecoveryModel& model; ///< timeouts: from a fault until a call notices it, and between two attempts to continue
  const FabricState& actual;  ///< what is up, known or not
  LinkLosses& losses;

  std::vector<BreakableCall*> running = {}; ///< calls in the network, in the order of their starts
  std::map<LinkId, double> bandwidths = {}; ///< parts of their bandwidth that slow links have
  std::int64_t broken                 = 0;  ///< times that a call was hit
  std::int64_t resent                 = 0;  ///< times that one continued over its tree
  std::int64_t rebuilt                = 0;  ///< times that one was repeated over a new tree
  std::int64_t moved                  = 0;  ///< calls that the hosts repeated
  double lost_s                       = 0;  ///< from hits until calls continued, and what they repeated
  std::int64_t cut_branches           = 0;  ///< flows of multicasts that were cut
  std::int64_t lost_chunks            = 0;  ///< chunks of multicasts that did not reach a rank, over all ranks
  std::vector<HitCall> hits           = {}; ///< the first of these

  static constexpr std::size_t MOST_HITS = 10'000; // a timeline with more is of no use
  void add_hit(HitCall hit)
  {
    if (hits.size() < MOST_HITS)
      hits.push_back(std::move(hit));
  }

  void end(const BreakableCall& call) { std::erase(running, &call); }
  /** Runs a function on each call. Calls that stop leave the list, with others of their job. */
  template <class Function> void tell(Function&& function)
  {
    const std::vector<BreakableCall*> all = running;
    for (BreakableCall* const call : all)
      if (std::ranges::find(running, call) != running.end())
        function(*call);
  }
  /** Returns the next step after so many @p timeouts since a hit. @p to_hosts: the policy leaves the call to the hosts.
   * @p find_tree: changes to another tree if the policy asks for one, and returns whether the call has a tree. @p
   * is_up: returns whether that tree can be used. */
  template <class FindTree, class IsUp>
  AfterTimeout after_timeout(int timeouts, bool to_hosts, FindTree&& find_tree, IsUp&& is_up) const
  {
    if (to_hosts || not find_tree())
      return AfterTimeout::hosts;
    if (is_up())
      return AfterTimeout::again;
    return timeouts > model.retries ? AfterTimeout::give_up : AfterTimeout::wait;
  }

  /** Returns the part of its bandwidth that a link has. */
  double bandwidth(LinkId link) const
  {
    const auto found = bandwidths.find(link);
    return found == bandwidths.end() ? 1 : found->second;
  }
};

} // namespace weft
