// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/mpi_costs.hpp"

#include "simgrid/settings.hpp"

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

namespace weft {
namespace {

using Time = Seconds (MpiModel::*)(Bytes) const;

/** SMPI's own option comes first. Ranks of one host hand messages over in memory, which the loopback link says. */
void set_cost(const char* option, SmpiOperation operation, const MpiModel& model, Time time)
{
  if (not simgrid::config::is_default(option))
    return;
  smpi_register_op_cost_callback(
      operation, [model, time](std::size_t size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) {
        return from == to ? 0.0 : (model.*time)(Bytes(static_cast<double>(size))).value();
      });
}

} // namespace

void set_mpi_costs(const MpiModel& model)
{
  // Eager: the sender does not wait (detached), and the message does not wait for its receiver (asynchronous).
  constexpr auto DETACHED = "smpi/send-is-detached-thresh";
  if (simgrid::config::is_default(DETACHED)) {
    const int threshold = static_cast<int>(model.eager_threshold.value());
    simgrid::config::set_value<int>(DETACHED, threshold);
    set_unless_chosen("smpi/async-small-thresh", threshold);
  }
  set_cost("smpi/os", SmpiOperation::SEND, model, &MpiModel::send_time);
  set_cost("smpi/ois", SmpiOperation::ISEND, model, &MpiModel::send_time);
  set_cost("smpi/or", SmpiOperation::RECV, model, &MpiModel::receive_time);
}

} // namespace weft
