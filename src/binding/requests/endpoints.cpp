// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/endpoints.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/intercommunicators.hpp"

#include <algorithm>

namespace weft {

void Endpoints::give_up_unused(OfActor& actor)
{
  constexpr std::size_t FEW = 16;
  std::erase_if(actor.known, [this](const Known& one) {
    const bool unused =
        matching_.waiting_receives(one.endpoint) == 0 && matching_.unexpected_messages(one.endpoint) == 0;
    if (unused)
      idle_.push_back(one.endpoint);
    return unused;
  });
  actor.limit = std::max(FEW, 2 * actor.known.size());
}

MessageMatching::Endpoint Endpoints::of(aid_t actor, MPI_Comm comm)
{
  const int communicator = number_of(comm);
  OfActor& its           = by_actor_[actor];
  if (its.last < its.known.size() && its.known[its.last].communicator == communicator)
    return its.known[its.last].endpoint;
  const auto found = std::ranges::find(its.known, communicator, &Known::communicator);
  if (found != its.known.end()) {
    its.last = static_cast<std::size_t>(found - its.known.begin());
    return found->endpoint;
  }
  if (its.known.size() >= its.limit)
    give_up_unused(its);
  if (idle_.empty()) {
    idle_.push_back(static_cast<MessageMatching::Endpoint>(owners_.size()));
    owners_.emplace_back();
  }
  its.last = its.known.size();
  its.known.push_back({communicator, idle_.back()});
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  owners_[idle_.back()] = {actor, communicator, ranks, intercommunicator_of(comm) ? comm->size() : 0};
  idle_.pop_back();
  return its.known.back().endpoint;
}

} // namespace weft
