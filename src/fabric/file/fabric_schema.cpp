// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/file/fabric_schema.hpp"

#include "fabric/fabric_tables.hpp"
#include "fabric/policy.hpp"
#include "fabric/routing/routing.hpp"
#include "fabric/topology/topology.hpp"
#include "model/host/host_model.hpp"
#include "model/host/mpi_model.hpp"
#include "model/host/multicast_model.hpp"
#include "model/link/link_model.hpp"
#include "model/nccl/nccl_machine.hpp"
#include "model/nic/nic_model.hpp"
#include "model/nic/progress_engine.hpp"
#include "model/noise/noise_model.hpp"
#include "model/packets/packet_model.hpp"
#include "model/storage/storage_model.hpp"
#include "model/switch/switch_model.hpp"

#include <utility>

namespace weft {

namespace {

/** Returns the keys of a table that may name a preset of @p kind. None is required, since the preset may set any of
 * them. */
std::vector<OptionHelp> with_preset(const std::string& kind, std::vector<OptionHelp> options)
{
  options.insert(options.begin(),
                 {"preset", "text", "a shipped " + kind + "; keys of this table override its values", false, "none"});
  return options;
}

/** Returns the keys of a table of exceptions to the table @p rule: the pattern and the same keys, none of them
 * required. */
std::vector<OptionHelp> with_match(const std::string& rule, std::vector<OptionHelp> options)
{
  for (OptionHelp& option : options) {
    option.required  = false;
    option.otherwise = "as in [" + rule + "]";
  }
  options.insert(options.begin(),
                 {"match", "text", "names that the table applies to: one name, or a pattern with * and ?", true});
  return options;
}

/** Returns the keys of [[links]]: the keys of [link], and a cable's port. */
std::vector<OptionHelp> links_table()
{
  std::vector<OptionHelp> options = with_match("link", describe_options(link_options()));
  for (OptionHelp& option : describe_options(cable_port_options()))
    options.push_back(std::move(option));
  return options;
}

/** Returns the keys of [link]: the keys of a cable, and how links are shared. */
std::vector<OptionHelp> link_table()
{
  std::vector<OptionHelp> options = describe_options(link_options());
  for (OptionHelp& option : describe_options(link_sharing_options()))
    options.push_back(std::move(option));
  return options;
}

/** Returns the keys of [network]: the keys of both models, then the keys of packets. */
std::vector<OptionHelp> network_table()
{
  std::vector<OptionHelp> options = describe_options(packet_options());
  for (OptionHelp& option : describe_options(network_options()))
    options.insert(options.begin() + 1, std::move(option));
  return options;
}

void add_nccl(std::vector<TableHelp>& schema)
{
  schema.push_back({"nccl", "GPUs and graphs that NCCL finds, where hosts are GPUs", describe_options(nccl_options())});
  schema.push_back({"nccl.graph", "channels and speeds of an algorithm of NCCL, as [[nccl.graph]]",
                    describe_options(nccl_graph_options())});
  schema.push_back({"nccl.message", "costs of NCCL's messages between nodes, as [[nccl.message]]",
                    describe_options(nccl_message_options())});
}

void add_network(std::vector<TableHelp>& schema)
{
  schema.push_back({"network", "model and precision of the simulated network", network_table()});
  schema.push_back(
      {"network.dcqcn", "parameters of congestion_control = \"dcqcn\"", describe_options(dcqcn_options())});
  schema.push_back({"network.infiniband", "parameters of congestion_control = \"infiniband\"",
                    describe_options(infiniband_options())});
  schema.push_back({"network.nscc", "parameters of congestion_control = \"nscc\"", describe_options(nscc_options())});
  schema.push_back(
      {"network.swift", "parameters of congestion_control = \"swift\"", describe_options(swift_options())});
  schema.push_back(
      {"network.timely", "parameters of congestion_control = \"timely\"", describe_options(timely_options())});
}

} // namespace

std::vector<TableHelp> fabric_schema()
{
  std::vector<TableHelp> schema{{"fabric", "name and description of the fabric", describe_options(about_options())},
                                {"topology",
                                 "arrangement of hosts and switches",
                                 {{"kind", "text", "topology, see below", true, "", "", topology_names()}}}};
  for (const TopologyKind& row : topology_kinds())
    schema.push_back({"topology." + row.name, row.meaning, row.options});
  schema.push_back({"routing", "routes of messages between hosts", describe_options(routing_options())});
  schema.push_back({"host", "every host", with_preset("host", describe_options(host_options()))});
  schema.push_back({"nic", "every host's network interface", with_preset("NIC", describe_options(nic_options()))});
  schema.push_back({"nic.calls",
                    "costs of larger offloaded calls by size, as [[nic.calls]]; replaces those of a preset",
                    describe_options(nic_calls_options())});
  schema.push_back({"link", "every cable", link_table()});
  schema.push_back({"links", "overrides of [link] for cables whose names match, as [[links]]", links_table()});
  schema.push_back({"shared", "bandwidth that several links share, as [[shared]]", describe_options(shared_options())});
  add_network(schema);
  schema.push_back({"switch", "every switch", with_preset("switch", describe_options(switch_options()))});
  schema.push_back({"switch.offload",
                    "smart: collectives that a switch executes, as [[switch.offload]]; replaces those of a preset",
                    describe_options(capability_options())});
  schema.push_back({"switch.forwarding", "forwarding lookup of a switch", describe_options(forwarding_options())});
  schema.push_back({"switches", "overrides of [switch] for switches whose names match, as [[switches]]",
                    with_match("switch", with_preset("switch", describe_options(switch_options())))});
  schema.push_back({"switches.offload", "as [switch.offload], for these switches: [[switches.offload]]",
                    describe_options(capability_options())});
  schema.push_back(
      {"switches.forwarding", "as [switch.forwarding], for these switches", describe_options(forwarding_options())});
  schema.push_back({"point_to_point", "factors of point-to-point messages by size, as [[point_to_point]]",
                    describe_options(point_to_point_options())});
  schema.push_back({"mpi", "message costs of the hosts' MPI library",
                    with_preset("library's messages", describe_options(mpi_options()))});
  schema.push_back({"mpi.overheads", "message costs of larger messages by size, as [[mpi.overheads]]",
                    describe_options(mpi_overheads_options())});
  schema.push_back({"progress_engine", "progress engine of the multicast protocol at every host",
                    with_preset("progress engine", describe_options(progress_engine_options()))});
  schema.push_back(
      {"progress_engines", "overrides of [progress_engine] for hosts whose names match, as [[progress_engines]]",
       with_match("progress_engine", with_preset("progress engine", describe_options(progress_engine_options())))});
  schema.push_back({"policy",
                    "choices of --offload auto by collective and size, as [[policy]]; the first match decides",
                    describe_options(policy_options())});
  schema.push_back({"multicast", "multicast protocol of --offload multicast", describe_options(multicast_options())});
  schema.push_back({"multicast.drops", "losses of chunks, as [[multicast.drops]]", describe_options(drop_options())});
  add_nccl(schema);
  schema.push_back({"noise", "random variation of runs; none without this table", describe_options(noise_options())});
  schema.push_back(
      {"noise.host", "OS noise: interruptions of cores, as [[noise.host]]", describe_options(host_noise_options())});
  schema.push_back({"noise.link", "link jitter: additional latency of messages, as [[noise.link]]",
                    describe_options(link_noise_options())});
  schema.push_back({"disk", "a disk at every host, for MPI files", describe_options(disk_options())});
  schema.push_back(
      {"storage", "parallel file system behind the network, for MPI files", describe_options(storage_options())});
  schema.push_back({"calibration", "uncertainty of a calibration", {}});
  schema.push_back({"calibration.intervals",
                    R"(by key, as "host.copy_rate" = ["1.9GBps", "2.4GBps"], the interval of a fitted value)",
                    {}});
  return schema;
}

std::vector<std::string> table_names()
{
  std::vector<std::string> names;
  for (const TableHelp& row : fabric_schema())
    if (row.table.find('.') == std::string::npos)
      names.push_back(row.table);
  return names;
}

} // namespace weft
