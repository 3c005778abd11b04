// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_offload.hpp"

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
      call_(communicator->tree_call(described, parts_, simulation.fabric.nic())), host_work_(work),
      stage_(make_stage(simulation, *communicator, described, *this))
{
}

void TreeOffload::enter(int rank)
{
  if (stage_)
    stage_->enter(rank, called_.blocking);
  else
    member_ready(communicator_->member(rank));
}

void TreeOffload::member_done(int member)
{
  if (stage_)
    stage_->deliver(member);
  else
    end(communicator_->member_ranks[static_cast<std::size_t>(member)].front());
}

} // namespace weft
