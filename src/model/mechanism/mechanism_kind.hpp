// SPDX-License-Identifier: LGPL-2.1-only
/* Table of offload mechanisms, one row each: the name used in options, [[policy]] tables, records and reports, and the
 * help text. */
#pragma once

#include <string_view>
#include <vector>

namespace weft {

struct MechanismKind {
  std::string_view name;
  std::string_view meaning; ///< one line, as printed by help
  /// Fallback mechanism for the collectives that this one does not support; empty: the hosts.
  std::string_view rest = {};
};

/** Returns all rows in the order of error messages. The first is the default of a run. */
const std::vector<const MechanismKind*>& mechanism_kinds();

/** Returns the row called @p name. Throws std::logic_error if there is none. */
const MechanismKind& mechanism_kind(std::string_view name);

/** Appends a row, which must live as long as the process; mechanisms outside weft call it while their library is
 * loaded. Returns true, so that a static variable's initializer can call it. */
bool add_mechanism_kind(const MechanismKind& kind);

} // namespace weft
