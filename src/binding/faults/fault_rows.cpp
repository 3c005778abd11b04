// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/faults/fault_rows.hpp"

#include <utility>

namespace weft {

Json fault_rows(Json events, std::size_t left_events, const RecoveryCounts& counts, const CallRecovery* calls)
{
  return {{"events", std::move(events)},
          {"left_events", left_events},
          {"cut", counts.cut},
          {"resumed", counts.resumed},
          {"given_up", counts.given_up},
          {"waited_s", counts.waited_s},
          {"longest_waiting_s", counts.longest_waiting_s},
          {"broken_calls", calls ? calls->broken : 0},
          {"resent_calls", calls ? calls->resent : 0},
          {"rebuilt_calls", calls ? calls->rebuilt : 0},
          {"calls_on_hosts", calls ? calls->moved : 0},
          {"lost_in_calls_s", calls ? calls->lost_s : 0.0}};
}

} // namespace weft
