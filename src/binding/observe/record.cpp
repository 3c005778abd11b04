// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/observe/record.hpp"

#include "binding/observe/profile.hpp"
#include "binding/observe/record_run.hpp"
#include "binding/process/process.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <ranges>
#include <simgrid/version.h>
#include <string_view>
#include <utility>

namespace weft {
namespace {

std::string simgrid_version()
{
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Json fabric_to_json(const Fabric& fabric)
{
  Json json = {{"name", fabric.name()},
               {"file", fabric.file()},
               {"topology", fabric.topology_kind()},
               {"hosts", fabric.host_count()},
               {"switches", fabric.switch_count()},
               {"links", fabric.links().size()}};
  if (not fabric.changes().empty())
    json["changes"] = fabric.changes();
  if (not fabric.host().unmeasured.empty())
    json["unmeasured"] = fabric.host().unmeasured;
  return json;
}

Json switches_to_json(const RecordRun& run)
{
  return rows_of(std::views::iota(std::size_t{0}, run.switches.size()), [&](std::size_t index) -> Json {
    const Aggregation& aggregation = run.switches[index];
    const SwitchCounters& counters = aggregation.counters();
    const auto lookups             = run.lookups(static_cast<int>(index));
    const bool followed            = lookups && aggregation.model().forwarding.bounds();
    return {{"name", run.fabric.topology().switch_name(static_cast<int>(index))},
            {"preset", aggregation.model().preset},
            {"offloaded", counters.offloaded},
            {"packets_reduced", counters.packets_reduced},
            {"packets_passed_on", counters.packets_passed_on},
            {"bytes_reduced", counters.bytes_reduced},
            {"bytes_multicast", counters.bytes_multicast},
            {"slots_used_max", counters.slots_used_max},
            {"channels_used_max", counters.channels_used_max},
            {"cache_hits", lookups ? Json(lookups->hits) : Json()},
            {"cache_misses", lookups ? Json(lookups->misses) : Json()},
            {"cache_packets", followed ? Json(std::llround(lookups->packets)) : Json()},
            {"cache_packet_hits", followed ? Json(std::llround(lookups->packet_hits)) : Json()}};
  });
}

} // namespace

Json outcome_to_json(const Outcome& outcome)
{
  Json json = {{"kind", outcome.kind}, {"message", outcome.message}};
  if (not outcome.signal.empty())
    json["signal"] = outcome.signal;
  if (outcome.rank)
    json["rank"] = *outcome.rank;
  return json;
}

void CallStatistics::add(const CallStatistics& other)
{
  rank_calls += other.rank_calls;
  bytes += other.bytes;
  total_time += other.total_time;
  total_wait += other.total_wait;
  max_time = std::max(max_time, other.max_time);
}

void Record::count(const CallDescriptor& call, Decision decision, const std::string& algorithm, int world,
                   CallTime time)
{
  const Key key{call.kind,          call.blocking,   call.ranks, call.type, call.operation,
                decision.mechanism, decision.reason, algorithm,  world};
  calls_[key].add({1, static_cast<double>(call.own_bytes), time.duration, time.wait, time.duration});
  if (keep_durations) [[unlikely]]
    durations_[key].add(time.duration);
}

void Record::count_on_switch(int world, int index, Bytes reduced, Bytes multicast)
{
  SwitchWork& work = on_switches_[{world, index}];
  ++work.offloaded;
  work.bytes_reduced += reduced.value();
  work.bytes_multicast += multicast.value();
}

SwitchWork Record::on_switch(int world, int index) const
{
  const auto found = on_switches_.find({world, index});
  return found == on_switches_.end() ? SwitchWork() : found->second;
}

void Record::add_event(const SwitchEvent& event)
{
  if (keep_events)
    events_.push_back(event);
}

namespace {

/** Text of consecutive numbers, most of which equal their predecessor. */
class RepeatedNumber {
  double number_ = 0;
  std::string text_{Json(0.0).dump()};

public:
  const std::string& text(double number)
  {
    if (number != number_) {
      number_ = number;
      text_   = Json(number).dump();
    }
    return text_;
  }
};

} // namespace

// Written row by row: for a fabric with many links, a Json object with all rows would take several times the memory of
// the fabric itself.
void Record::write_links(const RecordRun& run, std::ostream& file) const
{
  RepeatedNumber bandwidth;
  RepeatedNumber carried;
  std::vector<std::pair<const RecordPart*, RepeatedNumber>> parts;
  for (const RecordPart* part : run.parts)
    if (not part->link_field().empty())
      parts.emplace_back(part, RepeatedNumber());
  RepeatedNumber utilisation;
  const auto field = [&file](std::string_view name, const std::string& text) {
    file << ",\n   \"" << name << "\": " << text;
  };
  const char* before = "[";
  for (LinkId id = 0; std::cmp_less(id, run.fabric.links().size()); ++id) {
    const double bytes = run.bytes_on_link(id);
    if (bytes <= 0)
      continue;
    const Link& link      = run.fabric.link(id);
    const double capacity = link.bandwidth.value() * run.simulated_time;
    file << before << "\n  {\n   \"name\": " << Json(link.name).dump();
    field("bandwidth_Bps", bandwidth.text(link.bandwidth.value()));
    field("bytes", carried.text(bytes));
    for (auto& [part, number] : parts)
      field(part->link_field(), number.text(part->on_link(id)));
    field("utilisation", utilisation.text(capacity > 0 ? bytes / capacity : 0.0));
    file << "\n  }";
    before = ",";
  }
  file << (*before == '[' ? "[]" : "\n ]");
}

namespace {

/** Readable key of a row of calls; the record is sorted by it. */
struct CallName {
  std::string collective;
  bool blocking;
  int communicator_size;
  std::string datatype;
  std::string operation;
  std::string path;
  std::string reason;
  std::string algorithm;
  auto operator<=>(const CallName&) const = default;
};

Json call_to_json(const CallName& name, const CallStatistics& row, const std::map<std::string, std::string>& algorithms)
{
  const bool smpi = name.path == path_name(nullptr) && name.algorithm.empty();
  // SMPI has no choice of algorithms for some collectives, including the non-blocking ones.
  const auto next_definition = algorithms.find(name.collective);
  const std::string used =
      smpi ? "smpi:" + (next_definition == algorithms.end() ? "only" : next_definition->second) : name.algorithm;
  // Only the program sees when SMPI's own requests complete.
  const bool timed = name.blocking || not smpi;
  const int size   = name.communicator_size;
  return {{"collective", name.collective},
          {"communicator_size", size},
          {"datatype", name.datatype},
          {"op", name.operation},
          {"path", name.path},
          {"reason", name.reason},
          {"algorithm", used},
          {"calls", (row.rank_calls + size - 1) / size},
          {"bytes", row.bytes / size},
          {"total_time_s", timed ? Json(row.total_time) : Json()},
          {"total_wait_s", timed ? Json(row.total_wait) : Json()},
          {"max_time_s", timed ? Json(row.max_time) : Json()}};
}

} // namespace

Json Record::calls_to_json(const std::map<std::string, std::string>& algorithms, std::optional<int> world) const
{
  // Keys contain addresses, which differ between runs, so rows are ordered by the objects' names.
  std::map<CallName, CallStatistics> rows;
  for (const auto& [key, row] : calls_) {
    if (world && key.world != *world)
      continue;
    const CallDescriptor call{.kind = key.kind, .blocking = key.blocking, .type = key.type, .operation = key.operation};
    rows[{call.name(), key.blocking, key.communicator_size, std::string(call.type_name()),
          std::string(call.operation_name()), std::string(path_name(key.mechanism)), std::string(to_text(key.reason)),
          key.algorithm}]
        .add(row);
  }
  return rows_of(rows, [&](const auto& entry) { return call_to_json(entry.first, entry.second, algorithms); });
}

namespace {

constexpr double MEDIAN = 0.5;
constexpr double P95    = 0.95;
constexpr double P99    = 0.99;

} // namespace

// Regardless of the executing mechanism: calls that a job offloads when alone may fall back when other jobs run.
Json Record::durations_to_json(int world) const
{
  using Name = std::tuple<std::string, int, std::string, std::string>;
  std::map<Name, Histogram> rows;
  for (const auto& [key, kept] : durations_) {
    if (key.world != world)
      continue;
    const CallDescriptor call{.kind = key.kind, .blocking = key.blocking, .type = key.type, .operation = key.operation};
    rows[{call.name(), key.communicator_size, std::string(call.type_name()), std::string(call.operation_name())}].add(
        kept);
  }
  return rows_of(rows, [](const auto& entry) -> Json {
    const auto& [collective, size, type, operation] = entry.first;
    const Histogram& kept                           = entry.second;
    return {{"collective", collective},
            {"communicator_size", size},
            {"datatype", type},
            {"op", operation},
            {"calls", (kept.count() + size - 1) / size},
            {"mean_s", kept.mean()},
            {"p50_s", kept.quantile(MEDIAN)},
            {"p95_s", kept.quantile(P95)},
            {"p99_s", kept.quantile(P99)},
            {"max_s", kept.max()}};
  });
}

Json Record::events_to_json(const RecordRun& run) const
{
  return rows_of(events_, [&](const SwitchEvent& event) -> Json {
    return {{"switch", run.fabric.topology().switch_name(event.switch_index)},
            {"communicator", event.communicator},
            {"collective", event.collective},
            {"ranks", event.ranks},
            {"bytes", event.bytes},
            {"start_s", event.start},
            {"end_s", event.end}};
  });
}

Json Record::host_calls_to_json() const
{
  return rows_of(host_calls_, [](const HostedCall& call) -> Json {
    return {{"rank", call.rank},
            {"collective", call.collective},
            {"algorithm", call.algorithm},
            {"segment_bytes", call.segment},
            {"messages", call.tally.messages},
            {"rounds", call.tally.rounds},
            {"start_s", call.start},
            {"end_s", call.end}};
  });
}

void Record::write_json(const RecordRun& run, std::ostream& file) const
{
  Json first{{"schema", "weft-run/1"},
             {"weft", WEFT_VERSION},
             {"simgrid", simgrid_version()},
             {"fabric", fabric_to_json(run.fabric)},
             {"ranks", run.ranks},
             {"hosts_used", run.hosts_used},
             {"offload", std::string(to_text(run.mode))},
             {"progress", std::string(to_text(progress_of(run.fabric.mpi())))},
             {"poll_overhead_s", run.poll_overhead ? Json(run.poll_overhead->value()) : Json()},
             {"messages", messages},
             {"messages_reason", messages_reason},
             {"host_stages", host_stages},
             {"tunings_off", run.tunings_off},
             {"outcome", outcome_to_json(outcome)},
             {"simulated_time_s", run.simulated_time},
             {"profile", Profile::get().kinds_to_json(run.simulated_time)},
             {"mpi_calls", Profile::get().functions_to_json()},
             {"collectives", calls_to_json(run.algorithms)}};
  for (const RecordPart* part : run.parts)
    part->add_rows(first);
  first["switches"] = switches_to_json(run);
  Json last         = Json::object();
  if (not run.jobs.is_null())
    last["jobs"] = run.jobs;
  if (not run.spawned.is_null())
    last["spawned"] = run.spawned;
  if (not run.resolution.is_null())
    last["resolution"] = run.resolution;
  if (not run.packets.is_null())
    last["packets"] = run.packets;
  if (run.stacks)
    last["stacks"] = {{"bytes", run.stacks->bytes}, {"number", run.stacks->made}, {"unguarded", run.stacks->unguarded}};
  if (run.fabric.noise())
    last["noise"] = {{"seed", run.fabric.noise()->seed}};
  if (keep_events) {
    last["events"]     = events_to_json(run);
    last["slices"]     = Profile::get().slices_to_json();
    last["host_calls"] = host_calls_to_json();
    for (const RecordPart* part : run.parts)
      part->add_events(last);
  }
  const std::string begin = first.dump(1);
  file << std::string_view(begin).substr(0, begin.size() - 2) << ",\n \"links\": "; // without "\n}"
  write_links(run, file);
  last["peak_memory_bytes"] = peak_memory_bytes();
  file << "," << last.dump(1).substr(1) << "\n"; // without "{"
}

} // namespace weft
