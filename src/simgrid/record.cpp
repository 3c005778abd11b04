#include "simgrid/record.hpp"

#include "mpi/names.hpp"
#include "simgrid/profile.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <simgrid/version.h>

namespace weft {
namespace {

using Json = nlohmann::ordered_json; // fields stay in the order in which a reader wants them

std::string simgrid_version()
{
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Json switches_to_json(const Record::Run& run)
{
  Json rows = Json::array();
  for (std::size_t index = 0; index < run.switches.size(); ++index) {
    const Aggregation& aggregation = run.switches[index];
    const SwitchCounters& counters = aggregation.counters();
    const auto lookups             = run.lookups(static_cast<int>(index));
    rows.push_back({{"name", run.fabric.topology().switch_name(static_cast<int>(index))},
                    {"preset", aggregation.model().preset},
                    {"offloaded", counters.offloaded},
                    {"packets_reduced", counters.packets_reduced},
                    {"bytes_reduced", counters.bytes_reduced},
                    {"bytes_multicast", counters.bytes_multicast},
                    {"slots_used_max", counters.slots_used_max},
                    {"channels_used_max", counters.channels_used_max},
                    {"cache_hits", lookups ? Json(lookups->hits) : Json()},
                    {"cache_misses", lookups ? Json(lookups->misses) : Json()}});
  }
  return rows;
}

} // namespace

void MulticastStatistics::add(const MulticastStatistics& other)
{
  calls += other.calls;
  multicasts += other.multicasts;
  chunks += other.chunks;
  payload += other.payload;
  headers += other.headers;
  drops += other.drops;
  counts.requests += other.counts.requests;
  counts.fetched += other.counts.fetched;
  counts.timer_expiries += other.counts.timer_expiries;
  counts.duplicates += other.counts.duplicates;
  fetched_bytes += other.fetched_bytes;
  times.barrier += other.times.barrier;
  times.multicast += other.times.multicast;
  times.recovery += other.times.recovery;
  times.handshake += other.times.handshake;
}

void Record::count(const char* collective, int communicator_size, MPI_Datatype datatype, MPI_Op operation,
                   Decision decision, double bytes, double duration)
{
  CallStatistics& row = calls_[Key{collective, communicator_size, datatype, operation, decision.path, decision.reason}];
  row.rank_calls += 1;
  row.bytes += bytes;
  row.total_time += duration;
  row.max_time = std::max(row.max_time, duration);
}

void Record::add_event(const SwitchEvent& event)
{
  if (keep_events)
    events_.push_back(event);
}

Json Record::links_to_json(const Run& run) const
{
  Json rows = Json::array();
  for (std::size_t id = 0; id < run.fabric.links().size(); ++id) {
    const std::optional<double> bytes = run.bytes_on_link(static_cast<LinkId>(id));
    if (not bytes)
      continue;
    const Link& link      = run.fabric.links()[id];
    const double capacity = link.bandwidth.value() * run.simulated_time;
    const auto multicast  = multicast_on_link_.find(static_cast<LinkId>(id));
    rows.push_back({{"name", link.name},
                    {"bandwidth_Bps", link.bandwidth.value()},
                    {"bytes", *bytes},
                    {"multicast_bytes", multicast == multicast_on_link_.end() ? 0.0 : multicast->second},
                    {"utilisation", capacity > 0 ? *bytes / capacity : 0.0}});
  }
  return rows;
}

Json Record::multicast_to_json() const
{
  Json rows = Json::array();
  for (const auto& [key, row] : multicast_)
    rows.push_back({{"collective", key.first},
                    {"communicator_size", key.second},
                    {"calls", row.calls},
                    {"multicasts", row.multicasts},
                    {"chunks", row.chunks},
                    {"payload_bytes", row.payload},
                    {"header_bytes", row.headers},
                    {"drops", row.drops},
                    {"fetch_requests", row.counts.requests},
                    {"fetched_chunks", row.counts.fetched},
                    {"fetched_bytes", row.fetched_bytes},
                    {"duplicates", row.counts.duplicates},
                    {"timer_expiries", row.counts.timer_expiries},
                    {"barrier_s", row.times.barrier},
                    {"multicast_s", row.times.multicast},
                    {"recovery_s", row.times.recovery},
                    {"handshake_s", row.times.handshake}});
  return rows;
}

void Record::count_multicast(const std::string& collective, int communicator_size, const MulticastStatistics& call)
{
  multicast_[{collective, communicator_size}].add(call);
}

nlohmann::ordered_json Record::calls_to_json(const Run& run) const
{
  // Keys hold addresses, which differ from run to run: order by what they stand for.
  std::map<std::tuple<std::string, int, std::string, std::string, std::string, std::string>, CallStatistics> rows;
  for (const auto& [key, row] : calls_) {
    CallStatistics& into =
        rows[{key.collective, key.communicator_size, datatype_name(key.datatype), operation_name(key.operation),
              std::string(to_text(key.path)), std::string(to_text(key.reason))}];
    into.rank_calls += row.rank_calls;
    into.bytes += row.bytes;
    into.total_time += row.total_time;
    into.max_time = std::max(into.max_time, row.max_time);
  }
  Json calls = Json::array();
  for (const auto& [key, row] : rows) {
    const auto& [collective, size, datatype, operation, path, reason] = key;
    const bool fallback                                               = path == "fallback";
    // SMPI has no choice of algorithms for some collectives, the non-blocking ones among them.
    const auto algorithm = run.algorithms.find(collective);
    const Json name      = not fallback ? "" : algorithm == run.algorithms.end() ? "only" : algorithm->second;
    // Only the program sees when SMPI's own requests complete.
    const bool timed = not(fallback && is_nonblocking(collective));
    calls.push_back({{"collective", collective},
                     {"communicator_size", size},
                     {"datatype", datatype},
                     {"op", operation},
                     {"path", path},
                     {"reason", reason},
                     {"algorithm", name},
                     {"calls", (row.rank_calls + size - 1) / size},
                     {"bytes", row.bytes / size},
                     {"total_time_s", timed ? Json(row.total_time) : Json()},
                     {"max_time_s", timed ? Json(row.max_time) : Json()}});
  }
  return calls;
}

std::string Record::to_json(const Run& run) const
{
  Json record{{"schema", "weft-run/1"},
              {"weft", WEFT_VERSION},
              {"simgrid", simgrid_version()},
              {"fabric",
               {{"name", run.fabric.name()},
                {"file", run.fabric.file()},
                {"topology", run.fabric.topology_kind()},
                {"hosts", run.fabric.host_count()},
                {"switches", run.fabric.switch_count()},
                {"links", run.fabric.links().size()}}},
              {"ranks", run.ranks},
              {"hosts_used", run.hosts_used},
              {"offload", std::string(to_text(run.mode))},
              {"outcome", {{"kind", outcome.kind}, {"message", outcome.message}}},
              {"simulated_time_s", run.simulated_time},
              {"profile", Profile::get().kinds_to_json(run.simulated_time)},
              {"mpi_calls", Profile::get().functions_to_json()},
              {"collectives", calls_to_json(run)},
              {"multicast", multicast_to_json()},
              {"switches", switches_to_json(run)},
              {"links", links_to_json(run)}};
  if (keep_events) {
    Json events = Json::array();
    for (const SwitchEvent& event : events_)
      events.push_back({{"switch", run.fabric.topology().switch_name(event.switch_index)},
                        {"communicator", event.communicator},
                        {"collective", event.collective},
                        {"ranks", event.ranks},
                        {"bytes", event.bytes},
                        {"start_s", event.start},
                        {"end_s", event.end}});
    record["events"] = std::move(events);
    record["slices"] = Profile::get().slices_to_json();
  }
  return record.dump(1) + "\n";
}

} // namespace weft
