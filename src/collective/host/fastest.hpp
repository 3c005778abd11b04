// SPDX-License-Identifier: LGPL-2.1-only
/* Fastest algorithm of a call (`--fallback best`). Every algorithm that can execute the call is predicted, the
 * libraries' own choices first; a prediction stops once it is slower than the best so far.
 *
 * In predictions, all ranks enter together on a quiet network. Choices are memoized by all their inputs: the hosts of
 * the ranks, collective, count, element size, kind of operation, root, and number of consecutive calls. Roots are
 * equivalent if they have the same index on hosts with the same number of ranks. */
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
  /// Key of the memoized choices: number of the placement; collective, blocking, commutative, predefined; count,
  /// element size; the root's index on its host and the number of ranks there; elements of each rank's part if they
  /// differ; number of consecutive calls.
  using Key = std::tuple<int, std::string, bool, bool, bool, Elements, double, int, int, std::vector<Elements>, int>;

  const Fabric& fabric_;
  const MakeCosts make_costs_;
  std::optional<MessageCosts> costs_;
  std::vector<Selection> libraries_;                  // shipped selections, the default first
  std::map<std::vector<int>, int> placements_;        // hosts by rank -> number of the placement
  std::map<std::pair<int, std::string>, int> uneven_; // predicted calls with unequal parts, by placement and collective
  std::map<Key, Selection::Choice> chosen_;

  void prepare();
  HostCall comparable(int placement, const HostCall& call) const;
  Selection::Choice predict(const std::vector<int>& hosts, const HostCall& call, int calls) const;

public:
  /** @p fabric must outlive the object; @p costs is called at the first prediction. */
  FastestAlgorithm(const Fabric& fabric, MakeCosts costs) : fabric_(fabric), make_costs_(std::move(costs)) {}
  FastestAlgorithm(const FastestAlgorithm&)            = delete; // choices refer to its libraries
  FastestAlgorithm& operator=(const FastestAlgorithm&) = delete;

  /** Returns the fastest algorithm for @p call, whose hosts are known, as one of @p calls consecutive calls. */
  Selection::Choice choose(const HostCall& call, int calls);
};

} // namespace weft
