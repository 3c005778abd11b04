// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_state.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace weft {
namespace {

std::vector<VertexId> hosts_of_members(const Communicator& communicator)
{
  std::vector<VertexId> hosts;
  hosts.reserve(communicator.member_ranks.size());
  for (const std::vector<int>& ranks : communicator.member_ranks)
    hosts.push_back(communicator.rank_hosts[static_cast<std::size_t>(ranks.front())]);
  return hosts;
}

/** Returns the distinct models of the trees' switches, in order of first use. */
std::vector<const SwitchModel*> models_of(const Fabric& fabric, const CommunicatorTree& all)
{
  std::vector<const SwitchModel*> models;
  std::set<const SwitchModel*> seen;
  for (std::size_t number = 0; number < all.trees(); ++number)
    for (const TreeSwitch& node : all.at(number).switches)
      if (const SwitchModel* model = &fabric.switch_model(node.index); seen.insert(model).second)
        models.push_back(model);
  return models;
}

std::vector<const SwitchModel*> smart_models(const Fabric& fabric)
{
  std::vector<const SwitchModel*> models;
  for (const SwitchModel& model : fabric.switch_models())
    if (model.smart())
      models.push_back(&model);
  return models;
}

/** Returns a listener that counts the work of switches for a communicator. */
std::function<void(const ServedPart&)> part_counter(Record& record, const Communicator& communicator)
{
  return [&record, world = communicator.world, id = communicator.id,
          size = communicator.size()](const ServedPart& part) {
    record.count_on_switch(world, part.index, part.reduced, part.multicast);
    record.add_event({part.index, id, part.collective, size, part.bytes.value(), part.start.value(), part.end.value()});
  };
}

} // namespace

TreeState::TreeState(RunContext& context, const Communicator& communicator)
    : state_(context.state), communicator_(communicator),
      service_{context.host_network(), context.fabric,
               context.switches,       context.call_recovery ? &*context.call_recovery : nullptr,
               communicator.world,     part_counter(context.record, communicator)}
{
}

const std::shared_ptr<const CommunicatorTree>& TreeState::tree()
{
  return tree_.get(state_, [this] {
    const std::vector<VertexId> hosts = hosts_of_members(communicator_);
    const std::size_t number          = communicator_.tree_number();
    CommunicatorTree all;
    if (const int most = state_.fabric().stripes(); most > 1)
      all.others = build_reduction_trees(state_, hosts, number, most);
    if (all.others.empty()) {
      TreeResult result = build_reduction_tree(state_, hosts, number);
      all.no_tree       = result.no_tree();
      all.tree          = std::move(result.tree);
    } else {
      all.tree = std::move(all.others.front());
      all.others.erase(all.others.begin());
    }
    all.models = all.tree ? models_of(state_.fabric(), all) : smart_models(state_.fabric());
    return all;
  });
}

ChannelGrant TreeState::channels()
{
  const CommunicatorTree& all = *tree();
  for (std::size_t number = 0; number < all.trees(); ++number)
    for (const TreeSwitch& node : all.at(number).switches)
      if (const ChannelGrant grant = service_.aggregation(node).channel_for(communicator_.handle, communicator_.world);
          grant != ChannelGrant::granted)
        return grant;
  return ChannelGrant::granted;
}

void TreeState::take_channels()
{
  const CommunicatorTree& all = *tree();
  for (std::size_t number = 0; number < all.trees(); ++number)
    for (const TreeSwitch& node : all.at(number).switches)
      if (service_.aggregation(node).acquire_channel(communicator_.handle, communicator_.world))
        held_.insert(node.index);
}

TreeCall TreeState::under_contention(const ReductionTree& tree, TreeCall call) const
{
  const auto is_free = [this](const Aggregation& its, const TreeSwitch& node) {
    return std::ranges::all_of(node.links,
                               [&](const TreeLink& link) { return its.may_stream(communicator_.world, link.up); });
  };
  for (const TreeSwitch& node : tree.switches) {
    const Aggregation& its = service_.aggregation(node);
    if (call.streams_through(its.model()) && not is_free(its, node))
      call.streams = false;
  }
  double combined = 1;
  for (const TreeSwitch& node : tree.switches)
    if (const Aggregation& its = service_.aggregation(node);
        call.movement.combines && call.message > Bytes() && not call.streams_through(its.model()))
      combined *= 1 - its.taken();
  call.passed_on = 1 - combined;
  return call;
}

void TreeState::lock(const ReductionTree& tree, const TreeCall& call)
{
  for (const TreeSwitch& node : tree.switches)
    if (Aggregation& its = service_.aggregation(node); call.streams_through(its.model()))
      for (const TreeLink& link : node.links)
        its.lock(communicator_.world, link.up);
}

void TreeState::release()
{
  for (const int index : std::exchange(held_, {}))
    service_.switches[static_cast<std::size_t>(index)].release_channel(communicator_.handle);
}

std::shared_ptr<const StreamPlan> TreeState::plan(const ReductionTree& tree, std::size_t number, const TreeCall& call,
                                                  BytesPerSecond host_rate)
{
  if (kept_plans_.size() <= number)
    kept_plans_.resize(number + 1);
  std::optional<KeptPlan>& kept = kept_plans_[number];
  if (not kept || kept->plan->epoch != tree.epoch || kept->host_rate != host_rate || kept->call != call)
    kept = {call, host_rate, std::make_shared<StreamPlan>(plan_streams(state_.fabric(), tree, call, host_rate))};
  return kept->plan;
}

TreeState& tree_state(RunContext& context, Communicator& communicator)
{
  return communicator.state<TreeState>([&] { return std::make_unique<TreeState>(context, communicator); });
}

HostWork host_work(const Fabric& fabric, const CommunicatorTree& tree, const CallDescriptor& call)
{
  const BytesPerSecond copy_rate = fabric.nic().costs(call.vector()).offload_copy_rate;
  for (const SwitchModel* model : tree.models) {
    const Capability* capability =
        model->serving(std::string(call.kind->name), std::string(call.type_name()), std::string(call.operation_name()));
    if (not capability || capability->conversion.empty())
      continue;
    // One core alternates between copying and converting, so the times add up.
    const double seconds_a_byte = 1 / copy_rate.value() + 1 / capability->conversion_rate.value();
    return {BytesPerSecond(1 / seconds_a_byte), static_cast<std::size_t>(model->payload / Bytes(sizeof(float)))};
  }
  return {copy_rate, 0};
}

} // namespace weft
