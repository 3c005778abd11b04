// SPDX-License-Identifier: LGPL-2.1-only
/* The fastest of all algorithms for a call (`--fallback best`): each one that can carry it out is predicted, the
 * libraries' own choices first; a prediction ends as soon as it is slower than the best so far.
 *
 * In a prediction all ranks enter at once, on a quiet network. What decides a choice is its key in a cache: the hosts
 * of the ranks, the collective, count, size of an element, kind of operation, root, and whether calls follow each
 * other. Roots count as equal where they have the same place on their host and as many ranks run there. */
#pragma once

#include "collective/host/engine/execution.hpp"
#include "collective/host/engine/host_call.hpp"
#include "collective/host/selection/selection.hpp"
#include "fabric/fabric.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

class FastestAlgorithm {
public:
  using MakeCosts = std::function<MessageCosts()>;

private:
  /// Number of the ranks' hosts; collective, blocking, commutative, predefined; count, bytes of an element; the root's
  /// place on its host and the ranks there; elements of each rank's part where they differ; calls in a row.
  using Key = std::tuple<int, std::string, bool, bool, bool, Elements, double, int, int, std::vector<Elements>, int>;

  const Fabric& fabric_;
  const MakeCosts make_costs_;
  std::optional<MessageCosts> costs_;
  std::vector<Selection> libraries_;           // those that are shipped, the default first
  std::map<std::vector<int>, int> placements_; // hosts by rank -> their number
  std::map<std::pair<int, std::string>, int>
      uneven_; // predicted calls with parts that differ, by placement, collective
  std::map<Key, Selection::Choice> chosen_;

  void prepare();
  HostCall comparable(int placement, const HostCall& call) const;
  Selection::Choice predict(const std::vector<int>& hosts, const HostCall& call, int calls) const;

public:
  /** @p fabric must outlive it; @p costs is asked for the first call. */
  FastestAlgorithm(const Fabric& fabric, MakeCosts costs) : fabric_(fabric), make_costs_(std::move(costs)) {}
  FastestAlgorithm(const FastestAlgorithm&)            = delete; // choices refer to its libraries
  FastestAlgorithm& operator=(const FastestAlgorithm&) = delete;

  /** The fastest way to carry out @p call, whose hosts are known, as one of @p calls in a row. */
  Selection::Choice choose(const HostCall& call, int calls);
};

} // namespace weft
