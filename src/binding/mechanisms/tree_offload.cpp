// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_offload.hpp"

#include <utility>

namespace weft {

TreeOffload::TreeOffload(RunContext& context, const std::shared_ptr<Communicator>& communicator,
                         const CallDescriptor& call)
    : TreeOffload(context, communicator, call, tree_state(context, *communicator))
{
}

TreeOffload::TreeOffload(RunContext& context, const std::shared_ptr<Communicator>& communicator,
                         const CallDescriptor& call, TreeState& state)
    : TreeOffload(context, communicator, call, state, state.tree(), host_work(context.fabric, *state.tree(), call))
{
}

TreeOffload::TreeOffload(RunContext& context, const std::shared_ptr<Communicator>& communicator,
                         const CallDescriptor& call, TreeState& state,
                         const std::shared_ptr<const CommunicatorTree>& its_tree, const HostWork& work)
    : OffloadedCall(context, communicator, call, work.fixed_point_block), state_(state), kept_tree_(its_tree),
      call_(tree_call(call, communicator->all_members(), parts_, context.fabric.nic())), host_work_(work),
      stage_(make_stage(context, *communicator, call, *this))
{
}

Seconds TreeOffload::host_overhead() const
{
  return context_.fabric.nic().costs(call_.message).offload_overhead;
}

void TreeOffload::enter(int rank)
{
  if (stage_)
    stage_->enter(rank, descriptor_->blocking);
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
