// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/file_effects/simulated_order.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/clocks/simulated_time.hpp"
#include "binding/observe/computation_clock.hpp"
#include "binding/observe/profile.hpp"
#include "binding/process/fortran.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/sleep.hpp"

#include <cstdint>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <memory>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <unwind.h>

namespace weft {
namespace {

bool is_in_cxx_library(const void* address)
{
  Dl_info library{};
  return dladdr(address, &library) != 0 && library.dli_fname && std::strstr(library.dli_fname, "/libstdc++.so");
}

/** Stack walk upwards from the code that has called the C library. */
struct StackWalk {
  const void* caller;
  bool found        = false;   ///< true if that code's frame has been found
  const void* first = nullptr; ///< first frame above it outside the C++ library
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* data)
{
  auto& walk = *static_cast<StackWalk*>(data);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of code
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  walk.found |= address == walk.caller;
  if (not walk.found || is_in_cxx_library(address))
    return _URC_NO_REASON;
  walk.first = address;
  return _URC_END_OF_STACK;
}

/** Returns the code on whose behalf the C++ library, at @p caller, calls the C library, since the simulator uses
 * streams too. */
const void* behind_cxx_library(const void* caller)
{
  if (not is_in_cxx_library(caller))
    return caller;
  StackWalk walk{caller};
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.first ? walk.first : caller;
}

/** Returns whether the current rank may have computed long enough to matter. SMPI drops computation below a microsecond
 * each time it is charged, which would drop many short writes. */
bool has_computed()
{
  static constexpr double LEAST     = 10e-6;
  static std::uint64_t charged_turn = 0;
  static double charged_at          = 0;
  static const auto CLOCK           = next_definition<int (*)(clockid_t, std::timespec*)>("clock_gettime");
  std::timespec now{};
  CLOCK(CLOCK_THREAD_CPUTIME_ID, &now);
  const double seconds = seconds_of(now);
  if (charged_turn == turn && seconds - charged_at < LEAST)
    return false;
  charged_turn = turn;
  charged_at   = seconds;
  return true;
}

} // namespace

bool is_rank(const void* caller)
{
  if (not running_context || is_in_simulator(caller) || not is_programs_call(caller) || not is_ranks_thread())
    return false;
  return not is_in_simulator(caller ? behind_cxx_library(caller) : caller);
}

bool acts_in_order(const void* caller)
{
  if (not running_context || not clocks_are_simulated() || not is_rank(caller))
    return false;
  const aid_t rank = current_actor();
  return Profile::get().knows(rank) && not Profile::get().is_in_call(rank) && not is_in_fortran_statement();
}

void come_in_order(const void* caller)
{
  if (running_context && computation_is_simulated() && acts_in_order(caller) && has_computed())
    settle_computation();
}

void await_others_of_instant(const void* caller)
{
  if (not acts_in_order(caller))
    return;
  // SimGrid runs the timers of an instant when no rank can run any more. The rank may be killed before that.
  const auto sleep = std::make_shared<Sleep>();
  simgrid::kernel::timer::Timer::set(simgrid::s4u::Engine::get_clock(), [sleep] { sleep->wake(); });
  sleep->sleep(SleepsIn::wait);
}

} // namespace weft
