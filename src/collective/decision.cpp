// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/decision.hpp"

#include <algorithm>

namespace weft {
namespace {

Decision fall_back(Fallback reason)
{
  return {nullptr, reason};
}

/** Returns the fallback mechanism for calls that @p mechanism does not support; null: none. */
const MechanismKind* rest_of(const MechanismKind& mechanism)
{
  return mechanism.rest.empty() ? nullptr : &mechanism_kind(mechanism.rest);
}

/** Returns @p mechanism or its fallback, whichever can execute the call; otherwise the reason why neither can. */
Decision capable(const MechanismKind& mechanism, Verdicts& verdicts)
{
  const Fallback reason = verdicts.obstacle(mechanism);
  if (reason == Fallback::none)
    return {&mechanism};
  const MechanismKind* rest = reason == Fallback::collective ? rest_of(mechanism) : nullptr;
  return rest ? capable(*rest, verdicts) : fall_back(reason);
}

/** Returns the mechanism with the shortest predicted time among those that can execute the call; otherwise the reason
 * why the first one cannot. */
Decision fastest(Verdicts& verdicts)
{
  std::vector<const MechanismKind*> able;
  std::optional<Fallback> obstacle;
  for (const MechanismKind* mechanism : verdicts.predictable()) {
    const Fallback reason = verdicts.obstacle(*mechanism);
    if (reason == Fallback::none)
      able.push_back(mechanism);
    else if (not obstacle)
      obstacle = reason;
  }
  if (able.empty())
    return fall_back(obstacle.value_or(Fallback::collective));
  if (able.size() == 1) // no prediction needed
    return {able.front()};
  return {*std::ranges::min_element(able, {},
                                    [&](const MechanismKind* mechanism) { return verdicts.predicted(*mechanism); })};
}

/** Returns the mechanism for the call if one can execute it and is selected for it. */
Decision choose(OffloadMode asked, std::optional<OffloadMode> policy, Verdicts& verdicts)
{
  if (asked.is_off())
    return fall_back(Fallback::policy);
  const OffloadMode mode = asked.is_automatic() ? policy.value_or(asked) : asked;
  if (mode.mechanism())
    return capable(*mode.mechanism(), verdicts);
  const Decision found = fastest(verdicts);
  if (not found.offloaded()) // report the obstacle as the reason, whatever the policy
    return found;
  if (mode.is_off())
    return fall_back(Fallback::policy);
  return verdicts.hosts_are_faster(*found.mechanism) ? fall_back(Fallback::host_faster) : found;
}

} // namespace

Decision decide(OffloadMode asked, std::optional<OffloadMode> policy, Verdicts& verdicts)
{
  Decision decision = choose(asked, policy, verdicts);
  if (decision.offloaded()) {
    const Fallback lacking = verdicts.shortage(*decision.mechanism);
    if (lacking == Fallback::none)
      return decision;
    decision = fall_back(lacking);
  }
  const MechanismKind* next_definition = verdicts.hosts_mechanism();
  const bool able                      = next_definition && verdicts.obstacle(*next_definition) == Fallback::none &&
                                         verdicts.shortage(*next_definition) == Fallback::none;
  return able ? Decision{next_definition} : decision;
}

Decision decide_alone(OffloadMode asked)
{
  return fall_back(asked.is_off() ? Fallback::policy : Fallback::one_rank);
}

std::string_view path_name(const MechanismKind* mechanism)
{
  return mechanism ? mechanism->name : "fallback";
}

std::vector<std::string> path_names()
{
  std::vector<std::string> names{std::string(path_name(nullptr))};
  for (const MechanismKind* mechanism : mechanism_kinds())
    names.emplace_back(mechanism->name);
  return names;
}

} // namespace weft
