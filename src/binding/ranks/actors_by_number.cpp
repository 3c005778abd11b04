// SPDX-License-Identifier: LGPL-2.1-only
/* Look-up of actors by number.
 *
 * SMPI looks up the sender's and the receiver's actor about ten times per message. SimGrid finds them in a tree of all
 * actors, which is twenty comparisons deep with a million actors. Here actors that have been found are cached in an
 * array: their numbers are never reused, and an actor stays in SimGrid's tree until SimGrid cleans up after it, which
 * looks it up once more (ActorImpl::cleanup_from_kernel in src/kernel/actor/ActorImpl.cpp). During cleanup, look-ups go
 * to SimGrid. */
#include "binding/abi/kernel/actors.hpp"
#include "binding/abi/original.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/settings/tunings.hpp"

namespace weft {
namespace {

using simgrid::kernel::EngineImpl;
using simgrid::kernel::actor::ActorImpl;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what is asked for ten times a message
/** Never destroyed: ranks may still end during static destruction. */
constinit union FoundActors {
  ActorMap<ActorImpl*> by_number; ///< null: ask SimGrid
  constexpr FoundActors() noexcept : by_number() {}
  ~FoundActors() {}
} found_actors;
/** Number of actors that SimGrid is cleaning up. */
constinit int cleanings = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/** Asks SimGrid, and memoizes the answer unless SimGrid is cleaning up. Out of line, so that look-ups are inlined. */
[[gnu::noinline]] ActorImpl* find_actor(EngineImpl* engine, aid_t pid)
{
  static const auto THEIRS =
      original<ActorImpl* (*)(EngineImpl*, aid_t)>("_ZN7simgrid6kernel10EngineImpl16get_actor_by_pidEl");
  ActorImpl* const found = THEIRS(engine, pid);
  if (found && is_on(TuningId::actors_by_number))
    found_actors.by_number[pid] = cleanings == 0 ? found : nullptr;
  return found;
}

} // namespace
} // namespace weft

namespace simgrid::kernel {

WEFT_INTERPOSED actor::ActorImpl* EngineImpl::get_actor_by_pid(aid_t pid)
{
  actor::ActorImpl* const found = weft::found_actors.by_number.get(pid);
  return found && weft::cleanings == 0 ? found : weft::find_actor(this, pid);
}

} // namespace simgrid::kernel

namespace simgrid::kernel::actor {

WEFT_INTERPOSED void ActorImpl::cleanup_from_kernel()
{
  static const auto THEIRS =
      weft::original<void (*)(ActorImpl*)>("_ZN7simgrid6kernel5actor9ActorImpl19cleanup_from_kernelEv");
  weft::cleanings++;
  THEIRS(this);
  weft::cleanings--;
}

} // namespace simgrid::kernel::actor
