// SPDX-License-Identifier: LGPL-2.1-only
/* Engine and current context: SimGrid looks up the engine about thirty times per message, and the context about twenty
 * times.
 *
 * SimGrid finds the engine in two calls (Engine::get_instance in src/s4u/s4u_Engine.cpp), and the current context,
 * which is thread-local, by a call into the dynamic linker (Context::current_context_ in
 * src/kernel/context/Context.cpp). A library that is loaded at process start has static thread-local storage, which
 * needs no call. */
#include "binding/ranks/current.hpp"

#include "binding/abi/kernel/contexts.hpp"
#include "binding/abi/original.hpp"
#include "binding/settings/tunings.hpp"

#include <algorithm>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <string>
#include <vector>
#include <xbt/config.hpp>

namespace weft {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SimGrid's
constinit thread_local simgrid::kernel::context::Context* running_context __attribute__((tls_model("initial-exec"))) =
    nullptr;
constinit thread_local aid_t thread_actor __attribute__((tls_model("initial-exec"))) = 0;
constinit std::uint64_t turn                                                         = 0;
constinit TurnCallback on_turn_change                                                = nullptr;
constinit std::uint64_t turn_of_actor                                                = ~std::uint64_t{0};
constinit aid_t asked_actor                                                          = 0;
constinit std::uint64_t turn_of_time                                                 = ~std::uint64_t{0};
constinit double asked_time                                                          = 0;

constinit ContextFinder find_context_of_thread = nullptr;

namespace {

/** SimGrid's pointer to the engine; null until the first look-up. */
constinit simgrid::s4u::Engine* const* engine_place = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/** Returns the engine, created if there is none. Out of line, so that the fast path has no frame. */
[[gnu::noinline]] simgrid::s4u::Engine* find_engine()
{
  static const auto THEIRS = original<simgrid::s4u::Engine* (*)()>("_ZN7simgrid3s4u6Engine12get_instanceEv");
  if (is_on(TuningId::engine_pointer))
    engine_place = original<simgrid::s4u::Engine* const*>("_ZN7simgrid3s4u6Engine9instance_E");
  return THEIRS();
}

/** Returns the current context where it may differ from running_context. Out of line, so that the fast path has no
 * frame. */
[[gnu::noinline]] simgrid::kernel::context::Context* find_context()
{
  if (not running_context && find_context_of_thread)
    return find_context_of_thread();
  if (is_on(TuningId::current_context))
    return running_context;
  static const auto THEIRS                       = original<ContextFinder>("_ZN7simgrid6kernel7context7Context4selfEv");
  simgrid::kernel::context::Context* const found = THEIRS();
  return found ? found : running_context; // SimGrid's own is null on threads of the program
}

/** Returns whether the turn changes with the rank. Without preloading, SimGrid's own set_current() is called, and the
 * turn stays 0; ranks that are threads call it once. */
bool turns_tell_ranks()
{
  static const bool SWITCHED = simgrid::config::get_value<std::string>("contexts/factory") != "thread";
  return SWITCHED && turn != 0;
}

std::vector<TurnCallback>& turn_callbacks()
{
  static auto* const ALL = new std::vector<TurnCallback>;
  return *ALL;
}

void call_turn_callbacks()
{
  for (const TurnCallback callback : turn_callbacks())
    callback();
}

} // namespace

void call_on_turn_change(TurnCallback callback)
{
  std::vector<TurnCallback>& all = turn_callbacks();
  if (std::ranges::find(all, callback) == all.end())
    all.push_back(callback);
  on_turn_change = all.size() == 1 ? callback : call_turn_callbacks;
}

aid_t ask_current_actor()
{
  asked_actor = simgrid::s4u::this_actor::get_pid();
  if (turns_tell_ranks())
    turn_of_actor = turn;
  return asked_actor;
}

double ask_time_of_rank()
{
  asked_time = simgrid::s4u::Engine::get_clock();
  if (turns_tell_ranks())
    turn_of_time = turn;
  return asked_time;
}

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
  Context* const now = weft::running_context;
  if (now && weft::is_on(weft::TuningId::current_context)) [[likely]]
    return now;
  return weft::find_context();
}

WEFT_INTERPOSED void kernel::context::Context::set_current(Context* now)
{
  weft::running_context = now;
  if (not weft::is_on(weft::TuningId::current_context)) [[unlikely]] {
    using Note               = void (*)(Context*);
    static const auto THEIRS = weft::original<Note>("_ZN7simgrid6kernel7context7Context11set_currentEPS2_");
    THEIRS(now);
  }
  ++weft::turn;
  if (weft::on_turn_change) [[unlikely]]
    weft::on_turn_change();
}

} // namespace simgrid
