// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/flow_result.hpp"

#include "binding/abi/private_abi.hpp"

#include <algorithm>
#include <string_view>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns SimGrid's name of the flow's final state. */
std::string_view state_of(const sg::Comm& flow)
{
  return flow.get_impl()->get_state_str();
}

} // namespace

std::string links_off(const std::vector<sg::Link*>& links)
{
  std::vector<std::string> names;
  for (const sg::Link* link : links)
    if (const std::string name = "\"" + link->get_name() + "\"";
        not link->is_on() && not std::ranges::count(names, name))
      names.push_back(name);
  if (names.empty())
    return "";
  std::string text = (names.size() == 1 ? "link " : "links ") + names.front();
  for (std::size_t at = 1; at < names.size(); ++at)
    text += (at + 1 == names.size() ? " and " : ", ") + names[at];
  return text + (names.size() == 1 ? " is off" : " are off");
}

FlowResult result_of(const sg::Comm& flow, const std::vector<sg::Link*>& links)
{
  const std::string_view state = state_of(flow);
  if (state == simgrid::smpi::FLOW_ARRIVED)
    return {};
  const std::string off = links_off(links);
  return {off.empty() ? "SimGrid ended a flow with " + std::string(state) : off};
}

FlowResult result_of(const sg::Comm& flow)
{
  if (state_of(flow) == simgrid::smpi::FLOW_ARRIVED)
    return {};
  std::vector<sg::Link*> links;
  flow.get_source()->route_to(flow.get_destination(), links, nullptr); // a null latency: no message starts
  return result_of(flow, links);
}

} // namespace weft
