// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/decider.hpp"

#include "binding/settings/settings.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/** How many calls a row has that a call belongs to which follows one of the same collective and root: as many as
 *  `weft bench` times by default. */
constexpr int CALLS_IN_A_ROW = 10;

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

/** What the hosts would be called with; Reduce_scatter and Allgatherv in bytes. */
HostCall host_call(const Communicator& communicator, const Described& described)
{
  const CallSignature& signature = described.signature;
  HostCall call;
  call.collective = described.kind().name;
  call.ranks      = communicator.size();
  call.root       = std::max(0, signature.root);
  call.blocking   = signature.called.blocking;
  call.host       = [&communicator](int rank) { return communicator.rank_hosts[static_cast<std::size_t>(rank)]; };
  if (signature.operation != MPI_OP_NULL) {
    call.commutative = commutes(signature.operation);
    call.predefined  = is_predefined(signature.operation);
  }
  if (not signature.parts.empty()) {
    const bool to = call.collective == "reduce_scatter";
    call.element  = Bytes(static_cast<double>(signature.part_size));
    call.block    = [to, parts = signature.parts](int from, int rank) {
      return parts[static_cast<std::size_t>(to ? rank : from)];
    };
  } else if (signature.datatype != MPI_DATATYPE_NULL) {
    call.count   = signature.count;
    call.element = Bytes(static_cast<double>(size_of(1, signature.datatype)));
  } else {
    const bool in_blocks = described.movement().in_parts();
    call.count           = described.message / (in_blocks ? call.ranks : 1);
  }
  return call;
}

std::map<VertexId, int> ranks_by_host(const Communicator& communicator)
{
  std::map<VertexId, int> ranks;
  for (const VertexId host : communicator.rank_hosts)
    ++ranks[host];
  return ranks;
}

} // namespace

Decider::Decider(const FabricState& state, OffloadMode asked, const std::map<std::string, std::string>& algorithms,
                 const HostFallback& hosts, const HostStageAlgorithms& stage, std::function<MessageCosts()> costs,
                 std::vector<Aggregation>& switches)
    : state_(state), fabric_(state.fabric()), asked_(asked), algorithms_(algorithms), hosts_(hosts), stage_(stage),
      make_costs_(std::move(costs)), switches_(switches)
{
  for (const SwitchModel& model : fabric_.switch_models())
    if (model.smart())
      smart_models_.push_back(&model);
}

Decision Decider::decide(Communicator& communicator, const Described& described)
{
  const std::pair called{&described.kind(), described.signature.root};
  communicator.calls_in_a_row = std::exchange(communicator.last_call, called) == called ? CALLS_IN_A_ROW : 1;
  const Decision decision     = weft::decide(facts(communicator, described));
  if (decision.path == Path::stream || decision.path == Path::message)
    for (const TreeSwitch& node : communicator.tree->switches)
      switches_[static_cast<std::size_t>(node.index)].acquire_channel(communicator.handle);
  else if (decision.path == Path::multicast && not fabric_.progress_engines().empty())
    for (const auto& [host, ranks] : ranks_by_host(communicator.multicasting()))
      engines_[host].take(communicator.handle, multicast_chunks(described), ranks);
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
  for (auto& [host, memory] : engines_)
    memory.release(communicator.handle);
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

/** Programs make the same calls over and over, so predictions are kept. */
bool Decider::host_is_faster(Communicator& communicator, const Described& described) const
{
  const CallSignature& signature = described.signature;
  const int calls                = communicator.calls_in_a_row;
  if (not signature.parts.empty())
    return predict_host_is_faster(communicator, described, calls);
  const Communicator::PredictedCall key{signature.called.kind, signature.called.blocking, described.message,
                                        signature.root,        signature.operation,       calls};
  const auto [found, is_new] = communicator.host_is_faster.try_emplace(key);
  if (is_new)
    found->second = predict_host_is_faster(communicator, described, calls);
  return found->second;
}

bool Decider::predict_host_is_faster(Communicator& communicator, const Described& described, int calls) const
{
  HostCall call            = hosts_.selection().resolved(host_call(communicator, described));
  Selection::Choice choice = hosts_.choose(call, calls);
  if (not choice.algorithm) // SMPI's
    choice = hosts_.selection().choose(call);
  if (not choice.algorithm)
    return false;
  call = hosts_.resolved(std::move(call), choice);
  if (not costs_)
    costs_ = make_costs_();
  const Seconds offloaded = predicted_offload(communicator, described, calls);
  return predicted_interval(fabric_, *costs_, communicator.rank_hosts, call, choice, calls, offloaded) < offloaded;
}

/** Time per call of @p calls in a row. */
Seconds Decider::predicted_offload(Communicator& communicator, const Described& described, int calls) const
{
  const TreeCall call = communicator.tree_call(described, described.part_sizes(communicator.size()), fabric_.nic());
  const auto plan     = communicator.plan(fabric_, call, host_work(communicator, described).rate);
  // A stream ends for all ranks at once, so that streams in a row do not overlap.
  if (communicator.members() == communicator.size())
    return plan->duration();
  return predicted_staged_interval(fabric_, *costs_, communicator.rank_hosts,
                                   {communicator.member_of, communicator.member_ranks}, stage_,
                                   host_stage(communicator, described), plan->duration(), calls);
}

bool Decider::channel_is_free(const Communicator& communicator) const
{
  return std::ranges::all_of(communicator.tree->switches, [&](const TreeSwitch& node) {
    return switches_[static_cast<std::size_t>(node.index)].has_channel_for(communicator.handle);
  });
}

Fallback Decider::no_multicast(Communicator& all, const Described& described) const
{
  Communicator& communicator = all.multicasting();
  if (not communicator.multicast)
    communicator.multicast = make_multicast_group(state_, communicator.rank_hosts, communicator.tree_number());
  if (not communicator.multicast->group)
    return reason_of(communicator.multicast->obstacle);
  return nic_memory_is_free(communicator, multicast_chunks(described)) ? Fallback::none : Fallback::no_nic_memory;
}

/** The chunks of a rank's receive buffer. */
std::int64_t Decider::multicast_chunks(const Described& described) const
{
  return chunks_of(fabric_.multicast(), Bytes(static_cast<double>(described.message)));
}

bool Decider::nic_memory_is_free(const Communicator& communicator, std::int64_t chunks) const
{
  if (fabric_.progress_engines().empty())
    return true;
  static const EngineMemory EMPTY;
  const auto has_room = [&](const std::pair<const VertexId, int>& its) {
    const auto found           = engines_.find(its.first);
    const EngineMemory& memory = found == engines_.end() ? EMPTY : found->second;
    return memory.has_room(*fabric_.progress_engine(its.first), communicator.handle, chunks, its.second);
  };
  return std::ranges::all_of(ranks_by_host(communicator), has_room);
}

HostWork Decider::host_work(const Communicator& communicator, const Described& described) const
{
  const CollectiveCall call      = wanted(described);
  const BytesPerSecond copy_rate = fabric_.nic().costs(call.message).offload_copy_rate;
  for (const SwitchModel* model : communicator.models) {
    const Capability* capability = model->serving(std::string(call.kind->name), call.datatype, call.operation);
    if (not capability || capability->conversion.empty())
      continue;
    // One core does one after the other.
    const double seconds_a_byte = 1 / copy_rate.value() + 1 / capability->conversion_rate.value();
    return {BytesPerSecond(1 / seconds_a_byte), static_cast<std::size_t>(model->payload / Bytes(sizeof(float)))};
  }
  return {copy_rate, 0};
}

HostStageCall Decider::host_stage(const Communicator& communicator, const Described& described) const
{
  const CallSignature& signature = described.signature;
  HostStageCall call{.movement = described.movement(),
                     .root     = signature.root,
                     .message  = Bytes(static_cast<double>(described.message)),
                     .parts    = described.part_sizes(communicator.size()),
                     .buffers  = buffers_of_a_rank(host_call(communicator, described))};
  if (call.movement.combines)
    call.commutative = commutes(signature.operation);
  if (signature.datatype != MPI_DATATYPE_NULL)
    if (const std::int64_t element = size_of(1, signature.datatype); element > 0 && described.message % element == 0)
      call.element = Bytes(static_cast<double>(element));
  return call;
}

} // namespace weft
