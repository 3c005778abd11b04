// SPDX-License-Identifier: LGPL-2.1-only
#include "base/share.hpp"
#include "collective/host/host_stage.hpp"
#include "fabric/analysis/description.hpp"
#include "fabric/fabric.hpp"
#include "fabric/file/fabric_schema.hpp"
#include "fabric/route_check.hpp"
#include "packets/deadlock/credit_cycles.hpp"
#include "python/bindings.hpp"
#include "python/rows.hpp"

#include <algorithm>
#include <ranges>

namespace weft::python {
namespace {

// Statics are constructed when the module is loaded: nothing could catch their exceptions.
// NOLINTBEGIN(bugprone-throwing-static-initialization)
const RowKind<"Offload", Capability> OFFLOAD{
    "Collectives that a switch executes, with the datatypes and operations of reductions. A conversion is done by the "
    "hosts (\"\" for none, with an infinite rate).",
    {{"collectives", &Capability::collectives},
     {"datatypes", &Capability::datatypes},
     {"operations", &Capability::operations},
     {"conversion", &Capability::conversion},
     {"conversion_rate_Bps", &Capability::conversion_rate}}};

struct NamedSwitch {
  std::string name;
  const SwitchModel* model;
};
/** Returns a getter for a value of the switch's model. */
template <class Get> auto of_model(Get get)
{
  return [get](const NamedSwitch& one) { return std::invoke(get, *one.model); };
}

/** Returns the fields of a switch: the keys of [switch], and what follows from them. */
std::vector<Field<NamedSwitch>> switch_fields()
{
  std::vector<Field<NamedSwitch>> fields{
      {"name", &NamedSwitch::name},
      {"preset", of_model(&SwitchModel::preset)},
      {"smart", of_model(&SwitchModel::smart)},
      {"looks_up_by", of_model([](const SwitchModel& model) { return model.forwarding.kind; })}};
  const auto model = [](const NamedSwitch& one) -> const SwitchModel& { return *one.model; };
  for (const Option<SwitchModel>& row : switch_options())
    if (row.key == "forwarding_latency")
      fields.emplace_back("forwarding_latency_s", of_model(&SwitchModel::hop_latency));
    else
      fields.emplace_back(row, model);
  fields.emplace_back("window_bytes", of_model(&SwitchModel::window));
  fields.emplace_back("offload", of_model([](const SwitchModel& of) { return OFFLOAD.all(of.capabilities); }));
  return fields;
}

const RowKind<"Switch", NamedSwitch> SWITCH{
    "One switch; fields from `processing_latency_s` on apply to smart switches only.", switch_fields()};

/** Returns the keys that switches of platforms have as properties, each with the field of a switch. */
std::vector<std::pair<std::string, std::string>> property_keys()
{
  std::vector<std::pair<std::string, std::string>> keys;
  for (const Option<SwitchModel>& row : switch_properties())
    keys.emplace_back(row.key, row.key + unit_suffix(row.type));
  return keys;
}

const RowKind<"Host", HostModel> HOST{"Parameters of every host.",
                                      {{"preset", &HostModel::preset},
                                       {"speed_flops", &HostModel::speed},
                                       {"cores", &HostModel::cores},
                                       {"sockets", &HostModel::sockets},
                                       {"intersocket_latency_s", &HostModel::intersocket_latency},
                                       {"intersocket_rate_Bps", &HostModel::intersocket_rate},
                                       {"shared_cache_bandwidth_Bps", &HostModel::shared_cache_bandwidth},
                                       {"loopback_bandwidth_Bps", &HostModel::loopback_bandwidth},
                                       {"loopback_latency_s", &HostModel::loopback_latency},
                                       {"memory_bandwidth_Bps", &HostModel::memory_bandwidth},
                                       {"single_copy_threshold_bytes", &HostModel::single_copy_threshold},
                                       {"cache_size_bytes", &HostModel::cache_size},
                                       {"message_overhead_s", &HostModel::message_overhead},
                                       {"copy_rate_Bps", &HostModel::copy_rate},
                                       {"piece_overhead_s", &HostModel::piece_overhead},
                                       {"reduction_rate_Bps", &HostModel::reduction_rate},
                                       {"core_cache_size_bytes", &HostModel::core_cache_size},
                                       {"shared_cache_rate_Bps", &HostModel::shared_cache_rate},
                                       {"core_memory_rate_Bps", &HostModel::core_memory_rate},
                                       {"unmeasured", &HostModel::unmeasured}}};

const RowKind<"NicCalls", NicCalls> NIC_CALLS{"Costs of offloaded calls from a size on, instead of those of `Nic`.",
                                              {{"from_bytes", &NicCalls::from},
                                               {"offload_overhead_s", &NicCalls::offload_overhead},
                                               {"offload_copy_rate_Bps", &NicCalls::offload_copy_rate},
                                               {"packet_copy_rate_Bps", &NicCalls::packet_copy_rate}}};

const RowKind<"Nic", NicModel> NIC{"Parameters of every NIC; unlimited rates are infinite.",
                                   {{"preset", &NicModel::preset},
                                    {"offload_overhead_s", &NicModel::offload_overhead},
                                    {"message_gap_s", &NicModel::message_gap},
                                    {"offload_copy_rate_Bps", &NicModel::offload_copy_rate},
                                    {"packet_copy_rate_Bps", &NicModel::packet_copy_rate},
                                    {"message_rate_per_s", &NicModel::message_rate},
                                    {"stripes", &NicModel::stripes},
                                    {"least_stripe_B", &NicModel::least_stripe},
                                    {"calls", [](const NicModel& nic) { return NIC_CALLS.all(nic.calls); }},
                                    {"reduce_scatter", &NicModel::reduce_scatter},
                                    {"part_copy_rate_Bps", &NicModel::part_copy_rate},
                                    {"registration_rate_Bps", &NicModel::registration_rate},
                                    {"registration_from_bytes", &NicModel::registration_from},
                                    {"contributions", &NicModel::contributions},
                                    {"host_reduce", &NicModel::host_reduce},
                                    {"host_bcast", &NicModel::host_bcast}}};

const RowKind<"Segment", PointToPointSegment> SEGMENT{"Factors of point-to-point messages from a size on.",
                                                      {{"from_bytes", &PointToPointSegment::from},
                                                       {"latency_factor", &PointToPointSegment::latency_factor},
                                                       {"bandwidth_factor", &PointToPointSegment::bandwidth_factor}}};

const RowKind<"MpiOverheads", MpiOverheads> MPI_OVERHEADS{
    "Host costs of messages from a size on, instead of those of `Mpi`.",
    {{"from_bytes", &MpiOverheads::from},
     {"send_overhead_s", &MpiOverheads::send_overhead},
     {"send_copy_rate_Bps", &MpiOverheads::send_copy_rate},
     {"receive_overhead_s", &MpiOverheads::receive_overhead},
     {"receive_copy_rate_Bps", &MpiOverheads::receive_copy_rate}}};

const RowKind<"Mpi", MpiModel> MPI{
    "Message costs of the hosts' MPI library; unlimited rates are infinite.",
    {{"preset", &MpiModel::preset},
     {"eager_threshold_bytes", &MpiModel::eager_threshold},
     {"send_overhead_s", &MpiModel::send_overhead},
     {"send_copy_rate_Bps", &MpiModel::send_copy_rate},
     {"receive_overhead_s", &MpiModel::receive_overhead},
     {"receive_copy_rate_Bps", &MpiModel::receive_copy_rate},
     {"reduction_overhead_s", &MpiModel::reduction_overhead},
     {"overheads", [](const MpiModel& mpi) { return MPI_OVERHEADS.all(mpi.overheads); }}}};

/** A cable is represented by its upward link. */
const RowKind<"Cable", Link> CABLE{
    "One cable; its links are `NAME.up`, from the lower vertex to the upper, and `NAME.down`.",
    {{"name", [](const Link& link) { return link.name.substr(0, link.name.rfind('.')); }},
     {"lower", &Link::from},
     {"upper", &Link::to},
     {"upper_port", &Link::port},
     {"bandwidth_Bps", &Link::bandwidth},
     {"latency_s", &Link::latency}}};

const RowKind<"Shared", SharedMedium> SHARED{
    "Bandwidth that several links share, with their names.",
    {{"links", &SharedMedium::links}, {"bandwidth_Bps", &SharedMedium::bandwidth}}};

struct NamedRoute {
  std::vector<std::string> links;
  std::vector<std::string> through;
  Seconds latency;
};
const RowKind<"Way", NamedRoute> WAY{
    "Route between two vertices, by names.",
    {{"links", &NamedRoute::links}, {"through", &NamedRoute::through}, {"latency_s", &NamedRoute::latency}}};

const RowKind<"Option", OptionHelp> OPTION{
    "One key of a table of a fabric file. `otherwise` is the default, empty for required keys; `allowed` lists the "
    "allowed values if not all of its type are.",
    {{"key", &OptionHelp::key},
     {"type", &OptionHelp::type},
     {"meaning", &OptionHelp::meaning},
     {"required", &OptionHelp::required},
     {"otherwise", &OptionHelp::otherwise},
     {"allowed", &OptionHelp::allowed},
     {"names", &OptionHelp::names}}};

const RowKind<"Topology", TopologyKind> TOPOLOGY{
    "One kind of topology with the keys of its [topology] table.",
    {{"kind", &TopologyKind::name}, {"meaning", &TopologyKind::meaning}, {"options", [](const TopologyKind& kind) {
                                                                            return OPTION.all(kind.options);
                                                                          }}}};

const RowKind<"Table", TableHelp> TABLE{
    "One table of a fabric file.",
    {{"table", &TableHelp::table}, {"meaning", &TableHelp::meaning}, {"options", [](const TableHelp& table) {
                                                                        return OPTION.all(table.options);
                                                                      }}}};

// NOLINTEND(bugprone-throwing-static-initialization)

Rows<"Switch"> switches(const Fabric& fabric)
{
  std::vector<NamedSwitch> all;
  all.reserve(static_cast<std::size_t>(fabric.switch_count()));
  for (int index = 0; index < fabric.switch_count(); ++index)
    all.push_back({fabric.topology().switch_name(index), &fabric.switch_model(index)});
  return SWITCH.all(all);
}

/** Returns the first switch of each model, in order. */
Rows<"Switch"> switch_models(const Fabric& fabric)
{
  std::vector<NamedSwitch> first;
  for (int index = 0; index < fabric.switch_count(); ++index)
    if (const SwitchModel* const model = &fabric.switch_model(index);
        std::ranges::find(first, model, &NamedSwitch::model) == first.end())
      first.push_back({fabric.topology().switch_name(index), model});
  return SWITCH.all(first);
}

std::vector<std::pair<std::string, int>> switch_counts(const Fabric& fabric)
{
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& [noun, count] : count_switches(fabric.topology()))
    counts.emplace_back(noun, count);
  return counts;
}

std::optional<int> noise_seed(const Fabric& fabric)
{
  return fabric.noise() ? std::optional(fabric.noise()->seed) : std::nullopt;
}

py::typing::Optional<Row<"Mpi">> mpi(const Fabric& fabric)
{
  if (not fabric.mpi())
    return py::none();
  return MPI(*fabric.mpi());
}

std::vector<std::string> hosts(const Fabric& fabric)
{
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(fabric.host_count()));
  for (int index = 0; index < fabric.host_count(); ++index)
    names.push_back(fabric.topology().host_name(index));
  return names;
}

/** Returns the hosts on which ranks are placed: all hosts except storage hosts. */
std::vector<std::string> compute_hosts(const Fabric& fabric)
{
  std::vector<std::string> names;
  const auto& storage = fabric.storage();
  for (int index = 0; index < fabric.host_count(); ++index)
    if (not storage || std::ranges::find(storage->host_of, index) == storage->host_of.end())
      names.push_back(fabric.topology().host_name(index));
  return names;
}

Rows<"Cable"> cables(const Fabric& fabric)
{
  Rows<"Cable"> rows;
  for (std::size_t id = 0; id < fabric.links().size(); id += 2)
    rows.append(CABLE(fabric.links()[id]));
  return rows;
}

Row<"Way"> route(const Fabric& fabric, int from, int to)
{
  const int vertices = fabric.host_count() + fabric.switch_count();
  if (from < 0 || to < 0 || from >= vertices || to >= vertices || from == to)
    throw py::index_error("two different vertices of the fabric: hosts are 0 to " +
                          std::to_string(fabric.host_count() - 1) + ", switches follow");
  Route way;
  fabric.route(from, to, way);
  NamedRoute named{{}, {}, fabric.latency(way)};
  for (const LinkId id : way.links)
    named.links.push_back(fabric.link(id).name);
  for (const VertexId vertex : way.through)
    named.through.push_back(fabric.topology().vertex_name(vertex));
  return WAY(named);
}

void bind_fabric(py::module_& module) // NOLINT(misc-const-correctness): it gets a class
{
  py::class_<Fabric>(
      module, "Fabric",
      "An immutable fabric, as described by a file. Vertices are numbered from 0, hosts first, then switches.")
      .def_property_readonly("name", &Fabric::name)
      .def_property_readonly("stripes", &Fabric::stripes,
                             "Largest number of cables of a host over which messages and offloaded calls are divided.")
      .def_property_readonly("description", &Fabric::description)
      .def_property_readonly("file", &Fabric::file)
      .def_property_readonly("changes", &Fabric::changes, "Changes of the file, TABLE.KEY=VALUE each.")
      .def_property_readonly("topology", &Fabric::topology_kind)
      .def_property_readonly("hosts", &hosts, "Names of the hosts, in order.")
      .def_property_readonly(
          "has_storage", [](const Fabric& fabric) { return fabric.storage() || fabric.disk(); },
          "Whether programs can open files with MPI: there is a [storage] or a [disk].")
      .def_property_readonly("compute_hosts", &compute_hosts, "Names of the hosts without those of [storage].")
      .def_property_readonly("cores_per_host", [](const Fabric& fabric) { return fabric.host().cores; })
      .def_property_readonly("switches", &switches, "The switches, in order.")
      .def_property_readonly("switch_models", &switch_models, "The first switch of each model, in order.")
      .def_property_readonly("switch_counts", &switch_counts,
                             "Number of switches by what they are, in the singular, such as (\"NIC\", 256).")
      .def_property_readonly("host", [](const Fabric& fabric) { return HOST(fabric.host()); })
      .def_property_readonly("nic", [](const Fabric& fabric) { return NIC(fabric.nic()); })
      .def_property_readonly(
          "point_to_point", [](const Fabric& fabric) { return SEGMENT.all(fabric.segments()); },
          "Factors of point-to-point messages, by rising size.")
      .def_property_readonly("mpi", &mpi, "Message costs of the hosts' MPI library, if the file has them.")
      .def_property_readonly("noise_seed", &noise_seed, "Seed of the random variation of runs; None if there is none.")
      .def_property_readonly(
          "links", [](const Fabric& fabric) { return fabric.links().size(); }, "Number of links, two per cable.")
      .def_property_readonly("shared",
                             [](const Fabric& fabric) {
                               return SHARED.all(fabric.sprays() ? std::vector<SharedMedium>()
                                                                 : fabric.shared()); // without pools
                             })
      .def_property_readonly(
          "network", [](const Fabric& fabric) { return std::string(to_text(fabric.packets().network)); },
          "What messages between hosts are: flows or packets.")
      .def("check_packets", &check_packets, "Raises UserError if messages on this fabric cannot be packets.")
      .def("cables", &cables)
      .def("route", &route, py::arg("source"), py::arg("destination"), "Raises IndexError if there is no such vertex.")
      .def("describe", [](const Fabric& fabric) { return describe(fabric); })
      .def(
          "check", [](const Fabric& fabric) { return check(fabric); },
          "Verify the routes; returns a description, raises UserError if the check fails.");
}

/** Loads a fabric and checks that the algorithms named there exist. */
Fabric load_checked(const std::string& name_or_path, const std::vector<std::string>& changes)
{
  Fabric fabric = Fabric::load(name_or_path, changes);
  HostStageAlgorithms::of(fabric.nic());
  return fabric;
}

} // namespace

void bind_fabrics(py::module_& module)
{
  bind_fabric(module);
  module.def("load_fabric", &load_checked, py::arg("name_or_path"), py::arg("changes") = std::vector<std::string>(),
             "Read a fabric file, or a shipped fabric by its name; each of `changes`, TABLE.KEY=VALUE, overrides a "
             "key. Raises UserError.");
  module.def("list_fabrics", [] { return list_shared("fabrics"); }, "Names of the shipped fabrics.");
  module.def(
      "switch_properties", &property_keys,
      "Keys of [switch] that switches of SimGrid platforms have as properties, each with its field in a Switch.");
  module.def(
      "list_presets", [](const std::string& kind) { return list_shared("presets/" + kind); }, py::arg("kind"),
      "Names of the presets of a kind: switch, nic, host or progress_engine.");
  module.def(
      "topologies", [] { return TOPOLOGY.all(topology_kinds()); }, "The kinds of topology with the keys of each.");
  module.def("fabric_schema", [] { return TABLE.all(fabric_schema()); }, "Every table and key of a fabric file.");
}

} // namespace weft::python
