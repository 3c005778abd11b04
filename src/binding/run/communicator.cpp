// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/communicator.hpp"

#include "mpi/names.hpp"

#include <algorithm>

namespace weft {

namespace {

// Mostly all ranks give the same handle. Where they do, equal bytes are equal counts.

bool other_operation(MPI_Op one, MPI_Op other)
{
  return one != other && operation_name(one) != operation_name(other);
}

bool other_datatype(MPI_Datatype one, MPI_Datatype other)
{
  return one != other && is_predefined(one) && is_predefined(other);
}

bool other_call(const CallSignature& one, const CallSignature& other)
{
  return one.called != other.called || one.root != other.root || one.bytes != other.bytes ||
         other_operation(one.operation, other.operation) || other_datatype(one.datatype, other.datatype);
}

} // namespace

bool PendingCall::is_same(const CallSignature& other) const
{
  return not other_call(signature, other) && signature.part_size == other.part_size &&
         signature.parts_number == other.parts_number;
}

std::optional<std::string> PendingCall::differs(const CallSignature& other, int rank) const
{
  const auto calls = [&] {
    return "rank " + std::to_string(first_rank) + " called " + signature.text() + ", rank " + std::to_string(rank) +
           " called " + other.text();
  };
  if (other_call(signature, other))
    return calls();
  if (signature.part_size == other.part_size && std::ranges::equal(parts, other.parts))
    return std::nullopt;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::int64_t mine = parts[part] * signature.part_size;
    const std::int64_t his  = other.parts[part] * other.part_size;
    if (mine != his)
      return calls() + ": the part of rank " + std::to_string(part) + " has " + std::to_string(mine) +
             " bytes at one, " + std::to_string(his) + " at the other";
  }
  return std::nullopt;
}

Communicator::Communicator(CommunicatorKey key, int its_handle, int ranks)
    : id(key.number), world(key.world), handle(its_handle), attached(static_cast<std::size_t>(ranks)),
      calls_made_(static_cast<std::size_t>(ranks), 0)
{
}

std::string Communicator::text() const
{
  if (not is_world())
    return "communicator " + std::to_string(id) + " (of " + std::to_string(size()) + " ranks)";
  return world == 0 ? "MPI_COMM_WORLD" : "MPI_COMM_WORLD of program " + std::to_string(world + 1);
}

void Communicator::release()
{
  for (const auto& [kind, state] : states_)
    state->release();
}

std::shared_ptr<PendingCall> Communicator::enter(int rank, const CallSignature& signature)
{
  const std::int64_t number = calls_made_[static_cast<std::size_t>(rank)]++;
  const auto at             = static_cast<std::size_t>(number - first_pending_);
  if (at == pending_.size()) {
    auto call       = std::make_shared<PendingCall>();
    call->signature = signature;
    call->parts.assign(signature.parts.begin(), signature.parts.end());
    call->signature.parts = {}; // the caller's
    call->first_rank      = rank;
    call->inside.resize(static_cast<std::size_t>(size()));
    pending_.push_back(std::move(call));
  }
  std::shared_ptr<PendingCall> call = pending_[at];
  ++call->entered;
  call->inside[static_cast<std::size_t>(rank)] = true;
  return call;
}

std::optional<int> Communicator::rank_of(aid_t actor) const
{
  // Mostly the actors are numbered as the ranks are, so this is cheap for all ranks of a large program.
  const auto guess = static_cast<std::size_t>(actor - actors.front());
  if (guess < actors.size() && actors[guess] == actor)
    return static_cast<int>(guess);
  const auto found = std::ranges::find(actors, actor);
  if (found == actors.end())
    return std::nullopt;
  return static_cast<int>(found - actors.begin());
}

const PendingCall* Communicator::waiting_for(int rank) const
{
  const auto at = static_cast<std::size_t>(calls_made(rank) - first_pending_);
  return at < pending_.size() ? pending_[at].get() : nullptr;
}

void Communicator::leave(int rank, PendingCall& call)
{
  call.inside[static_cast<std::size_t>(rank)] = false;
  ++call.left;
  while (not pending_.empty() && pending_.front()->left == size()) {
    pending_.pop_front();
    ++first_pending_;
  }
}

} // namespace weft
