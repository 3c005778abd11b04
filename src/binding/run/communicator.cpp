// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/communicator.hpp"

#include <algorithm>

namespace weft {

Communicator::Communicator(CommunicatorKey key, int its_handle, int ranks)
    : id(key.number), world(key.world), handle(its_handle), attached(static_cast<std::size_t>(ranks)),
      calls_made_(static_cast<std::size_t>(ranks), 0)
{
}

std::string Communicator::text() const
{
  if (not is_world())
    return "communicator " + std::to_string(id) + " (of " + std::to_string(size()) + " ranks)";
  if (id < -1)
    return "MPI_COMM_WORLD of spawned world " + std::to_string(-id - 1);
  return world == 0 || is_only_world ? "MPI_COMM_WORLD" : "MPI_COMM_WORLD of program " + std::to_string(world + 1);
}

void Communicator::release()
{
  for (const auto& [kind, state] : states_)
    state->release();
}

std::shared_ptr<CallInFlight> Communicator::enter(int rank, const CallDescriptor& call)
{
  const std::int64_t number = calls_made_[static_cast<std::size_t>(rank)]++;
  const auto at             = static_cast<std::size_t>(number - first_pending_);
  if (at == pending_.size())
    pending_.push_back(std::make_shared<CallInFlight>(call, rank, size()));
  std::shared_ptr<CallInFlight> in_flight = pending_[at];
  ++in_flight->entered;
  in_flight->inside[static_cast<std::size_t>(rank)] = true;
  return in_flight;
}

std::optional<int> Communicator::rank_of(aid_t actor) const
{
  // Actors are mostly numbered in rank order, which makes this cheap for large programs.
  const auto guess = static_cast<std::size_t>(actor - actors.front());
  if (guess < actors.size() && actors[guess] == actor)
    return static_cast<int>(guess);
  const auto found = std::ranges::find(actors, actor);
  if (found == actors.end())
    return std::nullopt;
  return static_cast<int>(found - actors.begin());
}

const CallInFlight* Communicator::waiting_for(int rank) const
{
  const auto at = static_cast<std::size_t>(calls_made(rank) - first_pending_);
  return at < pending_.size() ? pending_[at].get() : nullptr;
}

void Communicator::leave(int rank, CallInFlight& call)
{
  call.inside[static_cast<std::size_t>(rank)] = false;
  ++call.left;
  while (not pending_.empty() && pending_.front()->left == size()) {
    pending_.pop_front();
    ++first_pending_;
  }
}

} // namespace weft
