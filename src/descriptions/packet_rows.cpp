// SPDX-License-Identifier: LGPL-2.1-only
#include "descriptions/packet_rows.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace weft {

nlohmann::ordered_json packet_row(const PacketModel& model, const PacketWork& work)
{
  return {{"packet_bytes", model.packet.value()},
          {"switching", std::string(to_text(model.switching))},
          {"flow_control", std::string(to_text(model.flow_control))},
          {"load_balancing", std::string(to_text(model.load_balancing))},
          {"retransmission", std::string(to_text(model.retransmission))},
          {"congestion_control", std::string(to_text(model.congestion_control))},
          {"messages", work.messages},
          {"packets", work.packets},
          {"hops", work.hops},
          {"dropped", work.dropped},
          {"trimmed", work.trimmed},
          {"lost", work.lost},
          {"overtaken", work.overtaken},
          {"sent_again", work.sent_again},
          {"timeouts", work.timeouts},
          {"marked", work.marked},
          {"notifications", work.notifications},
          {"pauses", work.pauses},
          {"paused_s", work.paused_s},
          {"most_queued_bytes", work.most_queued},
          {"most_packets", work.most_packets}};
}

} // namespace weft
