/* Whether a call of a collective goes to the switches, and if not, why.
 *
 * The decision depends on nothing that differs between the ranks of one correct call, so every rank comes to the same.
 */
#pragma once

#include "collective/reduction_tree.hpp"

#include <string>
#include <string_view>

namespace weft {

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
  host_faster,   ///< predicted
  no_nic_memory, ///< the NIC's fast memory is full of other communicators' state (multicast)
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

/** The reasons that need no look at the tree: size, and what @p model cannot do. */
Fallback decide_call(const SwitchModel& model, const CollectiveCall& call, int ranks);

} // namespace weft
