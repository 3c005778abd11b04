// SPDX-License-Identifier: LGPL-2.1-only
/* Reason why ranks cannot be spawned. */
#pragma once

#include <stdexcept>

namespace weft {

/** Error with which MPI_Comm_spawn fails with MPI_ERR_SPAWN. */
class SpawnRefusal : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace weft
