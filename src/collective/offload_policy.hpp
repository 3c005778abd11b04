/* Whether a call of a collective goes to the switches, and if not, why.
 *
 * The decision depends on nothing that differs between the ranks of one correct call, so every rank comes to the same.
 */
#pragma once

#include "collective/reduction_tree.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/** How offloaded collectives are simulated (`--offload`). */
enum class Granularity { off, message, stream };

/** Reads "off", "message" or "stream". */
std::optional<Granularity> parse_granularity(std::string_view text);
std::string_view to_text(Granularity granularity);

/** Why a call falls back to the host's algorithm. */
enum class Fallback {
  none, ///< it does not
  policy,
  one_rank,
  zero_count,
  collective,
  datatype,
  operation,
  one_host,
  not_on_tree,
  no_gain,
  no_free_channel,
  privatization, ///< a rank's memory cannot be reached while others run (smpi/privatization:mmap)
};
/** As it stands in the record. */
std::string_view to_text(Fallback reason);

/** What a call asks for. */
struct CollectiveCall {
  std::string collective;
  std::string datatype;
  std::string operation;
  Bytes message; ///< the whole vector
};

/** The reasons that need no look at the tree: policy, size, capabilities of @p model. */
Fallback decide_call(Granularity granularity, const SwitchModel& model, const CollectiveCall& call, int ranks);

} // namespace weft
