// SPDX-License-Identifier: LGPL-2.1-only
/* Actors by their numbers.
 *
 * SMPI asks for the sender's and the receiver's actor some ten times a message. SimGrid finds them in a tree of all
 * actors, twenty comparisons deep where they are a million. Here those that have been found are kept in an array: their
 * numbers are never used again, and an actor stays in SimGrid's tree until SimGrid cleans up after it, which asks for
 * it once more (ActorImpl::cleanup_from_kernel in src/kernel/actor/ActorImpl.cpp). Meanwhile SimGrid is asked.
 */
#include "simgrid/original.hpp"
#include "simgrid/private_abi.hpp"

#include <cstddef>
#include <vector>

namespace weft {
namespace {

/** Null where SimGrid is to be asked. Ranks may still end while the process's static objects are destroyed. */
std::vector<simgrid::kernel::actor::ActorImpl*>& found_actors()
{
  static auto* const ALL = new std::vector<simgrid::kernel::actor::ActorImpl*>;
  return *ALL;
}

/** How many actors SimGrid is cleaning up after. */
int cleanings = 0; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/** The place of actor @p pid, whose number is not negative. */
simgrid::kernel::actor::ActorImpl*& place_of(aid_t pid)
{
  auto& all     = found_actors();
  const auto at = static_cast<std::size_t>(pid);
  if (at >= all.size())
    all.resize(at + 1);
  return all[at];
}

} // namespace
} // namespace weft

namespace simgrid::kernel {

WEFT_INTERPOSED actor::ActorImpl* EngineImpl::get_actor_by_pid(aid_t pid)
{
  static const auto THEIRS =
      weft::original<actor::ActorImpl* (*)(EngineImpl*, aid_t)>("_ZN7simgrid6kernel10EngineImpl16get_actor_by_pidEl");
  const auto& all = weft::found_actors();
  const auto at   = static_cast<std::size_t>(pid);
  if (at < all.size() && all[at] && weft::cleanings == 0)
    return all[at];
  actor::ActorImpl* const found = THEIRS(this, pid);
  if (found)
    weft::place_of(pid) = weft::cleanings == 0 ? found : nullptr;
  return found;
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
