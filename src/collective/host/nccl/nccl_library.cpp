// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_library.hpp"

#include "base/error.hpp"
#include "base/share.hpp"
#include "collective/host/engine/nodes.hpp"
#include "collective/host/nccl/nccl_plan.hpp"
#include "collective/host/nccl/nccl_schedules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace weft {
namespace {

constexpr std::string_view PREFIX = "nccl-";

/** Returns whether a switch outside the nodes can reduce, as CollNet requires. */
bool has_reducing_switch(const Fabric& fabric)
{
  for (int index = 0; index < fabric.switch_count(); ++index) {
    const auto reduces = [](const Capability& its) { return std::ranges::count(its.collectives, "allreduce") > 0; };
    if (not fabric.topology().switch_name(index).ends_with(".nvswitch") &&
        std::ranges::any_of(fabric.switch_model(index).capabilities, reduces))
      return true;
  }
  return false;
}

NcclTuner tuner_for(const std::string& name, const Fabric& fabric)
{
  if (not fabric.nccl())
    throw UserError("found \"" + name + "\", but " + (fabric.file().empty() ? "the platform" : fabric.file()) +
                    " has no table [nccl], which says what GPUs the hosts are; add one, or take a fabric of GPUs");
  if (fabric.nccl()->collnet == NcclAbility::yes && not has_reducing_switch(fabric))
    throw UserError(
        "found collnet = \"yes\" in table [nccl] of " + fabric.file() +
        ", but no switch between the nodes reduces: none has an Allreduce in its [[switch.offload]]; take a "
        "preset such as sharp-ndr, or collnet = \"no\"");
  return {NcclConstants::load(name.substr(PREFIX.size())), *fabric.nccl()};
}

/** Returns NCCL's collective for a call; SMPI calls a Reduce_scatter_block a Reduce_scatter of equal blocks. */
std::optional<NcclCollective> nccl_collective_of(const HostCall& call)
{
  if (call.collective != "reduce_scatter")
    return call.block ? std::nullopt : find_named<NcclCollective>(call.collective);
  for (int rank = 1; rank < call.ranks; ++rank)
    if (call.to(rank) != call.to(0))
      return std::nullopt;
  return NcclCollective::reduce_scatter;
}

} // namespace

std::vector<std::string> NcclLibrary::names()
{
  std::vector<std::string> all = list_shared("presets/nccl");
  for (std::string& one : all)
    one.insert(0, PREFIX);
  return all;
}

NcclLibrary::NcclLibrary(const std::string& name, const Fabric& fabric) : tuner_(tuner_for(name, fabric)) {}

bool NcclLibrary::takes(const HostCall& call)
{
  return call.ranks > 1 && call.commutative && call.predefined && not call.groups && nccl_collective_of(call);
}

std::shared_ptr<const NcclPlan> NcclLibrary::plan(const HostCall& call) const
{
  Nodes nodes = nodes_of_gpus(call, tuner_.machine().gpus_per_node);
  return std::make_shared<const NcclPlan>(nccl_plan(tuner_, call, std::move(nodes), *nccl_collective_of(call)));
}

const Algorithm& NcclLibrary::algorithm(const NcclPlan& plan)
{
  using Key = std::tuple<NcclCollective, NcclAlgorithm, NcclProtocol>;
  struct Row {
    std::string name;
    Algorithm algorithm;
  };
  static std::map<Key, Row> rows; // names and rows have stable addresses
  const NcclChoice& its    = plan.choice;
  const auto [row, is_new] = rows.try_emplace({plan.collective, its.algorithm, its.protocol});
  if (is_new) {
    row->second.name =
        plan.collective == NcclCollective::alltoall
            ? std::string("nccl_p2p")
            : std::string("nccl_").append(to_text(its.algorithm)).append("_").append(to_text(its.protocol));
    row->second.algorithm = {.collective = to_text(plan.collective),
                             .name       = row->second.name,
                             .number     = 0,
                             .schedule   = nccl_steps,
                             .needs      = Needs::commutative,
                             .source     = Library::nccl};
  }
  return row->second.algorithm;
}

} // namespace weft
