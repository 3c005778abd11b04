// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/rank_actors.hpp"

#include "binding/observe/profile.hpp"

#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace weft {

void RankActors::enter(int rank, bool blocks, ProgressedCall& call)
{
  if (blocks || not network_.by_calls())
    return;
  const aid_t self = sg::this_actor::get_pid();
  in_mpi_.resize(communicator_.actors.size());
  in_mpi_[static_cast<std::size_t>(rank)] = self;
  network_.begin_progress(self, call, rank);
}

void RankActors::end(int rank, const ProgressedCall& call)
{
  if (not in_mpi_.empty())
    network_.end_progress(in_mpi_[static_cast<std::size_t>(rank)], call);
}

bool RankActors::makes_progress(int rank) const
{
  return in_mpi_.empty() || Profile::get().attends(in_mpi_[static_cast<std::size_t>(rank)]);
}

Seconds RankActors::with_os_noise(int rank, Seconds start, Seconds work) const
{
  if (not network_.core_noise->any())
    return work;
  const auto at = static_cast<std::size_t>(rank);
  return network_.core_noise->with_os_noise(communicator_.actors[at], communicator_.rank_hosts[at], start, work);
}

} // namespace weft
