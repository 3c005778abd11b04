// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/messages/mpi_costs.hpp"

#include "binding/settings/settings.hpp"

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

namespace weft {
namespace {

using Time = Seconds (MpiModel::*)(Bytes) const;

/** Sets a cost, unless SMPI's own option is set. */
void set_cost(const char* option, SmpiOperation operation, const Fabric& fabric, CoreNoise& noise, Time time)
{
  if (not simgrid::config::is_default(option))
    return;
  smpi_register_op_cost_callback(
      operation, [model = fabric.mpi().value_or(MpiModel()), time, local = fabric.host().message_overhead,
                  &noise](std::size_t size, const simgrid::s4u::Host* from, const simgrid::s4u::Host* to) {
        return noise.with_os_noise(from == to ? local : (model.*time)(Bytes(static_cast<double>(size)))).value();
      });
}

} // namespace

void set_mpi_costs(const Fabric& fabric, CoreNoise& noise)
{
  // Eager: the sender does not wait (detached), and the message does not wait for its receiver (asynchronous).
  constexpr auto DETACHED = "smpi/send-is-detached-thresh";
  if (fabric.mpi() && simgrid::config::is_default(DETACHED)) {
    const int threshold = static_cast<int>(fabric.mpi()->eager_threshold.value());
    simgrid::config::set_value<int>(DETACHED, threshold);
    set_unless_chosen("smpi/async-small-thresh", threshold);
  }
  if (not fabric.mpi() && fabric.host().message_overhead == Seconds() && not noise.any())
    return;
  set_cost("smpi/os", SmpiOperation::SEND, fabric, noise, &MpiModel::send_time);
  set_cost("smpi/ois", SmpiOperation::ISEND, fabric, noise, &MpiModel::send_time);
  set_cost("smpi/or", SmpiOperation::RECV, fabric, noise, &MpiModel::receive_time);
}

std::optional<Seconds> poll_overhead(const Fabric& fabric)
{
  using simgrid::config::is_default;
  if (not is_default("smpi/test") || not is_default("smpi/iprobe"))
    return std::nullopt;
  return fabric.mpi().value_or(MpiModel()).poll_overhead;
}

} // namespace weft
