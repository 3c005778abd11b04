// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/machine/host_of_caller.hpp"

#include "binding/abi/simulator_code.hpp"
#include "binding/process/process.hpp"
#include "binding/threads/program_threads.hpp"

namespace weft {

simgrid::s4u::Host* host_of_caller(const void* caller)
{
  if (not is_simulating() || is_in_simulator(caller) || is_forked_child() || is_in_thread_library(caller))
    return nullptr;
  return host_of_thread();
}

} // namespace weft
