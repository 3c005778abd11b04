// SPDX-License-Identifier: LGPL-2.1-only
/* MPI's collectives, one row each. Everything that depends on which collective a call is asks its row. */
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
  std::string_view name; ///< MPI's, without "MPI_" and in small letters: "allreduce"
  /// Whether it computes with the data: has an operation, and is limited to datatypes.
  bool reduces = false;
  /// What switches do for it; nothing where they can do nothing.
  std::optional<Movement> movement = {};
  /// Whether the reliable multicast protocol can do it (collective/multicast).
  bool multicasts = false;

  /** Whether a [[switch.offload]] table may name it. */
  constexpr bool offloadable() const { return movement.has_value(); }
};

/** All rows: the collectives of MPI 4.1, chapter 6, in the order in which messages name them. */
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
};

/** Throws std::logic_error where there is no such. */
constexpr const CollectiveKind& collective(std::string_view name)
{
  for (const CollectiveKind& kind : COLLECTIVE_KINDS)
    if (kind.name == name)
      return kind;
  throw std::logic_error("no such collective: " + std::string(name));
}

/** The names of those that @p has holds for, in the order of the rows. */
std::vector<std::string> collective_names(bool (*has)(const CollectiveKind&));

} // namespace weft
