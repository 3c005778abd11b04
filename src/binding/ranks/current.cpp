// SPDX-License-Identifier: LGPL-2.1-only
/* The engine, and who runs now: SimGrid asks for the one some thirty times a message, and for the other some twenty.
 *
 * It finds the engine in two calls (Engine::get_instance in src/s4u/s4u_Engine.cpp), and who runs, which is the
 * thread's, by a call of the dynamic linker's (Context::current_context_ in src/kernel/context/Context.cpp). A library
 * that is there when the process starts has a place for such a variable that needs none.
 */
#include "binding/ranks/current.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <simgrid/s4u/Engine.hpp>

namespace weft {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SimGrid's
constinit thread_local simgrid::kernel::context::Context* who_runs __attribute__((tls_model("initial-exec"))) = nullptr;
constinit std::uint64_t turn                                                                                  = 0;
constinit AtTurn at_turn                                                                                      = nullptr;

namespace {

/** Where SimGrid has the engine; null until that is asked for. */
constinit simgrid::s4u::Engine* const* engine_place = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/** The engine, which is made where there is none. */
[[gnu::noinline]] simgrid::s4u::Engine* find_engine()
{
  static const auto THEIRS = original<simgrid::s4u::Engine* (*)()>("_ZN7simgrid3s4u6Engine12get_instanceEv");
  engine_place             = original<simgrid::s4u::Engine* const*>("_ZN7simgrid3s4u6Engine9instance_E");
  return THEIRS();
}

} // namespace
} // namespace weft

namespace simgrid {

WEFT_INTERPOSED s4u::Engine* s4u::Engine::get_instance()
{
  if (weft::engine_place && *weft::engine_place) [[likely]]
    return *weft::engine_place;
  return weft::find_engine();
}

WEFT_INTERPOSED kernel::context::Context* kernel::context::Context::self()
{
  return weft::who_runs;
}

WEFT_INTERPOSED void kernel::context::Context::set_current(Context* now)
{
  weft::who_runs = now;
  ++weft::turn;
  if (weft::at_turn) [[unlikely]]
    weft::at_turn();
}

} // namespace simgrid
