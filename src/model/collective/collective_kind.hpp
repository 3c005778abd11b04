// SPDX-License-Identifier: LGPL-2.1-only
/* MPI's collectives, one row each. All properties that depend on the collective are columns of its row. */
#pragma once

#include "model/collective/movement.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct CollectiveKind {
  std::string_view name; ///< MPI's name in lower case, without "MPI_": "allreduce"
  /// True if the collective reduces: it has an operation and supports certain datatypes only.
  bool reduces = false;
  /// Movement of data that switches execute; none if they cannot execute it.
  std::optional<Movement> movement = {};
  /// True if the reliable multicast protocol can execute it (collective/multicast).
  bool multicasts = false;

  /** Returns true if a [[switch.offload]] table may name the collective. */
  constexpr bool offloadable() const { return movement.has_value(); }
};

/** All rows: the collectives of MPI 4.1, chapter 6, and its neighbourhood collectives, section 8.6, in
 * the order of lists in messages. */
inline constexpr std::array COLLECTIVE_KINDS{
    CollectiveKind{.name = "allreduce", .reduces = true, .movement = Movement::allreduce},
    CollectiveKind{.name = "reduce", .reduces = true, .movement = Movement::reduce},
    CollectiveKind{.name = "reduce_scatter", .reduces = true, .movement = Movement::reduce_scatter},
    CollectiveKind{.name = "barrier", .movement = Movement::barrier},
    CollectiveKind{.name = "bcast", .movement = Movement::bcast, .multicasts = true},
    CollectiveKind{.name = "allgather", .movement = Movement::allgather, .multicasts = true},
    CollectiveKind{.name = "allgatherv", .movement = Movement::allgather, .multicasts = true},
    CollectiveKind{.name = "alltoall", .movement = Movement::alltoall},
    CollectiveKind{.name = "alltoallv"},
    CollectiveKind{.name = "alltoallw"},
    CollectiveKind{.name = "gather"},
    CollectiveKind{.name = "gatherv"},
    CollectiveKind{.name = "scatter"},
    CollectiveKind{.name = "scatterv"},
    CollectiveKind{.name = "scan", .reduces = true},
    CollectiveKind{.name = "exscan", .reduces = true},
    CollectiveKind{.name = "neighbor_allgather"},
    CollectiveKind{.name = "neighbor_allgatherv"},
    CollectiveKind{.name = "neighbor_alltoall"},
    CollectiveKind{.name = "neighbor_alltoallv"},
    CollectiveKind{.name = "neighbor_alltoallw"},
};

/** Returns the row of a collective. Throws std::logic_error if there is none. */
constexpr const CollectiveKind& collective(std::string_view name)
{
  for (const CollectiveKind& kind : COLLECTIVE_KINDS)
    if (kind.name == name)
      return kind;
  throw std::logic_error("no such collective: " + std::string(name));
}

/** Returns the names of the collectives for which @p has is true, in the order of the rows. */
std::vector<std::string> collective_names(bool (*has)(const CollectiveKind&));

} // namespace weft
