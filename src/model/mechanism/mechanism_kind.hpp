// SPDX-License-Identifier: LGPL-2.1-only
/* The ways in which the network carries out collectives, one row each: names in options, [[policy]] tables, records and
 * reports, and what help says of them. */
#pragma once

#include <string_view>
#include <vector>

namespace weft {

struct MechanismKind {
  std::string_view name;
  std::string_view meaning; ///< one line, as help shows it
  /// The mechanism that takes the collectives which this one does not do; empty: the hosts take them.
  std::string_view rest = {};
};

/** All rows, in the order in which messages name them; runs take the first where they say nothing. */
const std::vector<const MechanismKind*>& mechanism_kinds();

/** The row of that name. Throws std::logic_error where there is none. */
const MechanismKind& mechanism_kind(std::string_view name);

/** Appends a row, which must live as long as the process. For mechanisms that are not weft's own, while their library
 * is loaded. @return true, so that a static variable can hold it. */
bool add_mechanism_kind(const MechanismKind& kind);

} // namespace weft
