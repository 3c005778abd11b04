#include "smart_switch/switch_model.hpp"

#include "base/share.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

Unsupported SwitchModel::lacks(const std::string& collective, const std::string& datatype,
                               const std::string& operation) const
{
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  Unsupported nearest_miss = Unsupported::collective;
  for (const Capability& capability : capabilities) {
    if (capability.collective != collective)
      continue;
    if (not has(capability.datatypes, datatype))
      nearest_miss = std::max(nearest_miss, Unsupported::datatype);
    else if (not has(capability.operations, operation))
      nearest_miss = std::max(nearest_miss, Unsupported::operation);
    else
      return Unsupported::none;
  }
  return nearest_miss;
}

const std::vector<Option<SwitchModel>>& switch_options()
{
  using M = SwitchModel;
  static const std::vector<Option<M>> ROWS{
      {"max_ports", "number of ports, so at most as many cables", &M::max_ports},
      {"forwarding_latency", "delay of a packet that is only forwarded, port to port", &M::forwarding_latency,
       Need::required, Bound::non_negative},
      {"processing_latency", "smart: from the last contribution's arrival to the result's departure",
       &M::processing_latency, Need::optional, Bound::non_negative},
      {"turnaround", "smart: from a slot's use by one packet to its use by the next", &M::turnaround, Need::optional,
       Bound::non_negative},
      {"channels", "smart: communicators offloaded at the same time", &M::channels, Need::optional},
      {"slots", "smart: aggregation slots of a channel", &M::slots, Need::optional},
      {"total_slots", "smart: slots of the switch, which its channels share out; unlimited where absent",
       &M::total_slots, Need::optional},
      {"payload", "smart: payload of an offload packet, one slot's size", &M::payload, Need::optional},
      {"packet_overhead", "smart: headers, preamble and gap of an offload packet", &M::packet_overhead, Need::optional,
       Bound::non_negative},
  };
  return ROWS;
}

const std::vector<OptionHelp>& capability_options()
{
  static const std::vector<OptionHelp> ROWS{
      {"collective", "text", "what a switch does: \"allreduce\"", true},
      {"datatypes", "texts", "MPI's names of the datatypes that it does it on", true},
      {"operations", "texts", "MPI's names of the operations that it does it with", true},
  };
  return ROWS;
}

namespace {

/** What MPI calls its predefined datatypes and reductions (MPI 4.1, sections 3.2.2 and 6.9.2). Those that a program
 * makes are nothing that a switch could know. */
const std::vector<std::string>& known_datatypes()
{
  static const std::vector<std::string> NAMES{"MPI_CHAR",
                                              "MPI_SHORT",
                                              "MPI_INT",
                                              "MPI_LONG",
                                              "MPI_LONG_LONG",
                                              "MPI_SIGNED_CHAR",
                                              "MPI_UNSIGNED_CHAR",
                                              "MPI_UNSIGNED_SHORT",
                                              "MPI_UNSIGNED",
                                              "MPI_UNSIGNED_LONG",
                                              "MPI_UNSIGNED_LONG_LONG",
                                              "MPI_FLOAT",
                                              "MPI_DOUBLE",
                                              "MPI_LONG_DOUBLE",
                                              "MPI_WCHAR",
                                              "MPI_C_BOOL",
                                              "MPI_INT8_T",
                                              "MPI_INT16_T",
                                              "MPI_INT32_T",
                                              "MPI_INT64_T",
                                              "MPI_UINT8_T",
                                              "MPI_UINT16_T",
                                              "MPI_UINT32_T",
                                              "MPI_UINT64_T",
                                              "MPI_BYTE",
                                              "MPI_C_FLOAT_COMPLEX",
                                              "MPI_C_DOUBLE_COMPLEX",
                                              "MPI_C_LONG_DOUBLE_COMPLEX",
                                              "MPI_AINT",
                                              "MPI_OFFSET",
                                              "MPI_COUNT",
                                              "MPI_FLOAT_INT",
                                              "MPI_LONG_INT",
                                              "MPI_DOUBLE_INT",
                                              "MPI_SHORT_INT",
                                              "MPI_2INT",
                                              "MPI_LONG_DOUBLE_INT",
                                              "MPI_2FLOAT",
                                              "MPI_2DOUBLE",
                                              "MPI_REAL",
                                              "MPI_REAL4",
                                              "MPI_REAL8",
                                              "MPI_REAL16",
                                              "MPI_COMPLEX8",
                                              "MPI_COMPLEX16",
                                              "MPI_COMPLEX32",
                                              "MPI_INTEGER1",
                                              "MPI_INTEGER2",
                                              "MPI_INTEGER4",
                                              "MPI_INTEGER8",
                                              "MPI_INTEGER16"};
  return NAMES;
}

const std::vector<std::string>& known_operations()
{
  static const std::vector<std::string> NAMES{"MPI_SUM",  "MPI_PROD", "MPI_MAX",    "MPI_MIN",
                                              "MPI_LAND", "MPI_LOR",  "MPI_LXOR",   "MPI_BAND",
                                              "MPI_BOR",  "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
  return NAMES;
}

/** The names at @p key; throws at the first that is not among @p known. */
std::vector<std::string> read_names(const OptionTable& row, const std::string& key,
                                    const std::vector<std::string>& known)
{
  std::vector<std::string> names = *row.texts(key);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      row.fail(key, "found \"" + name + "\"; " + did_you_mean(name, known) +
                        "allowed: MPI's names of what is predefined, as " + known.front());
  return names;
}

/** The [[offload]] tables: they replace a preset's, so that a file can also take abilities away. */
void read_capabilities(const OptionTable& table, SwitchModel& model)
{
  if (not table.has("offload"))
    return;
  model.capabilities.clear();
  std::vector<std::string> keys;
  for (const OptionHelp& option : capability_options())
    keys.push_back(option.key);
  for (const OptionTable& row : table.tables("offload")) {
    row.allow_only(keys);
    for (const OptionHelp& option : capability_options())
      if (not row.has(option.key))
        row.fail(option.key, "is missing; it says: " + option.meaning);
    model.capabilities.push_back({*row.text("collective"), read_names(row, "datatypes", known_datatypes()),
                                  read_names(row, "operations", known_operations())});
    if (model.capabilities.back().collective != "allreduce")
      row.fail("collective", "found \"" + model.capabilities.back().collective + "\"; allowed: allreduce");
  }
}

} // namespace

namespace {

/** Throws where a smart switch lacks a value, or promises more slots than it has. */
void check_smart(const OptionTable& table, const SwitchModel& model)
{
  if (not model.smart())
    return;
  if (model.channels == 0 || model.slots == 0 || model.payload == Bytes{})
    table.fail("offload", "a smart switch needs channels, slots and payload as well; give them, or name a preset");
  const auto promised = static_cast<std::int64_t>(model.channels) * model.slots;
  if (model.total_slots != 0 && promised > model.total_slots)
    table.fail("slots", std::to_string(model.channels) + " channels of " + std::to_string(model.slots) +
                            " slots need " + std::to_string(promised) + ", and the switch has " +
                            std::to_string(model.total_slots) + " (total_slots); take fewer channels or slots");
}

} // namespace

SwitchModel read_switch(const OptionTable& table)
{
  auto model = read_device<SwitchModel>(table, "switch", switch_options(), {"offload"}, read_capabilities);
  check_smart(table, model);
  return model;
}

SwitchModel read_switch(const OptionTable& table, const SwitchModel& standard, std::vector<std::string> others)
{
  others.emplace_back("offload");
  auto model =
      read_device<SwitchModel>(table, "switch", switch_options(), std::move(others), read_capabilities, &standard);
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

PacketTrain packet_train(const SwitchModel& model, Bytes message)
{
  const auto packets = static_cast<std::int64_t>(std::ceil(message / model.payload));
  return {packets, message + model.packet_overhead * static_cast<double>(packets),
          std::min<std::int64_t>(packets, model.slots)};
}

Seconds streaming_time(const SwitchModel& model, Bytes message, BytesPerSecond line_rate, Seconds turnaround)
{
  const PacketTrain train = packet_train(model, message);
  // Packets before the last window; each window of them costs at least one turnaround.
  const std::int64_t windows_before = (train.packets - 1) / model.slots;
  const Bytes before                = model.window() * static_cast<double>(windows_before);
  const Seconds window_on_link      = packet_train(model, model.window()).wire / line_rate;
  const Seconds last_on_link        = packet_train(model, message - before).wire / line_rate;
  return std::max(turnaround, window_on_link) * static_cast<double>(windows_before) + last_on_link;
}

} // namespace weft
