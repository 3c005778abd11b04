// SPDX-License-Identifier: LGPL-2.1-only
/* Members of a communicator: the contributors to a call over switches. A member is a rank, or a
 * host whose ranks combine their contributions (NicModel::contributions). */
#pragma once

#include <vector>

namespace weft {

/** View of the members of a communicator and their ranks. */
struct Members {
  const std::vector<int>& of_rank;            ///< member of each rank
  const std::vector<std::vector<int>>& ranks; ///< ranks of each member; the first one represents it
};

} // namespace weft
