// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/decider.hpp"

#include "mpi/names.hpp"
#include "simgrid/settings.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

Fallback reason_of(NoTree obstacle)
{
  switch (obstacle) {
    case NoTree::one_host:
      return Fallback::one_host;
    case NoTree::no_gain:
      return Fallback::no_gain;
    case NoTree::no_common_switch:
      break;
  }
  return Fallback::not_on_tree;
}

CollectiveCall wanted(const Described& described)
{
  const CallSignature& signature = described.signature;
  return {signature.called.kind, datatype_name(signature.datatype), operation_name(signature.operation),
          Bytes(static_cast<double>(described.message)), signature.called.blocking};
}

} // namespace

Decider::Decider(const FabricState& state, OffloadMode asked, const std::map<std::string, std::string>& algorithms,
                 std::vector<Aggregation>& switches)
    : state_(state), fabric_(state.fabric()), asked_(asked), algorithms_(algorithms), switches_(switches)
{
  for (const SwitchModel& model : fabric_.switch_models())
    if (model.smart())
      smart_models_.push_back(&model);
}

Decision Decider::decide(Communicator& communicator, const Described& described)
{
  const Decision decision = weft::decide(facts(communicator, described));
  if (decision.path == Path::stream || decision.path == Path::message)
    for (const TreeSwitch& node : communicator.tree->switches)
      switches_[static_cast<std::size_t>(node.index)].acquire_channel(communicator.handle);
  else if (decision.path == Path::multicast)
    for (const VertexId host : communicator.rank_hosts)
      multicasting_[host].insert(communicator.handle);
  return decision;
}

Decision Decider::decide_alone(const Described& described) const
{
  CallFacts alone;
  alone.asked = asked_;
  alone.call  = wanted(described);
  alone.ranks = 1;
  return weft::decide(alone);
}

void Decider::release(const Communicator& communicator)
{
  for (Aggregation& aggregation : switches_)
    aggregation.release_channel(communicator.handle);
  for (auto& [host, communicators] : multicasting_)
    communicators.erase(communicator.handle);
}

CallFacts Decider::facts(Communicator& communicator, const Described& described) const
{
  CallFacts known;
  known.asked                   = asked_;
  known.call                    = wanted(described);
  known.ranks                   = communicator.size();
  known.no_tree                 = communicator.tree ? Fallback::none : reason_of(communicator.no_tree);
  known.switches                = communicator.tree ? communicator.models : smart_models_;
  known.policy                  = fabric_.policy_for(std::string(known.call.kind->name), known.call.message);
  known.memory_is_shared        = memory_is_shared();
  const auto algorithm          = algorithms_.find(std::string(known.call.kind->name));
  known.falls_back_to_multicast = algorithm != algorithms_.end() && algorithm->second == "multicast";
  known.host_is_faster          = [&, this] { return host_is_faster(communicator, described); };
  known.channel_is_free         = [&, this] { return channel_is_free(communicator); };
  known.no_multicast            = [&, this] { return no_multicast(communicator, described); };
  return known;
}

bool Decider::host_is_faster(Communicator& communicator, const Described& described) const
{
  if (not communicator.host_cost)
    communicator.host_cost.emplace(fabric_, communicator.rank_hosts);
  const bool gathers = described.movement().gives == Share::part;
  const Bytes contribution(static_cast<double>(described.message) / (gathers ? communicator.size() : 1));
  const auto plan =
      communicator.plan(fabric_, communicator.tree_call(described, described.part_sizes(communicator.size())),
                        host_work(communicator, described).rate);
  const auto algorithm = algorithms_.find(std::string(described.kind().name));
  return communicator.host_cost->time(described.kind(), contribution,
                                      algorithm == algorithms_.end() ? "" : algorithm->second) < plan->duration();
}

bool Decider::channel_is_free(const Communicator& communicator) const
{
  return std::ranges::all_of(communicator.tree->switches, [&](const TreeSwitch& node) {
    return switches_[static_cast<std::size_t>(node.index)].has_channel_for(communicator.handle);
  });
}

Fallback Decider::no_multicast(Communicator& communicator, const Described& described) const
{
  if (not communicator.multicast)
    communicator.multicast = make_multicast_group(state_, communicator.rank_hosts, communicator.tree_number());
  if (not communicator.multicast->group)
    return reason_of(communicator.multicast->obstacle);
  return nic_memory_is_free(communicator, described) ? Fallback::none : Fallback::no_nic_memory;
}

bool Decider::nic_memory_is_free(const Communicator& communicator, const Described& described) const
{
  const auto& engine = fabric_.progress_engine();
  if (not engine)
    return true;
  const std::int64_t fit =
      engine->communicators(chunks_of(fabric_.multicast(), Bytes(static_cast<double>(described.message))));
  return std::ranges::all_of(communicator.rank_hosts, [&](VertexId host) {
    const auto users = multicasting_.find(host);
    return users == multicasting_.end()
               ? fit > 0
               : users->second.contains(communicator.handle) || std::cmp_less(users->second.size(), fit);
  });
}

HostWork Decider::host_work(const Communicator& communicator, const Described& described) const
{
  const CollectiveCall call = wanted(described);
  for (const SwitchModel* model : communicator.models) {
    const Capability* capability = model->serving(std::string(call.kind->name), call.datatype, call.operation);
    if (not capability || capability->conversion.empty())
      continue;
    // One core does one after the other.
    const double seconds_a_byte = 1 / fabric_.nic().offload_copy_rate.value() + 1 / capability->conversion_rate.value();
    return {BytesPerSecond(1 / seconds_a_byte), static_cast<std::size_t>(model->payload / Bytes(sizeof(float)))};
  }
  return {fabric_.nic().offload_copy_rate, 0};
}

} // namespace weft
