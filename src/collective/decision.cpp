// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/decision.hpp"

#include <stdexcept>

namespace weft {
namespace {

Decision fall_back(Fallback reason)
{
  return {Path::host, reason};
}

/** What @p model cannot do of a call. */
Fallback lacking(const SwitchModel& model, const CollectiveCall& call)
{
  switch (model.lacks(std::string(call.kind->name), call.datatype, call.operation)) {
    case Unsupported::collective:
      return Fallback::collective;
    case Unsupported::datatype:
      return Fallback::datatype;
    case Unsupported::operation:
      return Fallback::operation;
    case Unsupported::none:
      break;
  }
  return call.message == Bytes{} && call.kind->movement->carries_data() ? Fallback::zero_count : Fallback::none;
}

/** Where no switch could do the call anyway, that is the reason; else that there is no tree. */
Fallback without_tree(const CallFacts& facts)
{
  Fallback reason = facts.no_tree;
  for (const SwitchModel* model : facts.switches) {
    reason = lacking(*model, facts.call);
    if (reason == Fallback::none)
      return facts.no_tree;
  }
  return reason;
}

/** Why no tree of switches can do the call. */
Fallback obstacle(const CallFacts& facts)
{
  if (not facts.call.kind->offloadable())
    return Fallback::collective;
  if (facts.no_tree != Fallback::none)
    return without_tree(facts);
  for (const SwitchModel* model : facts.switches)
    if (const Fallback reason = lacking(*model, facts.call); reason != Fallback::none)
      return reason;
  return Fallback::none;
}

/** What the run asks for, or leaves to the fabric's policy, or else to what is predicted to be faster. */
Decision choose(const CallFacts& facts)
{
  // Who asks for the multicast protocol gets streams for what it cannot do.
  OffloadMode mode = facts.asked;
  if (mode == OffloadMode::automatic && facts.policy)
    mode = *facts.policy;
  switch (mode) {
    case OffloadMode::off:
      return fall_back(Fallback::policy);
    case OffloadMode::message:
      return {Path::message};
    case OffloadMode::stream:
    case OffloadMode::multicast:
      return {Path::stream};
    case OffloadMode::automatic:
      break;
  }
  return facts.host_is_faster() ? fall_back(Fallback::host_faster) : Decision{Path::stream};
}

Decision decide_for_tree(const CallFacts& facts)
{
  if (facts.asked == OffloadMode::off)
    return fall_back(Fallback::policy);
  if (facts.ranks == 1)
    return fall_back(Fallback::one_rank);
  if (const Fallback reason = obstacle(facts); reason != Fallback::none)
    return fall_back(reason);
  const Decision chosen = choose(facts);
  if (not chosen.offloaded())
    return chosen;
  if (not facts.memory_is_shared && (not facts.call.blocking || chosen.path == Path::message))
    return fall_back(Fallback::privatization);
  return facts.channel_is_free() ? chosen : fall_back(Fallback::no_free_channel);
}

bool wants_multicast(const CallFacts& facts)
{
  const bool asked_for = facts.asked == OffloadMode::multicast ||
                         (facts.asked == OffloadMode::automatic && facts.policy == OffloadMode::multicast);
  return asked_for && facts.call.kind->multicasts && facts.ranks > 1;
}

Fallback multicast_obstacle(const CallFacts& facts)
{
  if (facts.call.message == Bytes())
    return Fallback::zero_count;
  if (not facts.memory_is_shared)
    return Fallback::privatization;
  return facts.no_multicast();
}

} // namespace

Decision decide(const CallFacts& facts)
{
  if (wants_multicast(facts)) {
    const Fallback reason = multicast_obstacle(facts);
    return reason == Fallback::none ? Decision{Path::multicast} : fall_back(reason);
  }
  const Decision decision = decide_for_tree(facts);
  const bool by_multicast = not decision.offloaded() && facts.falls_back_to_multicast && facts.call.kind->multicasts &&
                            facts.ranks > 1 && multicast_obstacle(facts) == Fallback::none;
  return by_multicast ? Decision{Path::multicast} : decision;
}

} // namespace weft
