// SPDX-License-Identifier: LGPL-2.1-only
/* Which calls the switches get: what a run asks for (`--offload`), and the [[policy]] tables of a fabric file, which
 * fix it by collective and size for the runs that leave it open. */
#pragma once

#include "base/option.hpp"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** What a run or a [[policy]] table asks for. */
enum class OffloadMode {
  off,       ///< never
  message,   ///< wherever a switch can, whole messages at a time
  stream,    ///< wherever a switch can, packet by packet
  multicast, ///< Bcast and Allgather by the hosts' multicast protocol, others as `stream`
  automatic  ///< wherever that is predicted to be faster than the hosts
};

template <> struct Names<OffloadMode> {
  static constexpr std::array ROWS{std::pair{OffloadMode::stream, std::string_view("stream")},
                                   std::pair{OffloadMode::message, std::string_view("message")},
                                   std::pair{OffloadMode::multicast, std::string_view("multicast")},
                                   std::pair{OffloadMode::automatic, std::string_view("auto")},
                                   std::pair{OffloadMode::off, std::string_view("off")}};
};

/** One [[policy]] table. */
struct PolicyRow {
  std::vector<std::string> collectives;
  Bytes at_least;                                       ///< holds for messages from this size on ...
  Bytes below{std::numeric_limits<double>::infinity()}; ///< ... and smaller than this
  OffloadMode offload = OffloadMode::off;
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
