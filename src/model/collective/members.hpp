// SPDX-License-Identifier: LGPL-2.1-only
/* Members of a communicator: those who contribute to a call over switches. A member is a rank, or a host whose ranks
 * combine what they contribute (NicModel::contributions). */
#pragma once

#include <vector>

namespace weft {

/** View of the members of a communicator and their ranks. */
struct Members {
  const std::vector<int>& of_rank;            ///< by rank
  const std::vector<std::vector<int>>& ranks; ///< by member; the first one speaks for it
};

} // namespace weft
