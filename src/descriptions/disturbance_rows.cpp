// SPDX-License-Identifier: LGPL-2.1-only
#include "descriptions/disturbance_rows.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft {

nlohmann::ordered_json fault_rows(const FaultReport& report)
{
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const FaultReport::Event& event : report.events) {
    events.push_back({{"at_s", event.at_s}, {"what", event.what}});
    if (event.hidden)
      events.back()["hidden"] = true;
  }
  const RecoveryCounts& counts = report.counts;
  return {{"events", std::move(events)}, {"left_events", report.left},
          {"cut", counts.cut},           {"lost", counts.lost},
          {"resumed", counts.resumed},   {"given_up", counts.given_up},
          {"waited_s", counts.waited_s}, {"longest_waiting_s", counts.longest_waiting_s}};
}

nlohmann::ordered_json traffic_row(const TrafficReport& report)
{
  const TrafficCounts& counts = report.counts;
  nlohmann::ordered_json row{{"name", report.name},         {"pattern", report.pattern}, {"hosts", report.hosts},
                             {"messages", counts.messages}, {"bytes", counts.bytes},     {"mean_s", counts.mean_s()}};
  if (counts.given_up > 0)
    row["given_up_messages"] = counts.given_up;
  if (counts.rate)
    row["rate_per_host_Bps"] = counts.rate->value();
  if (counts.waiting)
    row["waiting_messages"] = *counts.waiting;
  if (counts.rounds)
    row["rounds"] = *counts.rounds;
  if (not counts.failure.empty()) {
    row["outcome"] = "network-failure";
    row["message"] = counts.failure;
  }
  return row;
}

} // namespace weft
