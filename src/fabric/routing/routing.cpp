// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/routing/routing.hpp"

#include "fabric/routing/adaptive_routing.hpp"
#include "fabric/routing/ecmp_routing.hpp"
#include "fabric/routing/static_routing.hpp"

#include <functional>
#include <stdexcept>

namespace weft {
namespace {

struct RoutingPolicyKind {
  std::string name;
  std::string meaning;
  bool needs_own_network;
  std::function<std::unique_ptr<RoutingPolicy>(const RoutingModel&, const Topology&)> make;
};

const std::vector<RoutingPolicyKind>& policy_kinds()
{
  static const std::vector<RoutingPolicyKind> ROWS{
      {"static", "the topology's route", false,
       [](const RoutingModel&, const Topology& topology) { return std::make_unique<StaticRouting>(topology); }},
      {"ecmp", "a hash of source and destination selects among equal-cost next hops", false,
       [](const RoutingModel& model, const Topology& topology) {
         return std::make_unique<EcmpRouting>(topology, model.seed, EcmpRouting::Flow::pair);
       }},
      {"ecmp-message", "as ecmp, with a hash that differs from message to message", false,
       [](const RoutingModel& model, const Topology& topology) {
         return std::make_unique<EcmpRouting>(topology, model.seed, EcmpRouting::Flow::message);
       }},
      {"spray", "packets are sprayed over all equal-cost next hops equally; on fat trees and stars", true,
       [](const RoutingModel&, const Topology& topology) { return std::make_unique<StaticRouting>(topology); }},
      {"adaptive", "the next hop with the fewest flows; on Dragonflies, tori and meshes minimal or Valiant by UGAL-L",
       true,
       [](const RoutingModel& model, const Topology& topology) {
         return std::make_unique<AdaptiveRouting>(topology, AdaptiveRouting::View::local, model.seed, model.bias);
       }},
      {"adaptive-global", "as adaptive, with UGAL-G, which knows the flows on all links of both routes", true,
       [](const RoutingModel& model, const Topology& topology) {
         return std::make_unique<AdaptiveRouting>(topology, AdaptiveRouting::View::global, model.seed, model.bias);
       }},
  };
  return ROWS;
}

const RoutingPolicyKind& kind_of(const RoutingModel& model)
{
  for (const RoutingPolicyKind& row : policy_kinds())
    if (row.name == model.policy)
      return row;
  throw std::logic_error("there is no routing policy \"" + model.policy + "\"");
}

/** Returns the help text of the key `policy`, generated from the rows. */
std::string policies_in_words()
{
  std::string text = "routes of messages between hosts: ";
  for (const RoutingPolicyKind& row : policy_kinds())
    text += (&row == &policy_kinds().front() ? "\"" : "; \"") + row.name + "\": " + row.meaning;
  return text;
}

} // namespace

bool RoutingModel::needs_own_network() const
{
  return kind_of(*this).needs_own_network;
}

std::vector<std::string> routing_policies()
{
  std::vector<std::string> names;
  for (const RoutingPolicyKind& row : policy_kinds())
    names.push_back(row.name);
  return names;
}

const std::vector<Option<RoutingModel>>& routing_options()
{
  using M = RoutingModel;
  static const std::vector<Option<M>> ROWS{
      {"policy", policies_in_words(), &M::policy, Need::optional, Allowed::one_of(routing_policies())},
      {"seed", "seed of the hash; equal seeds give equal routes", &M::seed, Need::optional, Allowed::non_negative},
      {"bias",
       "adaptive: a non-minimal route is taken if flows times hops of the minimal one exceed its own by more than this",
       &M::bias, Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

RoutingModel read_routing(const OptionTable& file)
{
  RoutingModel model;
  if (file.has("routing"))
    read_options(file.table("routing"), routing_options(), {}, model);
  return model;
}

std::unique_ptr<RoutingPolicy> make_routing_policy(const RoutingModel& model, const Topology& topology)
{
  return kind_of(model).make(model, topology);
}

} // namespace weft
