// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/analysis/description.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace weft {
namespace {

/** Returns true if the policy restricts the channels that a job may hold. */
bool divides(ChannelSharing sharing)
{
  return sharing == ChannelSharing::quota || sharing == ChannelSharing::reserved;
}

/** Returns the additional latency of a result across pipelines, as text; empty if there is one pipeline. */
std::string across_pipes(const SwitchModel& model)
{
  return model.pipe_ports > 0 ? " (" + to_text(model.pipe_latency) + " more from several pipelines)" : "";
}

/** Returns "32 NVSwitches, 256 NICs, 12 switches". */
std::string switches_in_words(const Topology& topology)
{
  std::vector<std::string> parts;
  for (const auto& [noun, count] : count_switches(topology))
    parts.push_back(grouped(count) + " " + std::string(noun) + (count == 1 ? "" : noun.ends_with("ch") ? "es" : "s"));
  return join(parts);
}

void describe_model(const SwitchModel& model, int count, std::ostream& text)
{
  text << "  " << grouped(count) << " x " << (model.preset.empty() ? "switch" : model.preset) << ": " << model.max_ports
       << " ports, forwards in " << to_text(model.hop_latency()) << "\n";
  if (not model.forwarding.kind.empty())
    text << "    looks up by " << to_text(model.forwarding) << "\n";
  if (model.smart())
    text << "    aggregates " << grouped(model.channels) << " channels"
         << (divides(model.channel_sharing) ? " (a job " + grouped(model.job_channels) + ")" : "") << " of "
         << grouped(model.slots) << " slots of " << to_text(model.payload) << " (window " << to_text(model.window())
         << "), processing " << to_text(model.processing_latency) << across_pipes(model) << ", turnaround "
         << to_text(model.turnaround) << "\n";
  for (const Capability& row : model.capabilities) {
    text << "    offloads " << join(row.collectives);
    if (not row.datatypes.empty())
      text << " of " << join(row.datatypes) << " with " << join(row.operations);
    if (not row.conversion.empty())
      text << " in " << row.conversion << ", converted at " << to_text(row.conversion_rate);
    text << "\n";
  }
}

} // namespace

std::vector<std::pair<std::string_view, int>> count_switches(const Topology& topology)
{
  std::vector<std::pair<std::string_view, int>> counts;
  for (int index = 0; index < topology.switch_count(); ++index) {
    const std::string_view noun = topology.switch_noun(index);
    const auto found            = std::ranges::find(counts, noun, &std::pair<std::string_view, int>::first);
    if (found == counts.end())
      counts.emplace_back(noun, 1);
    else
      ++found->second;
  }
  if (counts.empty())
    counts.emplace_back("switch", 0);
  return counts;
}

std::string describe(const Fabric& fabric)
{
  const Topology& topology = fabric.topology();
  std::ostringstream text;
  text << fabric.name() << ": " << fabric.description() << "\n"
       << "  file " << fabric.file() << "\n"
       << "  topology " << fabric.topology_kind() << ": " << grouped(fabric.host_count()) << " hosts, "
       << switches_in_words(topology) << ", " << grouped(static_cast<std::int64_t>(fabric.links().size() / 2))
       << " cables, at most " << topology.diameter() << " links from host to host\n";
  if (const RoutingModel& routing = fabric.routing(); not routing.is_static())
    text << "  routing " << routing.policy << ", seed " << routing.seed << "\n";
  text << "  hosts " << topology.host_name(0) << " to " << topology.host_name(fabric.host_count() - 1) << ": "
       << fabric.host().cores << " cores of " << to_text(fabric.host().speed) << "\n";

  std::map<std::pair<double, double>, int> cables;
  for (std::size_t id = 0; id < fabric.links().size(); id += 2)
    ++cables[{fabric.links()[id].bandwidth.value(), fabric.links()[id].latency.value()}];
  for (const auto& [model, count] : cables)
    text << "  " << grouped(count) << (count == 1 ? " cable of " : " cables of ")
         << to_text(BytesPerSecond(model.first)) << ", " << to_text(Seconds(model.second)) << " each way\n";
  if (not fabric.resolution().automatic && not fabric.resolution().is_exact())
    text << "  flows change at most every " << to_text(fabric.resolution()) << "\n";
  if (fabric.sharing() != LinkSharing::flow)
    text << "  full links are shared by " << to_text(fabric.sharing()) << "\n";

  std::map<const SwitchModel*, int> switches;
  for (int index = 0; index < fabric.switch_count(); ++index)
    ++switches[&fabric.switch_model(index)];
  for (const auto& [model, count] : switches)
    describe_model(*model, count, text);
  std::map<const ProgressEngine*, int> engines;
  for (VertexId host = 0; host < fabric.host_count(); ++host)
    if (const ProgressEngine* engine = fabric.progress_engine(host))
      ++engines[engine];
  for (const auto& [engine, hosts] : engines)
    text << "  progress engine"
         << (engines.size() == 1 ? "" : " of " + grouped(hosts) + (hosts == 1 ? " host" : " hosts")) << ": "
         << describe(*engine) << "\n";
  for (const PolicyRow& row : fabric.policy())
    text << "  policy " << to_text(row) << "\n";
  if (const std::optional<DiskModel>& disk = fabric.disk())
    text << "  disk of each host: reads " << to_text(disk->read_bandwidth) << ", writes "
         << to_text(disk->write_bandwidth) << "\n";
  if (const std::optional<Storage>& storage = fabric.storage())
    text << "  storage: " << grouped(storage->targets()) << (storage->targets() == 1 ? " target" : " targets")
         << ", each reads " << to_text(storage->model.read_bandwidth) << ", writes "
         << to_text(storage->model.write_bandwidth) << "; files have " << storage->model.stripe_count
         << (storage->model.stripe_count == 1 ? " stripe" : " stripes") << " of " << to_text(storage->model.stripe_size)
         << "\n";
  if (const std::optional<NoiseModel>& noise = fabric.noise()) {
    for (const HostNoise& row : noise->hosts)
      text << "  noise: " << to_text(row) << "\n";
    for (const LinkNoise& row : noise->links)
      text << "  noise: " << to_text(row) << "\n";
  }
  return text.str();
}

} // namespace weft
