// SPDX-License-Identifier: LGPL-2.1-only
#include "protocol/message_costs.hpp"

namespace weft {

MessageCosts costs_of(const std::optional<MpiModel>& mpi, const HostModel& host)
{
  const MpiModel model = mpi.value_or(MpiModel());
  const auto cost      = [&](Seconds (MpiModel::*time)(Bytes) const) {
    return [model, time, host](Bytes size, int from, int to) {
      return from == to ? host.message_time(size) : (model.*time)(size);
    };
  };
  return {model.eager_threshold,         mpi ? model.eager_threshold : Bytes(),
          cost(&MpiModel::send_time),    cost(&MpiModel::send_time),
          cost(&MpiModel::receive_time), host.reduction_rate,
          host.piece_overhead,           host,
          model.reduction_overhead};
}

} // namespace weft
