// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/multicast/multicast_record.hpp"
#include "binding/observe/json/json_rows.hpp"

namespace weft {

namespace {

/** Returns the fields of one rank, or of several whose times are divided by @p among. */
Json seen_to_json(const MulticastRank& seen, double among)
{
  return {{"drops", seen.drops.all},
          {"staging_drops", seen.drops.staging},
          {"port_drops", seen.drops.port},
          {"fetch_requests", seen.counts.requests},
          {"fetched_chunks", seen.counts.fetched},
          {"duplicates", seen.counts.duplicates},
          {"timer_expiries", seen.counts.timer_expiries},
          {"barrier_s", seen.times.barrier / among},
          {"multicast_s", seen.times.multicast / among},
          {"recovery_s", seen.times.recovery / among},
          {"handshake_s", seen.times.handshake / among}};
}

} // namespace

void MulticastRecord::add_rows(Json& record) const
{
  record["multicast"] = rows_of(calls_, [](const auto& entry) -> Json {
    const auto& [key, row] = entry;
    Json json{{"collective", key.first},
              {"communicator_size", key.second},
              {"calls", row.calls},
              {"multicasts", row.traffic.multicasts},
              {"chunks", row.traffic.chunks},
              {"payload_bytes", row.traffic.payload},
              {"header_bytes", row.traffic.headers},
              {"fetched_bytes", row.traffic.fetched_bytes}};
    MulticastRank all;
    for (const auto& [rank, seen] : row.ranks)
      all.add(seen);
    json.update(seen_to_json(all, key.second));
    json["by_rank"] = rows_of(row.ranks, [](const auto& its) {
      Json one{{"rank", its.first}};
      one.update(seen_to_json(its.second, 1));
      return one;
    });
    return json;
  });
}

void MulticastRecord::add_events(Json& record) const
{
  record["multicast_calls"] = rows_of(rank_calls_, [](const MulticastRankCall& call) {
    Json json{{"rank", call.rank},
              {"communicator", call.communicator},
              {"collective", call.collective},
              {"start_s", call.start}};
    json.update(seen_to_json(call.seen, 1));
    return json;
  });
}

void MulticastRecord::count(const std::string& collective, int communicator_size, const MulticastStatistics& call)
{
  calls_[{collective, communicator_size}].add(call);
}

double MulticastRecord::on_link(LinkId link) const
{
  const auto found = on_link_.find(link);
  return found == on_link_.end() ? 0 : found->second;
}

} // namespace weft
