// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/settings.hpp"

#include <string>

namespace weft {

bool memory_is_shared()
{
  // Asked several times a call by each rank, and a look-up of SimGrid's options takes hundreds of instructions.
  static const bool SHARED = simgrid::config::get_value<std::string>("smpi/privatization") != "mmap";
  return SHARED;
}

} // namespace weft
