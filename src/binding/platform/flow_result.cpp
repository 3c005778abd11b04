// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/flow_result.hpp"

#include "binding/abi/kernel/activities.hpp"

#include <algorithm>
#include <memory>
#include <simgrid/kernel/Timer.hpp>
#include <string_view>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns SimGrid's name of the flow's final state. */
std::string_view state_of(const sg::Comm& flow)
{
  return flow.get_impl()->get_state_str();
}

/** Returns the part of a failed flow that has not arrived: all, if it could not start. */
double rest_of(const sg::Comm& flow, double bytes)
{
  const double left = flow.get_remaining(); // SimGrid destroys the flow's action after the signal
  return bytes > 0 && left > 0 ? std::min(1.0, left / bytes) : 1;
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

std::string off_between(const sg::Host* from, const sg::Host* to)
{
  for (const sg::Host* const host : {from, to})
    if (not host->is_on())
      return "host \"" + host->get_name() + "\" is off";
  std::vector<sg::Link*> links;
  from->route_to(to, links, nullptr); // a null latency: no message starts
  return links_off(links);
}

void start_flow(const sg::CommPtr& flow, sg::Host* from, sg::Host* to,
                const std::function<void(const sg::Comm&)>& ended)
{
  const auto told = std::make_shared<bool>(false);
  flow->on_this_completion_cb([told, ended](const sg::Comm& its) {
    *told = true;
    ended(its);
  });
  flow->set_source(from)->set_destination(to);
  if (not *told && simgrid::kernel::activity::has_ended(*flow->get_impl()))
    simgrid::kernel::timer::Timer::set(sg::Engine::get_clock(), [flow, ended] { ended(*flow); });
}

FlowResult result_of(const sg::Comm& flow, double bytes, const std::vector<sg::Link*>& links)
{
  const std::string_view state = state_of(flow);
  if (state == simgrid::kernel::activity::FLOW_ARRIVED)
    return {};
  const std::string off = links_off(links);
  return {off.empty() ? "SimGrid ended a flow with " + std::string(state) : off, 0, rest_of(flow, bytes)};
}

FlowResult result_of(const sg::Comm& flow, double bytes)
{
  const std::string_view state = state_of(flow);
  if (state == simgrid::kernel::activity::FLOW_ARRIVED)
    return {};
  const std::string off = off_between(flow.get_source(), flow.get_destination());
  return {off.empty() ? "SimGrid ended a flow with " + std::string(state) : off, 0, rest_of(flow, bytes)};
}

} // namespace weft
