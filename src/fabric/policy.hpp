// SPDX-License-Identifier: LGPL-2.1-only
/* Which calls the network gets: the [[policy]] tables of a fabric file fix it by collective and size for the runs that
 * leave it open (`--offload auto`). */
#pragma once

#include "base/option.hpp"
#include "model/mechanism/offload_mode.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** One [[policy]] table. */
struct PolicyRow {
  std::vector<std::string> collectives;
  Bytes at_least;                                       ///< holds for messages from this size on ...
  Bytes below{std::numeric_limits<double>::infinity()}; ///< ... and smaller than this
  OffloadMode offload;
};

/** The keys of a [[policy]] table. */
const std::vector<Option<PolicyRow>>& policy_options();

/** The [[policy]] tables of a fabric file, in their order. Throws UserError. */
std::vector<PolicyRow> read_policy(const OptionTable& file);

/** What the first row says that holds for a call; nothing where none does. */
std::optional<OffloadMode> find_policy(const std::vector<PolicyRow>& rows, const std::string& collective,
                                       Bytes message);

/** A row in words: "allreduce, reduce of at least 1KiB: stream". */
std::string to_text(const PolicyRow& row);

} // namespace weft
