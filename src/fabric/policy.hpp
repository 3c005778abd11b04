// SPDX-License-Identifier: LGPL-2.1-only
/* Offload policy of a fabric: [[policy]] tables set the mode by collective and size for runs with `--offload auto`. */
#pragma once

#include "base/option.hpp"
#include "model/mechanism/offload_mode.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** [[policy]] table. */
struct PolicyRow {
  std::vector<std::string> collectives;
  Bytes at_least;                                       ///< minimum message size
  Bytes below{std::numeric_limits<double>::infinity()}; ///< exclusive upper bound on the message size
  OffloadMode offload;
};

/** Returns the keys of a [[policy]] table. */
const std::vector<Option<PolicyRow>>& policy_options();

/** Reads the [[policy]] tables of a fabric file, in order. Throws UserError. */
std::vector<PolicyRow> read_policy(const OptionTable& file);

/** Returns the mode of the first row that matches a call, if any. */
std::optional<OffloadMode> find_policy(const std::vector<PolicyRow>& rows, const std::string& collective,
                                       Bytes message);

/** Returns a row as text: "allreduce, reduce of at least 1KiB: stream". */
std::string to_text(const PolicyRow& row);

} // namespace weft
