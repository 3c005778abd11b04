// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_offload.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
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

bool TreeOffload::tree_is_up() const
{
  const FabricState& actual = context_.call_recovery->actual;
  for (std::size_t number = 0; number < trees_; ++number)
    for (const TreeSwitch& node : tree(number).switches)
      if (not actual.switch_is_up(node.index) ||
          not std::ranges::all_of(node.links, [&](const TreeLink& link) { return actual.cable_is_up(link.up); }))
        return false;
  return true;
}

bool TreeOffload::find_tree()
{
  if (recovery()->policy != CallPolicy::rebuild)
    return true;
  if (not state_.tree()->tree || state_.channels() != ChannelGrant::granted)
    return false;
  state_.take_channels();
  kept_tree_ = state_.tree();
  host_work_ = host_work(context_.fabric, *kept_tree_, *descriptor_);
  trees_     = std::min(trees_, kept_tree_->trees());
  return true;
}

void TreeOffload::add_hit(double hit, const char* what)
{
  recovery()->add_hit({hit, simgrid::s4u::Engine::get_clock(), descriptor_->name(), communicator_->id, what});
}

void TreeOffload::count_restart(double hit, double since)
{
  const bool rebuilt = recovery()->policy == CallPolicy::rebuild;
  ++(rebuilt ? recovery()->rebuilt : recovery()->resent);
  recovery()->lost_s += simgrid::s4u::Engine::get_clock() - since;
  add_hit(hit, rebuilt ? "rebuilt" : "resent");
}

void TreeOffload::give_up(double hit, const std::string& why)
{
  add_hit(hit, "failed");
  fail({why});
}

void TreeOffload::repeat_on_hosts(double hit, double since)
{
  ++recovery()->moved;
  recovery()->lost_s += simgrid::s4u::Engine::get_clock() - since;
  add_hit(hit, "on hosts");
  for (const std::vector<int>& ranks : communicator_->member_ranks)
    left_.push_back(static_cast<int>(ranks.size()));
  try {
    instead_ = std::make_unique<HostsInstead>(context_, *communicator_, *descriptor_, static_cast<Repeated&>(*this));
  } catch (const UserError& problem) {
    fail({problem.what()});
    return;
  }
  instead_->start(shared_from_this());
}

void TreeOffload::repetition_ended(int rank)
{
  const int member = communicator_->member(rank);
  if (--left_[static_cast<std::size_t>(member)] == 0)
    member_repeated(member);
}

} // namespace weft
