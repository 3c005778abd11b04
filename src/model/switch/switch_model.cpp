// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/switch_model.hpp"

#include "base/share.hpp"

#include <algorithm>

namespace weft {

Unsupported SwitchModel::lacks(const std::string& collective, const std::string& datatype,
                               const std::string& operation) const
{
  Unsupported nearest_miss = Unsupported::collective;
  for (const Capability& capability : capabilities) {
    const Unsupported miss = capability.lacks(collective, datatype, operation);
    if (miss == Unsupported::none)
      return miss;
    nearest_miss = std::max(nearest_miss, miss);
  }
  return nearest_miss;
}

const Capability* SwitchModel::serving(const std::string& collective, const std::string& datatype,
                                       const std::string& operation) const
{
  const auto found = std::ranges::find_if(capabilities, [&](const Capability& capability) {
    return capability.lacks(collective, datatype, operation) == Unsupported::none;
  });
  return found == capabilities.end() ? nullptr : &*found;
}

const std::vector<Option<SwitchModel>>& switch_options()
{
  using M                    = SwitchModel;
  static const Need IF_SMART = Need::otherwise("required for a smart switch");
  static const std::vector<Option<M>> ROWS{
      {"max_ports", "number of ports", &M::max_ports},
      {"forwarding_latency", "port-to-port latency of a forwarded packet", &M::forwarding_latency, Need::required,
       Allowed::non_negative},
      {"processing_latency", "smart: time from the arrival of the last contribution to the departure of the result",
       &M::processing_latency, Need::optional, Allowed::non_negative},
      {"pipe_ports", "smart: ports of each pipeline", &M::pipe_ports, Need::otherwise("all ports")},
      {"pipe_latency", "smart: additional time of a result whose contributions enter by several pipelines",
       &M::pipe_latency, Need::optional, Allowed::non_negative},
      {"turnaround", "smart: time until a slot can be reused", &M::turnaround, Need::optional, Allowed::non_negative},
      {"channels", "smart: communicators that can be offloaded concurrently", &M::channels, IF_SMART},
      {"channel_sharing", "smart: policy by which jobs share the channels", &M::channel_sharing,
       Need::otherwise("first-come")},
      {"job_channels", R"(smart: channels that a job may hold, with channel_sharing = "quota" or "reserved")",
       &M::job_channels, Need::otherwise("1")},
      {"slots", "smart: aggregation slots per channel", &M::slots, IF_SMART},
      {"total_slots", "smart: total slots of the switch, divided among its channels", &M::total_slots,
       Need::otherwise("unlimited")},
      {"payload", "smart: payload of an offload packet, which is the size of a slot", &M::payload, IF_SMART},
      {"packet_overhead", "smart: headers, preamble and gap of an offload packet", &M::packet_overhead, Need::optional,
       Allowed::non_negative},
      {"aggregation_rate", "smart: reduction rate, over all contributions to a call", &M::aggregation_rate,
       Need::otherwise("unlimited")},
      {"streaming_from", "smart: smallest reduction that streams at link rate without slots", &M::streaming_from,
       Need::otherwise("none"), Allowed::non_negative},
      {"stream_sharing", "smart: policy by which jobs share what streams without slots", &M::stream_sharing,
       Need::otherwise("all")},
  };
  return ROWS;
}

std::vector<Option<SwitchModel>> switch_properties()
{
  static const std::set<std::string> OF_FABRICS{"pipe_ports", "pipe_latency", "channel_sharing", "job_channels",
                                                "stream_sharing"};
  std::vector<Option<SwitchModel>> rows = switch_options();
  std::erase_if(rows, [](const Option<SwitchModel>& row) { return OF_FABRICS.contains(row.key); });
  return rows;
}

namespace {

/** Reads the tables in a [switch] table. [[offload]] tables replace those of a preset, so that a file can also remove
 *  capabilities. */
void read_tables(const OptionTable& table, SwitchModel& model)
{
  if (std::optional<std::vector<Capability>> given = read_capabilities(table))
    model.capabilities = std::move(*given);
  if (table.has("forwarding"))
    model.forwarding = read_forwarding(table.table("forwarding"), model.forwarding);
}

/** Throws UserError if a smart switch lacks a value, or its channels have more slots than the switch. */
void check_smart(const OptionTable& table, const SwitchModel& model)
{
  if (const std::string problem = lacking(model); not problem.empty())
    table.fail(model.channels == 0 || model.slots == 0 || model.payload == Bytes{} ? "offload" : "slots", problem);
}

} // namespace

std::string lacking(const SwitchModel& model)
{
  if (not model.smart())
    return {};
  if (model.channels == 0 || model.slots == 0 || model.payload == Bytes{})
    return "a smart switch needs channels, slots and payload as well; set them, or name a preset";
  const auto promised = static_cast<std::int64_t>(model.channels) * model.slots;
  if (model.total_slots == 0 || promised <= model.total_slots)
    return {};
  return std::to_string(model.channels) + " channels of " + std::to_string(model.slots) + " slots need " +
         std::to_string(promised) + ", and the switch has " + std::to_string(model.total_slots) +
         " (total_slots); take fewer channels or slots";
}

SwitchModel read_switch(const OptionTable& table)
{
  auto model = read_device<SwitchModel>(table, "switch", switch_options(), {"offload", "forwarding"}, read_tables);
  check_smart(table, model);
  return model;
}

SwitchModel read_switch(const OptionTable& table, const SwitchModel& standard, std::vector<std::string> others)
{
  others.insert(others.end(), {"offload", "forwarding"});
  auto model = read_device<SwitchModel>(table, "switch", switch_options(), std::move(others), read_tables, &standard);
  check_smart(table, model);
  return model;
}

std::optional<SwitchModel> find_switch_preset(const std::string& name)
{
  const std::optional<std::string> path = find_shared("presets/switch", name);
  if (not path)
    return std::nullopt;
  SwitchModel model = read_switch(OptionTable::read_file(*path));
  model.preset      = name;
  return model;
}

} // namespace weft
