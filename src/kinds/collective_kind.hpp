/* MPI's collectives, one row each. Everything that depends on which collective a call is asks its row. */
#pragma once

#include "kinds/movement.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct CollectiveKind {
  std::string_view name; ///< MPI's, without "MPI_" and in small letters: "allreduce"
  bool reduces;          ///< computes with the data: has an operation, and is limited to datatypes
  /// What switches do for it; nothing where they can do nothing.
  std::optional<Movement> movement;
  /// Whether the reliable multicast protocol can do it (collective/multicast).
  bool multicasts = false;

  /** Whether a [[switch.offload]] table may name it. */
  bool offloadable() const { return movement.has_value(); }
  /** The call's name in records: "iallreduce" is the form of an Allreduce that does not block. */
  std::string call_name(bool blocking) const { return std::string(blocking ? "" : "i").append(name); }
};

/** All rows. */
std::span<const CollectiveKind> collective_kinds();
/** Null where there is no such. */
const CollectiveKind* find_collective(std::string_view name);
/** Throws std::logic_error where there is no such. */
const CollectiveKind& collective(std::string_view name);
/** The names of those that @p has holds for, in the order of the rows. */
std::vector<std::string> collective_names(bool (*has)(const CollectiveKind&));

} // namespace weft
