// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/file/fabric_schema.hpp"

#include "fabric/fabric_test.hpp"

#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Converts to any type. */
struct Anything {
  template <class T> operator T() const;
};

/** Returns the number of members of an aggregate. */
template <class T, class... Values> consteval std::size_t count_members()
{
  if constexpr (requires { T{Values()..., Anything()}; })
    return count_members<T, Values..., Anything>();
  else
    return sizeof...(Values);
}

/** Returns a valid value of a row: the last allowed one if they are listed. */
std::string sample(const OptionHelp& row)
{
  if (not row.names.empty())
    return '"' + row.names.back() + '"';
  static const std::map<std::string, std::string> SAMPLES{
      {"integer", "7"},          {"number", "7.5"},        {"size", "\"7B\""},       {"duration", "\"7us\""},
      {"bandwidth", "\"7Bps\""}, {"speed", "\"7f\""},      {"frequency", "\"7Hz\""}, {"text", "\"seven\""},
      {"integers", "[7]"},       {"texts", "[\"seven\"]"}, {"frequency", "\"7Hz\""}};
  return SAMPLES.at(row.type);
}

/** Expects each row to set a distinct member, and all members but @p others to have a row. */
template <class T> void expect_complete(const std::vector<Option<T>>& rows, std::size_t others)
{
  EXPECT_EQ(rows.size() + others, count_members<T>());
  const std::vector<OptionHelp> help = describe_options(rows);
  for (std::size_t given = 0; given < rows.size(); ++given) {
    static const T STANDARD{};
    std::string value = sample(help[given]);
    if (value == rows[given].text(STANDARD))
      value = '"' + help[given].names.front() + '"';
    const TestFile file(rows[given].key + " = " + value);
    T options{};
    EXPECT_EQ(read_options(OptionTable::read_file(file.path()), rows, {}, options), std::set{rows[given].key});
    for (const Option<T>& row : rows) {
      const bool changed = row.text(options) != row.text(STANDARD);
      EXPECT_EQ(changed, row.key == rows[given].key) << rows[given].key << " and the member of " << row.key;
    }
  }
}

TEST(Schema, ReachesEveryMember)
{
  expect_complete(host_options(), 1); // preset
  expect_complete(nic_options(), 4);  // preset, its calls, the locations of two keys
  expect_complete(nic_calls_options(), 0);
  expect_complete(switch_options(), 3); // preset, capabilities, forwarding
  expect_complete(forwarding_options(), 0);
  expect_complete(capability_options(), 0);
  expect_complete(link_options(), 0);
  expect_complete(point_to_point_options(), 0);
  expect_complete(mpi_options(), 2); // preset, its overheads
  expect_complete(mpi_overheads_options(), 0);
  expect_complete(policy_options(), 0);
  expect_complete(routing_options(), 0);
  expect_complete(progress_engine_options(), 2); // preset, location
  expect_complete(disk_options(), 0);
  expect_complete(storage_options(), 0);
}

/** Returns values for keys that depend on each other, by "table.key". */
const std::map<std::string, std::string>& fitting_samples()
{
  static const std::map<std::string, std::string> SAMPLES{
      {"topology.kind", "\"star\""},
      {"routing.policy", "\"adaptive\""},
      {"host.preset", "\"xeon-8360\""},
      {"host.unmeasured", "[\"copy_rate\"]"},
      {"mpi.preset", "\"openmpi-ucx-roce\""},
      {"nic.preset", "\"connectx-6-dx\""},
      {"nic.contributions", "\"per-host\""},
      {"switch.preset", "\"tofino\""},
      {"switch.total_slots", "49"},
      {"switch.offload.collectives", "[\"allreduce\"]"},
      {"switch.offload.datatypes", "[\"MPI_FLOAT\"]"},
      {"switch.offload.operations", "[\"MPI_SUM\"]"},
      {"switch.offload.conversion", "\"fixed-point\""},
      {"switch.forwarding.kind", "\"cache\""},
      {"switch.forwarding.replacement", "\"fifo\""},
      {"switch.forwarding.hash", "\"crc\""},
      {"links.match", "\"*\""},
      {"links.port", "3"},
      {"network.resolution", "\"1us\""},
      {"network.coarse_resolution", "\"allowed\""},
      {"network.ecn_probability", "0.7"},
      {"network.dcqcn.g", "0.7"},
      {"network.dcqcn.initial_alpha", "0.7"},
      {"network.infiniband.ccti_min", "1"},
      {"network.infiniband.ccti_limit", "1"},
      {"network.infiniband.cct", "\"0:0,0:7\""},
      {"network.nscc.gamma", "0.7"},
      {"network.nscc.largest_cut", "0.7"},
      {"network.nscc.delay_weight", "0.7"},
      {"network.nscc.quick_adapt", "0.7"},
      {"network.swift.beta", "0.7"},
      {"network.timely.weight", "0.7"},
      {"network.timely.beta", "0.7"},
      {"network.swift.largest_cut", "0.7"},
      {"shared.links", "[\"host-0.up\"]"},
      {"switches.match", "\"*\""},
      {"switches.preset", "\"l2\""},
      {"switches.total_slots", "49"},
      {"switches.offload.collectives", "[\"allreduce\"]"},
      {"switches.offload.datatypes", "[\"MPI_FLOAT\"]"},
      {"switches.offload.operations", "[\"MPI_SUM\"]"},
      {"switches.offload.conversion", "\"fixed-point\""},
      {"switches.forwarding.kind", "\"cache\""},
      {"switches.forwarding.replacement", "\"fifo\""},
      {"switches.forwarding.hash", "\"crc\""},
      {"point_to_point.from", "\"0B\""},
      {"progress_engine.preset", "\"bluefield-3-dpa\""},
      {"progress_engine.host_cores", "6"}, // fewer than the host's
      {"progress_engines.host_cores", "6"},
      {"progress_engines.match", "\"host-0\""},
      {"progress_engines.preset", "\"epyc-7413-core\""},
      {"policy.collectives", "[\"reduce\"]"},
      {"policy.below", "\"8B\""},
      {"policy.offload", "\"stream\""},
      {"multicast.transport", "\"uc\""},
      {"multicast.chain_map", "\"ranks\""},
      {"multicast.slow_branch", "\"buffer\""},
      {"multicast.drops.probability", "0.7"},
      {"multicast.drops.link", "\"host-0\""},
      {"noise.host.match", "\"*\""},
      {"noise.host.detour", "\"1us\""},
      {"noise.link.match", "\"*\""},
      {"disk.mount", "\"/seven\""},
      {"storage.hosts", "[\"host-6\"]"},
      {"storage.metadata_host", "\"host-5\""},
      {"nccl.NCCL_ALGO", "\"ring\""},
      {"nccl.graph.of", "\"ring\""},
      {"nccl.graph.gpus", "7"},
      {"nccl.message.from", "\"0B\""},
      {"nccl.NCCL_PROTO", "\"Simple\""},
  };
  return SAMPLES;
}

bool is_list(const std::string& table)
{
  return table.ends_with("offload") || table.ends_with("drops") || table.ends_with("overheads") ||
         table.ends_with("calls") || table.ends_with("graph") || table.ends_with("message") || table == "links" ||
         table == "shared" || table == "switches" || table == "point_to_point" || table == "policy" ||
         table == "progress_engines" || table.starts_with("noise.");
}

/** Returns a fabric file with every key of the schema, on a star. */
std::string everything()
{
  std::string text;
  for (const TableHelp& table : fabric_schema()) {
    const bool of_a_kind = table.table.starts_with("topology.");
    if (of_a_kind && table.table != "topology.star")
      continue;
    if (not of_a_kind) // the keys of a kind are in [topology]
      text += is_list(table.table) ? "[[" + table.table + "]]\n" : "[" + table.table + "]\n";
    for (const OptionHelp& option : table.options) {
      const auto fitting = fitting_samples().find(table.table + "." + option.key);
      text += option.key + " = " + (fitting != fitting_samples().end() ? fitting->second : sample(option)) + "\n";
    }
  }
  // NCCL always has a ring, for any number of GPUs.
  text += "[[nccl.graph]]\nof = \"ring\"\nchannels = 7\nintra = \"7Bps\"\ninter = \"7Bps\"\n";
  return text;
}

TEST(Schema, EveryKeyIsAcceptedAndHasItsEffect)
{
  const Fabric fabric = fabric_of(everything());
  EXPECT_EQ(fabric.name(), "seven");
  EXPECT_EQ(fabric.description(), "seven");
  EXPECT_EQ(fabric.host_count(), 7);
  EXPECT_EQ(fabric.routing().policy, "adaptive");
  EXPECT_EQ(fabric.routing().seed, 7);
  EXPECT_EQ(fabric.routing().bias, 7.5);
  EXPECT_EQ(fabric.host().preset, "xeon-8360");
  EXPECT_EQ(fabric.host().cores, 7);
  EXPECT_EQ(fabric.nic().preset, "connectx-6-dx");
  EXPECT_EQ(fabric.nic().offload_copy_rate, BytesPerSecond(7));
  EXPECT_EQ(fabric.links().front().bandwidth, BytesPerSecond(7));
  ASSERT_EQ(fabric.switch_models().size(), 2);
  EXPECT_EQ(fabric.switch_models().front().preset, "tofino");
  EXPECT_EQ(fabric.switch_model(0).preset, "l2");
  for (const SwitchModel& model : fabric.switch_models()) {
    EXPECT_EQ(model.slots, 7);
    ASSERT_EQ(model.capabilities.size(), 1);
    EXPECT_EQ(model.capabilities.front().datatypes, std::vector<std::string>{"MPI_FLOAT"});
    EXPECT_EQ(model.capabilities.front().operations, std::vector<std::string>{"MPI_SUM"});
    EXPECT_EQ(model.capabilities.front().conversion, "fixed-point");
    EXPECT_EQ(model.capabilities.front().conversion_rate, BytesPerSecond(7));
    EXPECT_EQ(model.forwarding.shape().replacement, Replacement::fifo);
  }
  EXPECT_EQ(fabric.segments().front().bandwidth_factor, 7.5);
  ASSERT_TRUE(fabric.mpi().has_value());
  EXPECT_EQ(fabric.mpi()->send_copy_rate, BytesPerSecond(7));
  ASSERT_EQ(fabric.mpi()->overheads.size(), 1);
  EXPECT_EQ(fabric.mpi()->overheads.front().receive_copy_rate, BytesPerSecond(7));
  ASSERT_NE(fabric.progress_engine(1), nullptr);
  EXPECT_EQ(fabric.progress_engine(1)->clock, Hertz(7));
  EXPECT_EQ(fabric.progress_engine(1)->preset, "bluefield-3-dpa");
  EXPECT_EQ(fabric.progress_engine(0)->preset, "epyc-7413-core");
  EXPECT_EQ(fabric.policy_for("reduce", Bytes(7)), OffloadMode(mechanism_kind("stream")));
  EXPECT_EQ(fabric.multicast().chunk, Bytes(7));
  ASSERT_EQ(fabric.multicast().drops.size(), 1);
  EXPECT_EQ(fabric.multicast().drops.front().receiver, 7);
  EXPECT_DOUBLE_EQ(fabric.resolution().time.value(), 1e-6);
  EXPECT_TRUE(fabric.packets().carries());
  EXPECT_EQ(fabric.packets().headroom, Bytes(7));
  EXPECT_EQ(fabric.packets().swift.beta, 0.7);
  ASSERT_TRUE(fabric.disk() && fabric.storage());
  EXPECT_EQ(fabric.disk()->mount, "/seven");
  EXPECT_EQ(fabric.storage()->host_of, std::vector<int>(7, 6));
  EXPECT_EQ(fabric.storage()->metadata, 5);
  EXPECT_EQ(fabric.storage()->model.stripe_size, Bytes(7));
}

/** Value of every key of a topology, by key; "TABLE.KEY" is a key of a [[topology.TABLE]]. */
using Samples = std::map<std::string, std::string>;

/** Returns samples by topology. */
const std::map<std::string, Samples>& topology_samples()
{
  static const Samples GRID{
      {"dimensions", "[3, 3]"}, {"hosts_per_switch", "2"}, {"cables", "2"}, {"link_aggregation", "\"crc\""}};
  static const std::map<std::string, Samples> SAMPLES{
      {"star", {{"hosts", "4"}}},
      {"fat_tree",
       {{"down", "[4, 2]"}, {"up", "[1, 2]"}, {"cables", "[1, 2]"}, {"hosts", "7"}, {"link_aggregation", "\"crc\""}}},
      {"dragonfly",
       {{"groups", "3"},
        {"chassis", "2"},
        {"routers", "2"},
        {"hosts", "2"},
        {"global_cables", "2"},
        {"chassis_cables", "2"},
        {"router_cables", "2"},
        {"link_aggregation", "\"crc\""}}},
      {"gpu_cluster",
       {{"nodes", "4"},
        {"gpus", "4"},
        {"inside", "\"nvswitch\""},
        {"nics", "2"},
        {"planes", "2"},
        {"global_cables", "1"},
        {"nodes_per_unit", "2"},
        {"spines", "2"},
        {"network", "\"rail-only\""}}},
      {"torus", GRID},
      {"mesh", GRID},
      {"custom",
       {{"hosts", "[\"a\"]"},
        {"switches", "[\"s\"]"},
        {"cables.between", "[\"a\", \"s\"]"},
        {"cables.count", "2"},
        {"link_aggregation", "\"crc\""}}},
  };
  return SAMPLES;
}

/** Returns FABRIC with its topology replaced by @p kind, with all its keys and @p more in [topology]. */
std::string on_topology(const TopologyKind& kind, const std::string& more = "")
{
  std::string keys = "kind = \"" + kind.name + "\"\n" + more;
  std::string tables;
  for (const OptionHelp& option : kind.options) {
    const std::size_t dot = option.key.find('.');
    const auto& samples   = topology_samples().at(kind.name);
    if (option.type == "tables")
      tables += "[[topology." + option.key + "]]\n";
    else if (not(kind.name == "gpu_cluster" && option.key == "routers")) // excludes spines
      (dot == std::string::npos ? keys : tables) += option.key.substr(dot + 1) + " = " + samples.at(option.key) + "\n";
  }
  return replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4\n", keys + tables), "max_ports = 8", "max_ports = 99");
}

/** Returns the allowed keys that an error about an unknown key lists. */
std::set<std::string> allowed_keys(const std::string& message)
{
  static const std::string BEFORE = "allowed: ";
  std::set<std::string> keys;
  const std::size_t at = message.find(BEFORE);
  if (at == std::string::npos)
    return keys;
  std::istringstream list(message.substr(at + BEFORE.size()));
  for (std::string key; std::getline(list >> std::ws, key, ',');)
    keys.insert(key);
  return keys;
}

TEST(Schema, EveryTopologyAcceptsItsKeysAndNoOthers)
{
  for (const TopologyKind& kind : topology_kinds()) {
    EXPECT_EQ(fabric_of(on_topology(kind)).topology_kind(), kind.name);
    std::set<std::string> keys{"kind"};
    for (const OptionHelp& option : kind.options)
      if (option.key.find('.') == std::string::npos)
        keys.insert(option.key);
    EXPECT_EQ(allowed_keys(fabric_message(on_topology(kind, "quux = 1\n"))), keys) << kind.name;
  }
}

TEST(Schema, DescribesTheDefaultsOfOptionalKeys)
{
  for (const TableHelp& table : fabric_schema())
    for (const OptionHelp& option : table.options)
      EXPECT_EQ(option.required, option.otherwise.empty()) << table.table << "." << option.key;
}

TEST(Schema, ListsEveryKeyThatIsAccepted)
{
  std::map<std::string, std::set<std::string>> listed;
  for (const TableHelp& table : fabric_schema())
    for (const OptionHelp& option : table.options) {
      const std::string name = table.table == "topology.star" ? "topology" : table.table;
      listed[name].insert(option.key);
      if (const std::size_t dot = name.find('.'); not name.starts_with("topology") && dot != std::string::npos)
        listed[name.substr(0, dot)].insert(name.substr(dot + 1));
    }
  for (const auto& [table, keys] : listed) {
    if (table.starts_with("topology."))
      continue;
    const std::string header = is_list(table) ? "[[" + table + "]]\n" : "[" + table + "]\n";
    const std::string text   = replaced(everything(), header, header + "quux = 1\n");
    EXPECT_EQ(allowed_keys(fabric_message(text)), keys) << table;
  }
}

} // namespace
} // namespace weft
