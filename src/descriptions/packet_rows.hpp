// SPDX-License-Identifier: LGPL-2.1-only
/* Work of a network of packets in the JSON form of a record. */
#pragma once

#include "model/packets/packet_model.hpp"
#include "packets/packet_work.hpp"

#include <nlohmann/json_fwd.hpp>

namespace weft {

/** Returns the record's section on packets. */
nlohmann::ordered_json packet_row(const PacketModel& model, const PacketWork& work);

} // namespace weft
