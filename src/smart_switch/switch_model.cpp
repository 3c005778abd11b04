#include "smart_switch/switch_model.hpp"

#include "base/share.hpp"
#include "kinds/collective_kind.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string_view>
#include <tuple>

namespace weft {

namespace {

constexpr std::string_view ALL         = "all";
constexpr std::string_view FIXED_POINT = "fixed-point";

bool has(const std::vector<std::string>& names, std::string_view name)
{
  return std::ranges::find(names, name) != names.end();
}

bool allows(const std::vector<std::string>& names, const std::string& name)
{
  return has(names, ALL) || has(names, name);
}

/** Those that switches do with the data. */
const std::vector<std::string>& reductions()
{
  static const std::vector<std::string> NAMES =
      collective_names([](const CollectiveKind& kind) { return kind.offloadable() && kind.reduces; });
  return NAMES;
}

bool is_reduction(const std::string& name)
{
  return has(reductions(), name);
}

} // namespace

const std::vector<std::string>& offloadable_collectives()
{
  static const std::vector<std::string> NAMES =
      collective_names([](const CollectiveKind& kind) { return kind.offloadable(); });
  return NAMES;
}

Unsupported Capability::lacks(const std::string& collective, const std::string& datatype,
                              const std::string& operation) const
{
  if (not has(collectives, collective))
    return Unsupported::collective;
  if (not is_reduction(collective))
    return Unsupported::none;
  if (not allows(datatypes, datatype))
    return Unsupported::datatype;
  // A replayed trace does not say with which operation.
  return operation.empty() || allows(operations, operation) ? Unsupported::none : Unsupported::operation;
}

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
  static const Need IF_SMART = Need::otherwise("needed by a smart switch");
  static const std::vector<Option<M>> ROWS{
      {"max_ports", "number of ports, so at most as many cables", &M::max_ports},
      {"forwarding_latency", "delay of a packet that is only forwarded, port to port", &M::forwarding_latency,
       Need::required, Allowed::non_negative},
      {"processing_latency", "smart: from the last contribution's arrival to the result's departure",
       &M::processing_latency, Need::optional, Allowed::non_negative},
      {"turnaround", "smart: from a slot's use by one packet to its use by the next", &M::turnaround, Need::optional,
       Allowed::non_negative},
      {"channels", "smart: communicators offloaded at the same time", &M::channels, IF_SMART},
      {"slots", "smart: aggregation slots of a channel", &M::slots, IF_SMART},
      {"total_slots", "smart: slots of the switch, which its channels share out", &M::total_slots,
       Need::otherwise("unlimited")},
      {"payload", "smart: payload of an offload packet, one slot's size", &M::payload, IF_SMART},
      {"packet_overhead", "smart: headers, preamble and gap of an offload packet", &M::packet_overhead, Need::optional,
       Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<Capability>>& capability_options()
{
  using M = Capability;
  static const std::vector<Option<M>> ROWS{
      {"collectives", "what a switch does: " + join(offloadable_collectives()) + "; or \"all\"", &M::collectives},
      {"datatypes", "reductions: MPI's names of the datatypes that it does them on, or \"all\"", &M::datatypes,
       Need::otherwise("needed with a reduction")},
      {"operations", "reductions: MPI's names of the operations that it does them with, or \"all\"", &M::operations,
       Need::otherwise("needed with a reduction")},
      {"conversion", "reductions: the hosts convert MPI_FLOAT to integers and back", &M::conversion,
       Need::otherwise("none"), Allowed::one_of({std::string(FIXED_POINT)})},
      {"conversion_rate", "a host's rate of that, both ways together", &M::conversion_rate,
       Need::otherwise("needed with a conversion")},
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
                                              "MPI_CXX_BOOL",
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
                                              "MPI_2LONG",
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

/** Throws at the first of the @p names at @p key that is not among @p known; @p allowed says what is. "all" stands
 *  alone. */
void check_names(const OptionTable& row, const std::string& key, const std::vector<std::string>& names,
                 const std::vector<std::string>& known, const std::string& allowed)
{
  for (const std::string& name : names) {
    if (name == ALL && names.size() > 1)
      row.fail(key, R"(found "all" beside other names; allowed: ["all"] alone, or names without it)");
    if (name != ALL && not has(known, name))
      row.fail(key, "found \"" + name + "\"; " + did_you_mean(name, known).append("allowed: ").append(allowed));
  }
}

/** Datatypes and operations are what reductions are limited to, and nothing else is. */
void check_limits(const OptionTable& row, const Capability& capability)
{
  const bool reduces        = std::ranges::any_of(capability.collectives, is_reduction);
  const std::string allowed = "MPI's names of what is predefined, as ";
  for (const auto& [key, names, known] : {std::tuple{"datatypes", &capability.datatypes, &known_datatypes()},
                                          std::tuple{"operations", &capability.operations, &known_operations()}}) {
    if (reduces && names->empty())
      row.fail(key, "is missing; a row with a reduction (" + join(reductions()) + ") needs it");
    if (not reduces && not names->empty())
      row.fail(key, "found " + row.found(key) + "; allowed only in a row with a reduction (" + join(reductions()) +
                        "): other collectives move bytes, whatever those are; leave it out");
    check_names(row, key, *names, *known, allowed + known->front() + "; or \"all\"");
  }
}

/** What smart_switch/fixed_point.hpp can do: sums of single-precision numbers. */
void check_conversion(const OptionTable& row, const Capability& capability)
{
  const bool converts = not capability.conversion.empty();
  if (converts != row.has("conversion_rate"))
    row.fail(converts ? "conversion_rate" : "conversion", "is missing; conversion and conversion_rate go together");
  if (not converts)
    return;
  const std::vector<std::string> floats{"MPI_FLOAT", "MPI_REAL", "MPI_REAL4"};
  if (not std::ranges::all_of(capability.collectives, is_reduction))
    row.fail("collectives", "found " + row.found("collectives") + "; allowed with a conversion: reductions (" +
                                join(reductions()) + "); give the others a row of their own");
  if (not std::ranges::all_of(capability.datatypes, [&](const std::string& name) { return has(floats, name); }))
    row.fail("datatypes", "found " + row.found("datatypes") + "; allowed with a conversion: " + join(floats));
  if (capability.operations != std::vector<std::string>{"MPI_SUM"})
    row.fail("operations", "found " + row.found("operations") + "; allowed with a conversion: [\"MPI_SUM\"]");
}

} // namespace

std::vector<std::string> checked_collectives(const OptionTable& row, const std::vector<std::string>& names)
{
  check_names(row, "collectives", names, offloadable_collectives(), join(offloadable_collectives()) + "; or \"all\"");
  return has(names, ALL) ? offloadable_collectives() : names;
}

namespace {

Capability read_capability(const OptionTable& row)
{
  Capability capability;
  require_options(row, capability_options(), read_options(row, capability_options(), {}, capability));
  capability.collectives = checked_collectives(row, capability.collectives);
  check_limits(row, capability);
  check_conversion(row, capability);
  return capability;
}

/** The [[offload]] tables: they replace a preset's, so that a file can also take abilities away. */
void read_capabilities(const OptionTable& table, SwitchModel& model)
{
  if (not table.has("offload"))
    return;
  model.capabilities.clear();
  for (const OptionTable& row : table.tables("offload"))
    model.capabilities.push_back(read_capability(row));
}

/** The tables within a [switch] table. */
void read_tables(const OptionTable& table, SwitchModel& model)
{
  read_capabilities(table, model);
  if (table.has("forwarding"))
    model.forwarding = read_forwarding(table.table("forwarding"), model.forwarding);
}

/** Throws where a smart switch lacks a value, or promises more slots than it has. */
void check_smart(const OptionTable& table, const SwitchModel& model)
{
  if (const std::string problem = lacking(model); not problem.empty())
    table.fail(model.channels == 0 || model.slots == 0 || model.payload == Bytes{} ? "offload" : "slots", problem);
}

/** Names of MPI's have nothing in them that TOML would read as its own. */
std::string checked_words(const std::string& words, const std::string& place)
{
  constexpr std::string_view ALLOWED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-,";
  if (words.find_first_not_of(ALLOWED) != std::string::npos)
    throw UserError(place + ": found \"" + words + "\"; allowed: names with commas between, as MPI_INT,MPI_LONG");
  return words;
}

/** "a,b" as a list of TOML's. */
std::string toml_list(const std::string& words, const std::string& place)
{
  std::string list;
  std::istringstream text(checked_words(words, place));
  for (std::string name; std::getline(text, name, ',');)
    list.append(list.empty() ? "[\"" : ", \"").append(name).append("\"");
  return list.empty() ? "[]" : list + "]";
}

/** One row of the text as the table of a file. */
std::string toml_row(const std::string& row, const std::string& place)
{
  std::istringstream text(row);
  const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  if (words.size() != 1 && words.size() != 3 && words.size() != 5)
    throw UserError(place + ": found \"" + row +
                    "\"; allowed: rows with semicolons between, each of collectives, or of collectives, datatypes and "
                    "operations, and further a conversion and its rate: \"allreduce,reduce MPI_INT MPI_SUM; barrier\"");
  std::string toml = "[[offload]]\ncollectives = " + toml_list(words[0], place) + "\n";
  if (words.size() > 1)
    toml += "datatypes = " + toml_list(words[1], place) + "\noperations = " + toml_list(words[2], place) + "\n";
  if (words.size() > 3) {
    if (words[4].find_first_not_of("0123456789.eE+-kKMGTiBbps") != std::string::npos)
      throw UserError(place + ": found \"" + words[4] + "\"; allowed: a bandwidth, as 9.9GBps");
    const bool plain = words[4].find_first_not_of("0123456789.eE+-") == std::string::npos;
    toml += "conversion = \"" + checked_words(words[3], place) + "\"\n";
    toml += "conversion_rate = \"" + words[4] + (plain ? "Bps" : "") + "\"\n";
  }
  return toml;
}

} // namespace

std::vector<Capability> parse_capabilities(const std::string& text, const std::string& place)
{
  std::string toml;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, ';');)
    toml += toml_row(row, place);
  SwitchModel model;
  read_capabilities(OptionTable::read_text(toml, place), model);
  return model.capabilities;
}

std::string lacking(const SwitchModel& model)
{
  if (not model.smart())
    return {};
  if (model.channels == 0 || model.slots == 0 || model.payload == Bytes{})
    return "a smart switch needs channels, slots and payload as well; give them, or name a preset";
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

Seconds streaming_time(const SwitchModel& model, double packets, Seconds on_link, Seconds turnaround)
{
  if (packets < 1)
    return on_link;
  const double windows_before  = std::floor((packets - 1) / model.slots);
  const double window          = model.slots / packets;
  const Seconds window_on_link = on_link * window;
  return std::max(turnaround, window_on_link) * windows_before + on_link * (1 - windows_before * window);
}

} // namespace weft
