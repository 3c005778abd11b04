// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/tree_offload.hpp"

#include "simgrid/transfer.hpp"

#include <utility>

namespace weft {

TreeOffload::TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator,
                         const Described& described)
    : TreeOffload(simulation, communicator, described, simulation.decider.host_work(*communicator, described))
{
}

TreeOffload::TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator,
                         const Described& described, const HostWork& work)
    : OffloadedCall(simulation, communicator, described, work.fixed_point_block),
      arrived_(communicator->member_ranks.size()), call_(communicator->tree_call(described, parts_)), host_work_(work)
{
}

void TreeOffload::enter(int rank)
{
  if (const std::optional<Bytes> bytes = to_speaker(rank))
    send_within(communicator_->hosts[static_cast<std::size_t>(rank)], *bytes, arrival([this, rank] { arrive(rank); }));
  else
    arrive(rank);
}

void TreeOffload::arrive(int rank)
{
  const int member = communicator_->member(rank);
  const auto at    = static_cast<std::size_t>(member);
  if (std::cmp_equal(++arrived_[at], communicator_->member_ranks[at].size()))
    member_ready(member);
}

void TreeOffload::member_done(int member)
{
  for (const int rank : communicator_->member_ranks[static_cast<std::size_t>(member)]) {
    if (const std::optional<Bytes> bytes = from_speaker(rank))
      send_within(communicator_->hosts[static_cast<std::size_t>(rank)], *bytes, arrival([this, rank] { end(rank); }));
    else
      end(rank);
  }
}

/** What a rank hands to the one that speaks for its member, or gets from it: its share of what @p who give or get. */
std::optional<Bytes> TreeOffload::within_host(int rank, Who who, Share share) const
{
  if (communicator_->speaks(rank) || (who == Who::root && rank != root_))
    return std::nullopt;
  return share == Share::part ? Bytes(parts_[static_cast<std::size_t>(rank)]) : call_.message;
}

std::optional<Bytes> TreeOffload::to_speaker(int rank) const
{
  return within_host(rank, call_.movement.givers, call_.movement.gives);
}

std::optional<Bytes> TreeOffload::from_speaker(int rank) const
{
  // The only giver has what it gave.
  const bool has_it = call_.movement.givers == Who::root && rank == root_;
  return has_it ? std::nullopt : within_host(rank, call_.movement.getters, call_.movement.gets);
}

} // namespace weft
