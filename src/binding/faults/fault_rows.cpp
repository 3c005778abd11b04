// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/faults/fault_rows.hpp"

#include "binding/observe/json/json_rows.hpp"
#include "descriptions/disturbance_rows.hpp"

#include <utility>

namespace weft {

Json fault_rows(const FaultReport& report, const CallRecovery* calls)
{
  Json hits = Json::array();
  if (calls)
    for (const HitCall& hit : calls->hits)
      hits.push_back({{"hit_s", hit.hit},
                      {"went_on_s", hit.went_on},
                      {"collective", hit.collective},
                      {"communicator", hit.communicator},
                      {"what", hit.what}});
  Json rows = fault_rows(report);
  rows.update({{"broken_calls", calls ? calls->broken : 0},
               {"resent_calls", calls ? calls->resent : 0},
               {"rebuilt_calls", calls ? calls->rebuilt : 0},
               {"calls_on_hosts", calls ? calls->moved : 0},
               {"lost_in_calls_s", calls ? calls->lost_s : 0.0},
               {"cut_branches", calls ? calls->cut_branches : 0},
               {"lost_chunks", calls ? calls->lost_chunks : 0},
               {"calls", std::move(hits)}});
  return rows;
}

} // namespace weft
