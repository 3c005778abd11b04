// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/tree_obstacle.hpp"

namespace weft {
namespace {

/** Returns the capability that @p model lacks for a call. */
Fallback lacking(const SwitchModel& model, const CallDescriptor& call)
{
  switch (
      model.lacks(std::string(call.kind->name), std::string(call.type_name()), std::string(call.operation_name()))) {
    case Unsupported::collective:
      return Fallback::collective;
    case Unsupported::datatype:
      return Fallback::datatype;
    case Unsupported::operation:
      return Fallback::operation;
    case Unsupported::none:
      break;
  }
  return call.vector_bytes() == 0 && call.kind->movement->carries_data() ? Fallback::zero_count : Fallback::none;
}

Fallback without_tree(const CallDescriptor& call, NoTree obstacle, std::span<const SwitchModel* const> switches)
{
  Fallback reason = reason_of(obstacle);
  for (const SwitchModel* model : switches) {
    reason = lacking(*model, call);
    if (reason == Fallback::none)
      return reason_of(obstacle);
  }
  return reason;
}

} // namespace

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

Fallback tree_obstacle(const CallDescriptor& call, std::optional<NoTree> no_tree,
                       std::span<const SwitchModel* const> switches)
{
  if (not call.kind->offloadable())
    return Fallback::collective;
  if (no_tree)
    return without_tree(call, *no_tree, switches);
  for (const SwitchModel* model : switches)
    if (const Fallback reason = lacking(*model, call); reason != Fallback::none)
      return reason;
  return Fallback::none;
}

} // namespace weft
