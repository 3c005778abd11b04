// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/traffic/background_traffic.hpp"

#include "base/error.hpp"
#include "binding/observe/json/json_rows.hpp"
#include "binding/run/run_context.hpp"
#include "binding/settings/settings.hpp"
#include "descriptions/disturbance_rows.hpp"
#include "descriptions/traffic_file.hpp"

#include <algorithm>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

std::vector<TrafficTable> tables_of(RunContext& context)
{
  std::vector<TrafficTable> tables = read_traffic(settings().traffic);
  for (const TrafficTable& table : tables)
    context.background_weights.push_back(table.weight);
  return tables;
}

} // namespace

BackgroundTraffic::BackgroundTraffic(RunContext& context)
    : context_(context), streams_(make_traffic(tables_of(context), context.fabric, *this, JobTraffic::NONE))
{
}

void BackgroundTraffic::serve(RunContext& context)
{
  if (settings().traffic.empty())
    return;
  if (const std::string& reason = need_of_simgrid_flows(); not reason.empty())
    throw UserError("--traffic: background traffic needs weft's own network, and " + reason + " (" +
                    option_for_simgrid_flows() + ")");
  auto* const traffic = new BackgroundTraffic(context); // lives as long as the process
  context.record_parts.push_back(traffic);
  context.at_last_exit.emplace_back([traffic] { traffic->end(); });
  // Deferred until the ranks have started, when the network is known. SMPI starts the simulation without the engine's
  // signal.
  simgrid::kernel::timer::Timer::set(0, [traffic] { traffic->begin(); });
}

Seconds BackgroundTraffic::now() const
{
  return Seconds(sg::Engine::get_clock());
}

Bytes BackgroundTraffic::eager_below() const
{
  return context_.host_network().costs.eager_below;
}

void BackgroundTraffic::call_after(Seconds delay, Due& receiver, std::uint64_t what)
{
  context_.host_network().call_after(delay, receiver, what);
}

void BackgroundTraffic::begin()
{
  if (ended_)
    return;
  context_.host_network().begin_background();
  for (std::size_t number = 0; number < streams_.size(); ++number)
    call_after(streams_[number]->table().start, *this, number);
}

void BackgroundTraffic::end()
{
  if (not std::exchange(ended_, true))
    context_.host_network().end_background();
}

void BackgroundTraffic::send(int job, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver,
                             std::uint64_t number)
{
  constexpr std::uint64_t MESSAGES_PER_LOOK = 1024;
  if (++made_ % MESSAGES_PER_LOOK == 0)
    look();
  context_.host_network().messages_of(job).send(from, to, bytes, UNKNOWN_PART, receiver, number);
}

/** Returns whether no rank can wake: SimGrid has no activity and no timer, and weft's network has only background
 * traffic. Called while events happen, when the network has no timer. */
bool BackgroundTraffic::nothing_else_happens() const
{
  const auto& models = sg::Engine::get_instance()->get_all_models();
  return simgrid::kernel::timer::Timer::next() < 0 &&
         std::ranges::all_of(
             models, [](auto* model) { return model->get_started_action_set()->empty(); }) &&
         not context_.host_network().has_foreground();
}

/** Ends the traffic if nothing else has happened since the last check: a rank that was woken at the instant of that
 * check has run meanwhile. SimGrid then detects the deadlock. */
void BackgroundTraffic::look()
{
  if (std::exchange(was_idle_, nothing_else_happens()) && was_idle_)
    end();
}

void BackgroundTraffic::add_rows(Json& record) const
{
  Json& rows = record["traffic"] = Json::array();
  for (const auto& stream : streams_)
    rows.push_back(traffic_row(stream->report()));
}

} // namespace weft
