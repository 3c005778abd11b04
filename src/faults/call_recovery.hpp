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

/** Calls that faults affect in other ways than by cutting their flows. */
class BreakableCall {
public:
  BreakableCall()                                = default;
  BreakableCall(const BreakableCall&)            = delete;
  BreakableCall& operator=(const BreakableCall&) = delete;
  virtual ~BreakableCall()                       = default;
  /** Called when the switch with this index has lost its state. */
  virtual void lose_state(int /*device*/) {}
  /** Called when CallRecovery::bandwidths have changed. */
  virtual void change_bandwidths() {}
};

/** In-network call that a fault has hit, and its outcome. */
struct HitCall {
  double hit;     ///< time of the fault
  double went_on; ///< time at which the call continued or failed
  std::string collective;
  int communicator;
  const char* what; ///< "resent", "rebuilt", "on hosts" or "failed"
};

/** Next step of an in-network call after a timeout that follows a fault. */
enum class AfterTimeout : std::uint8_t {
  hosts,   ///< the hosts repeat the call
  again,   ///< the call continues over its tree
  give_up, ///< the call fails, since its tree was down during all timeouts
  wait,    ///< the call waits for the next timeout
};

/** Faults as seen by offloaded calls; only in runs with faults. */
struct CallRecovery {
  CallPolicy policy;
  const RecoveryModel& model; ///< timeouts: from a fault until a call detects it, and between two attempts to continue
  const FabricState& actual;  ///< actual state, whether routing knows it or not
  LinkLosses& losses;
  bool only_degrades = false; ///< links lose packets or slow down, and nothing fails

  std::vector<BreakableCall*> running = {}; ///< in-network calls, in order of their start
  std::map<LinkId, double> bandwidths = {}; ///< remaining fraction of the bandwidth of slow links
  std::int64_t broken                 = 0;  ///< number of times that a call was hit
  std::int64_t resent                 = 0;  ///< number of times that a call continued over its tree
  std::int64_t rebuilt                = 0;  ///< number of times that a call was repeated over a new tree
  std::int64_t moved                  = 0;  ///< number of calls that the hosts repeated
  double lost_s                       = 0;  ///< time from faults until calls continued, plus repeated time
  std::int64_t cut_branches           = 0;  ///< number of flows of multicasts that were cut
  std::int64_t lost_chunks            = 0;  ///< chunks of multicasts that did not reach a rank, summed over ranks
  std::vector<HitCall> hits           = {}; ///< the first MOST_HITS hits

  static constexpr std::size_t MOST_HITS = 10'000; // limit, since a timeline with more is useless
  void add_hit(HitCall hit)
  {
    if (hits.size() < MOST_HITS)
      hits.push_back(std::move(hit));
  }

  void end(const BreakableCall& call) { std::erase(running, &call); }
  /** Calls a function on each running call. Calls that stop leave the list, with other calls of their job. */
  template <class Function> void tell(Function&& function)
  {
    const std::vector<BreakableCall*> all = running;
    for (BreakableCall* const call : all)
      if (std::ranges::find(running, call) != running.end())
        function(*call);
  }
  /** Returns the next step after @p timeouts timeouts since the fault. @p to_hosts: the policy moves the call to the
   * hosts. @p find_tree: switches to another tree if the policy requests one, and returns whether the call has a tree.
   * @p is_up: returns whether that tree is usable. */
  template <class FindTree, class IsUp>
  AfterTimeout after_timeout(int timeouts, bool to_hosts, FindTree&& find_tree, IsUp&& is_up) const
  {
    if (to_hosts || not find_tree())
      return AfterTimeout::hosts;
    if (is_up())
      return AfterTimeout::again;
    return timeouts > model.retries ? AfterTimeout::give_up : AfterTimeout::wait;
  }

  /** Returns the remaining fraction of a link's bandwidth. */
  double bandwidth(LinkId link) const
  {
    const auto found = bandwidths.find(link);
    return found == bandwidths.end() ? 1 : found->second;
  }
};

} // namespace weft
