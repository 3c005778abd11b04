// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_offload.hpp"

#include <utility>

namespace weft {

TreeOffload::TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator,
                         const Described& described)
    : TreeOffload(simulation, communicator, described, tree_state(simulation, *communicator))
{
}

TreeOffload::TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator,
                         const Described& described, TreeState& state)
    : TreeOffload(simulation, communicator, described, state, host_work(simulation.fabric, state, described))
{
}

TreeOffload::TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator,
                         const Described& described, TreeState& state, const HostWork& work)
    : OffloadedCall(simulation, communicator, described, work.fixed_point_block), state_(state), tree_(*state.tree),
      call_(tree_call(*communicator, described, parts_, simulation.fabric.nic())), host_work_(work),
      stage_(make_stage(simulation, *communicator, described, *this))
{
}

Seconds TreeOffload::host_overhead() const
{
  return simulation_.fabric.nic().costs(call_.message).offload_overhead;
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
