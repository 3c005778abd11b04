// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/file/fabric_schema.hpp"

#include "fabric/fabric_tables.hpp"
#include "fabric/policy.hpp"
#include "fabric/topology/topology.hpp"
#include "model/host/mpi_model.hpp"
#include "model/host/multicast_model.hpp"
#include "model/nic/nic_model.hpp"
#include "model/nic/progress_engine.hpp"
#include "model/noise/noise_model.hpp"
#include "model/switch/switch_model.hpp"

namespace weft {

namespace {

/** Returns the keys of a table that may name a preset of @p kind; none is required, since the preset may set them. */
std::vector<OptionHelp> with_preset(const std::string& kind, std::vector<OptionHelp> options)
{
  options.insert(options.begin(),
                 {"preset", "text", "a shipped " + kind + ", whose values the table's own override", false, "none"});
  return options;
}

/** Returns the keys of a table of exceptions to the table @p rule: the pattern and the same keys, none required. */
std::vector<OptionHelp> with_match(const std::string& rule, std::vector<OptionHelp> options)
{
  for (OptionHelp& option : options) {
    option.required  = false;
    option.otherwise = "as in [" + rule + "]";
  }
  options.insert(options.begin(),
                 {"match", "text", "names that the table is for: one name, or a pattern with * and ?", true});
  return options;
}

} // namespace

std::vector<TableHelp> fabric_schema()
{
  std::vector<TableHelp> schema{{"fabric", "what the fabric is called", describe_options(about_options())},
                                {"topology",
                                 "how hosts and switches are laid out",
                                 {{"kind", "text", "the topology, see below", true, "", "", topology_names()}}}};
  for (const TopologyKind& row : topology_kinds())
    schema.push_back({"topology." + row.name, row.meaning, row.options});
  schema.push_back({"host", "every host", with_preset("host", describe_options(host_options()))});
  schema.push_back({"nic", "every host's network interface", with_preset("NIC", describe_options(nic_options()))});
  schema.push_back({"nic.calls", "costs of larger offloaded calls, by size, as [[nic.calls]]; replaces a preset's",
                    describe_options(nic_calls_options())});
  schema.push_back({"link", "every cable", describe_options(link_options())});
  schema.push_back({"links", "cables whose names match, as [[links]]: values that differ from [link]'s",
                    with_match("link", describe_options(link_options()))});
  schema.push_back(
      {"shared", "what several links pass beside themselves, as [[shared]]", describe_options(shared_options())});
  schema.push_back({"switch", "every switch", with_preset("switch", describe_options(switch_options()))});
  schema.push_back({"switch.offload", "smart: what a switch executes, as [[switch.offload]]; replaces a preset's",
                    describe_options(capability_options())});
  schema.push_back(
      {"switch.forwarding", "how a switch finds the port of a packet", describe_options(forwarding_options())});
  schema.push_back({"switches", "switches whose names match, as [[switches]]: values that differ from [switch]'s",
                    with_match("switch", with_preset("switch", describe_options(switch_options())))});
  schema.push_back({"switches.offload", "the same of these switches, as [[switches.offload]]",
                    describe_options(capability_options())});
  schema.push_back({"switches.forwarding", "the same of these switches, as [switches.forwarding]",
                    describe_options(forwarding_options())});
  schema.push_back({"point_to_point", "factors of point-to-point messages by size, as [[point_to_point]]",
                    describe_options(point_to_point_options())});
  schema.push_back({"mpi", "what the hosts' MPI library adds to messages",
                    with_preset("library's messages", describe_options(mpi_options()))});
  schema.push_back({"mpi.overheads", "the same of larger messages, by size, as [[mpi.overheads]]",
                    describe_options(mpi_overheads_options())});
  schema.push_back({"progress_engine", "who does the multicast protocol's work at every host",
                    with_preset("progress engine", describe_options(progress_engine_options()))});
  schema.push_back(
      {"progress_engines", "hosts whose names match, as [[progress_engines]]: values that differ",
       with_match("progress_engine", with_preset("progress engine", describe_options(progress_engine_options())))});
  schema.push_back({"policy", "what --offload auto does, by collective and size, as [[policy]]; the first that holds",
                    describe_options(policy_options())});
  schema.push_back(
      {"multicast", "how the hosts multicast, with --offload multicast", describe_options(multicast_options())});
  schema.push_back(
      {"multicast.drops", "chunks that get lost, as [[multicast.drops]]", describe_options(drop_options())});
  schema.push_back(
      {"noise", "what makes runs vary; where it is absent, nothing does", describe_options(noise_options())});
  schema.push_back({"noise.host", "how cores are taken away from their programs, as [[noise.host]]",
                    describe_options(host_noise_options())});
  schema.push_back({"noise.link", "how much later messages arrive than on a quiet link, as [[noise.link]]",
                    describe_options(link_noise_options())});
  schema.push_back({"calibration", "what a calibration leaves open", {}});
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
