// SPDX-License-Identifier: LGPL-2.1-only
/* InfiniBand's congestion control (InfiniBand Architecture Specification, volume 1, annex A10), per queue pair: each
 * backward notification (BECN) moves a connection further in a table of delays, and a timer moves it back, as in Linux'
 * hfi1 driver (process_becn). The timer starts with the first notification; further ones do not restart it. The delay
 * follows each packet of the connection, in times of that packet. A connection begins at CCTI_Min. */
#include "packets/congestion/congestion_control.hpp"

#include <algorithm>

namespace weft {
namespace {

void set_delay(ConnectionState& state, const InfinibandModel& model)
{
  const double delay = model.delay(state.ccti);
  state.rate         = delay > 0 ? state.line_rate / (1 + delay) : ConnectionState::UNLIMITED;
}

void begin_infiniband(ConnectionState& state, const PacketModel& model)
{
  state.ccti = model.infiniband.ccti_min;
  set_delay(state, model.infiniband);
}

void increase_ccti(ConnectionState& state, const PacketModel& model, double now)
{
  const InfinibandModel& its = model.infiniband;
  state.ccti                 = std::min(state.ccti + its.ccti_increase, its.limit());
  set_delay(state, its);
  if (state.ccti > its.ccti_min && state.due == ConnectionState::UNLIMITED)
    state.due = now + its.ccti_timer.value();
}

void decrease_ccti(ConnectionState& state, const PacketModel& model, double now)
{
  const InfinibandModel& its = model.infiniband;
  --state.ccti;
  set_delay(state, its);
  state.due = state.ccti > its.ccti_min ? now + its.ccti_timer.value() : ConnectionState::UNLIMITED;
}

} // namespace

const CongestionControlRow& infiniband_row()
{
  static const CongestionControlRow ROW{.kind     = CongestionControl::infiniband,
                                        .begin    = begin_infiniband,
                                        .notified = increase_ccti,
                                        .due      = decrease_ccti};
  return ROW;
}

} // namespace weft
