/* weft._core: the pure parts of weft for Python. Knows nothing of SimGrid but where it was found. */
#include "base/error.hpp"
#include "base/share.hpp"
#include "fabric/cache_study.hpp"
#include "fabric/description.hpp"
#include "fabric/fabric_schema.hpp"
#include "fabric/route_check.hpp"
#include "nic/progress_engine.hpp"
#include "python/host_schedules.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace {

py::list offloads(const weft::SwitchModel& model)
{
  py::list rows;
  for (const weft::Capability& capability : model.capabilities) {
    py::dict row;
    row["collectives"]         = capability.collectives;
    row["datatypes"]           = capability.datatypes;
    row["operations"]          = capability.operations;
    row["conversion"]          = capability.conversion;
    row["conversion_rate_Bps"] = capability.conversion_rate.value();
    rows.append(row);
  }
  return rows;
}

py::list switches(const weft::Fabric& fabric)
{
  py::list rows;
  for (int index = 0; index < fabric.switch_count(); ++index) {
    const weft::SwitchModel& model = fabric.switch_model(index);
    py::dict row;
    row["name"]                  = fabric.topology().switch_name(index);
    row["preset"]                = model.preset;
    row["smart"]                 = model.smart();
    row["max_ports"]             = model.max_ports;
    row["forwarding_latency_s"]  = model.hop_latency().value();
    row["looks_up_by"]           = model.forwarding.kind;
    row["processing_latency_s"]  = model.processing_latency.value();
    row["turnaround_s"]          = model.turnaround.value();
    row["window_bytes"]          = model.window().value();
    row["channels"]              = model.channels;
    row["slots"]                 = model.slots;
    row["total_slots"]           = model.total_slots;
    row["payload_bytes"]         = model.payload.value();
    row["packet_overhead_bytes"] = model.packet_overhead.value();
    row["offload"]               = offloads(model);
    rows.append(row);
  }
  return rows;
}

py::dict host(const weft::Fabric& fabric)
{
  const weft::HostModel& model = fabric.host();
  py::dict row;
  row["preset"]                 = model.preset;
  row["speed_flops"]            = model.speed.value();
  row["cores"]                  = model.cores;
  row["loopback_bandwidth_Bps"] = model.loopback_bandwidth.value();
  row["loopback_latency_s"]     = model.loopback_latency.value();
  return row;
}

py::dict nic(const weft::Fabric& fabric)
{
  const weft::NicModel& model = fabric.nic();
  py::dict row;
  row["preset"]                = model.preset;
  row["offload_overhead_s"]    = model.offload_overhead.value();
  row["message_gap_s"]         = model.message_gap.value();
  row["offload_copy_rate_Bps"] = model.offload_copy_rate.value();
  row["contributions"]         = model.contributions;
  return row;
}

py::list point_to_point(const weft::Fabric& fabric)
{
  py::list rows;
  for (const weft::PointToPointSegment& segment : fabric.segments()) {
    py::dict row;
    row["from_bytes"]       = segment.from.value();
    row["latency_factor"]   = segment.latency_factor;
    row["bandwidth_factor"] = segment.bandwidth_factor;
    rows.append(row);
  }
  return rows;
}

py::object mpi(const weft::Fabric& fabric)
{
  if (not fabric.mpi())
    return py::none();
  const weft::MpiModel& model = *fabric.mpi();
  py::dict row;
  row["eager_threshold_bytes"] = model.eager_threshold.value();
  row["send_overhead_s"]       = model.send_overhead.value();
  row["send_copy_rate_Bps"]    = model.send_copy_rate.value();
  row["receive_overhead_s"]    = model.receive_overhead.value();
  row["receive_copy_rate_Bps"] = model.receive_copy_rate.value();
  return row;
}

py::list options_of(const std::vector<weft::OptionHelp>& options)
{
  py::list rows;
  for (const weft::OptionHelp& option : options) {
    py::dict row;
    row["key"]      = option.key;
    row["type"]     = option.type;
    row["meaning"]  = option.meaning;
    row["required"] = option.required;
    rows.append(row);
  }
  return rows;
}

double streaming_time(int slots, double payload, double packet_overhead, double message, double line_rate,
                      double turnaround)
{
  weft::SwitchModel model;
  model.slots           = slots;
  model.payload         = weft::Bytes(payload);
  model.packet_overhead = weft::Bytes(packet_overhead);
  return weft::streaming_time(model, weft::Bytes(message), weft::BytesPerSecond(line_rate), weft::Seconds(turnaround))
      .value();
}

weft::Transport transport_of(const std::string& name)
{
  if (const std::optional<weft::Transport> transport = weft::parse_transport(name))
    return *transport;
  throw py::value_error("transport: found \"" + name + "\"; allowed: ud, uc");
}

double receive_chunks(const weft::ProgressEngine& engine, const std::string& transport, double chunk, int workers)
{
  return engine.receive_chunks(transport_of(transport), weft::Bytes(chunk), workers).value();
}

double receive_time(const weft::ProgressEngine& engine, const std::string& transport, double chunk, double buffer,
                    int workers, double link)
{
  return engine
      .receive_time(transport_of(transport), weft::Bytes(chunk), weft::Bytes(buffer), workers,
                    weft::BytesPerSecond(link))
      .value();
}

double parse_bandwidth(const std::string& text)
{
  try {
    return weft::parse<weft::BytesPerSecond>(text).value();
  } catch (const weft::UnitError& error) {
    throw weft::UserError(std::string("bandwidth: ") + error.what());
  }
}

std::vector<std::string> hosts(const weft::Fabric& fabric)
{
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(fabric.host_count()));
  for (int index = 0; index < fabric.host_count(); ++index)
    names.push_back(fabric.topology().host_name(index));
  return names;
}

py::dict route(const weft::Fabric& fabric, int from, int to)
{
  const int vertices = fabric.host_count() + fabric.switch_count();
  if (from < 0 || to < 0 || from >= vertices || to >= vertices || from == to)
    throw py::index_error("two different vertices of the fabric: hosts are 0 to " +
                          std::to_string(fabric.host_count() - 1) + ", switches follow");
  weft::Route way;
  fabric.route(from, to, way);
  py::list links;
  for (const weft::LinkId id : way.links)
    links.append(fabric.link(id).name);
  py::list through;
  for (const weft::VertexId vertex : way.through)
    through.append(fabric.topology().vertex_name(vertex));
  py::dict row;
  row["links"]     = links;
  row["through"]   = through;
  row["latency_s"] = fabric.latency(way).value();
  return row;
}

py::list shared(const weft::Fabric& fabric)
{
  py::list rows;
  for (const weft::SharedMedium& medium : fabric.shared()) {
    py::dict row;
    row["links"]         = medium.links;
    row["bandwidth_Bps"] = medium.bandwidth.value();
    rows.append(row);
  }
  return rows;
}

py::list cables(const weft::Fabric& fabric)
{
  py::list rows;
  for (std::size_t id = 0; id < fabric.links().size(); id += 2) {
    const weft::Link& link = fabric.links()[id];
    py::dict row;
    row["name"]          = link.name.substr(0, link.name.rfind('.'));
    row["lower"]         = link.from;
    row["upper"]         = link.to;
    row["bandwidth_Bps"] = link.bandwidth.value();
    row["latency_s"]     = link.latency.value();
    rows.append(row);
  }
  return rows;
}

py::list topologies()
{
  py::list rows;
  for (const weft::TopologyKind& kind : weft::topology_kinds()) {
    py::dict row;
    row["kind"]    = kind.name;
    row["meaning"] = kind.meaning;
    row["options"] = options_of(kind.options);
    rows.append(row);
  }
  return rows;
}

py::list schema()
{
  py::list tables;
  for (const weft::TableHelp& table : weft::fabric_schema()) {
    py::dict row;
    row["table"]   = table.table;
    row["meaning"] = table.meaning;
    row["options"] = options_of(table.options);
    tables.append(row);
  }
  return tables;
}

weft::CacheShape shape_of(int entries, int ways, const std::string& replacement)
{
  const auto found = weft::find_replacement(replacement);
  if (not found)
    throw weft::UserError("replacement: found \"" + replacement +
                          "\"; allowed: " + weft::join(weft::replacement_names()));
  if (ways < 1 || entries < ways || entries % ways != 0)
    throw weft::UserError("ways: found " + std::to_string(ways) + " ways of " + std::to_string(entries) +
                          " entries; allowed: ways that divide the entries");
  return {entries, ways, *found};
}

std::unique_ptr<const weft::ForwardingHash> hash_of(const weft::Fabric& fabric, const std::string& name)
{
  try {
    return weft::make_forwarding_hash(name, fabric.topology());
  } catch (const weft::HashError& error) {
    throw weft::UserError("hash: " + std::string(error.what()) + " (fabric " + fabric.name() + ")");
  }
}

py::dict counters(const weft::CacheCounters& of)
{
  py::dict row;
  row["hits"]     = of.hits;
  row["initial"]  = of.initial;
  row["capacity"] = of.capacity;
  row["conflict"] = of.conflict;
  return row;
}

py::dict cache_of_port(int entries, int ways, const std::string& replacement, int destinations, bool scattered,
                       std::int64_t lookups, unsigned seed)
{
  return counters(weft::study_port(shape_of(entries, ways, replacement), destinations, scattered, lookups, seed));
}

py::list cache_of_torus(int entries, int ways, const std::string& replacement, int size, int dimensions, bool hashed,
                        int messages, unsigned seed)
{
  py::list rows;
  for (const weft::CacheCounters& port :
       weft::study_torus(shape_of(entries, ways, replacement), size, dimensions, hashed, messages, seed))
    rows.append(counters(port));
  return rows;
}

py::dict cache_of_messages(int entries, int ways, const std::string& replacement, const weft::Fabric& fabric,
                           const std::string& hash, const std::vector<weft::MessageEnds>& messages)
{
  return counters(
      weft::study_messages(shape_of(entries, ways, replacement), fabric.topology(), *hash_of(fabric, hash), messages));
}

py::dict prove_hash(const weft::Fabric& fabric, const std::string& hash)
{
  const weft::HashProof proof = weft::prove(*hash_of(fabric, hash), fabric.topology());
  py::dict row;
  row["pairs"]     = proof.pairs;
  row["most_tags"] = proof.most_tags;
  row["misroutes"] = proof.misroute.has_value();
  row["crowded"]   = proof.crowded.has_value();
  return row;
}

} // namespace

PYBIND11_MODULE(_core, module)
{
  module.doc()                   = "The pure parts of weft: fabrics and what is in them.";
  module.attr("version")         = WEFT_VERSION;
  module.attr("simgrid_version") = SIMGRID_VERSION_TEXT;
  module.attr("simgrid_prefix")  = SIMGRID_PREFIX_TEXT;
  py::register_exception<weft::UserError>(module, "UserError");

  py::class_<weft::Fabric>(module, "Fabric", "A fabric as a file describes it; nothing of it can be changed.")
      .def_property_readonly("name", &weft::Fabric::name)
      .def_property_readonly("description", &weft::Fabric::description)
      .def_property_readonly("file", &weft::Fabric::file)
      .def_property_readonly("topology", &weft::Fabric::topology_kind)
      .def_property_readonly("hosts", &hosts, "Names of the hosts, in order.")
      .def_property_readonly("cores_per_host", [](const weft::Fabric& fabric) { return fabric.host().cores; })
      .def_property_readonly("switches", &switches, "One dictionary a switch; durations in seconds.")
      .def_property_readonly("host", &host, "What every host is.")
      .def_property_readonly("nic", &nic, "What every host's network interface is; a rate without limit is infinite.")
      .def_property_readonly("point_to_point", &point_to_point, "Factors of point-to-point messages by size.")
      .def_property_readonly("mpi", &mpi, "What the hosts' MPI library adds to messages, where the file says it.")
      .def_property_readonly(
          "links", [](const weft::Fabric& fabric) { return fabric.links().size(); }, "Number of links, two per cable.")
      .def_property_readonly("shared", &shared, "What several links pass beside themselves.")
      .def("cables", &cables, "One dictionary a cable: its vertices (hosts from 0, then switches) and each direction.")
      .def("route", &route, py::arg("source"), py::arg("destination"),
           "The way between two vertices: names of links, names of the vertices between, latency in seconds.")
      .def("describe", [](const weft::Fabric& fabric) { return weft::describe(fabric); })
      .def(
          "check", [](const weft::Fabric& fabric) { return weft::check(fabric); },
          "Prove the routes; returns what was proven, raises UserError where it does not hold.");

  py::class_<weft::ProgressEngine>(module, "ProgressEngine", "Who does the multicast protocol's work at a host.")
      .def_readonly("preset", &weft::ProgressEngine::preset)
      .def_readonly("cores", &weft::ProgressEngine::cores)
      .def_readonly("threads", &weft::ProgressEngine::threads, "Hardware threads of a core.")
      .def_property_readonly("memory_bytes", [](const weft::ProgressEngine& engine) { return engine.memory.value(); })
      .def("describe", [](const weft::ProgressEngine& engine) { return weft::describe(engine); })
      .def("receive_chunks_per_s", &receive_chunks, py::arg("transport"), py::arg("chunk_bytes"), py::arg("workers"),
           "Chunks that so many threads receive in a second. Raises UserError.")
      .def("receive_time_s", &receive_time, py::arg("transport"), py::arg("chunk_bytes"), py::arg("buffer_bytes"),
           py::arg("workers"), py::arg("link_Bps"),
           "Seconds from a buffer's first byte on the link until all of it is with the user. Raises UserError.")
      .def("communicators", &weft::ProgressEngine::communicators, py::arg("chunks"),
           "How many with receive buffers of so many chunks its memory holds.");

  module.def("load_progress_engine", &weft::load_progress_engine, py::arg("name_or_path"),
             "A preset, or the table [progress_engine] of a file. Raises UserError.");
  module.def(
      "bitmap_bytes", [](std::int64_t chunks) { return weft::bitmap_size(chunks).value(); }, py::arg("chunks"),
      "The bitmap of a receive buffer: a bit per chunk.");
  module.def("parse_bandwidth", &parse_bandwidth, py::arg("text"), "Bytes a second. Raises UserError.");
  module.def("load_fabric", &weft::Fabric::load, py::arg("name_or_path"),
             "Read a fabric file, or a shipped fabric by its name. Raises UserError.");
  module.def("list_fabrics", [] { return weft::list_shared("fabrics"); }, "Names of the shipped fabrics.");
  module.def(
      "list_presets", [](const std::string& kind) { return weft::list_shared("presets/" + kind); }, py::arg("kind"),
      "Names of the presets of a kind: switch, nic, host or progress_engine.");
  module.def("streaming_time", py::vectorize(&streaming_time), py::arg("slots"), py::arg("payload_bytes"),
             py::arg("packet_overhead_bytes"), py::arg("message_bytes"), py::arg("line_rate_Bps"),
             py::arg("turnaround_s"),
             "Seconds in which the packets of a message pass a link that nothing else uses; numbers or arrays.");
  module.def("cache_of_port", &cache_of_port, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("destinations"), py::arg("scattered"), py::arg("lookups"), py::arg("seed"),
             "Hits and misses of one port's forwarding cache with packets to so many hosts, by CRC.");
  module.def("cache_of_torus", &cache_of_torus, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("size"), py::arg("dimensions"), py::arg("hashed"), py::arg("messages"), py::arg("seed"),
             "The same of a torus under uniform traffic: ports of hosts, then of each dimension.");
  module.def("cache_of_messages", &cache_of_messages, py::arg("entries"), py::arg("ways"), py::arg("replacement"),
             py::arg("fabric"), py::arg("hash"), py::arg("messages"),
             "The same of all ports of a fabric while messages, pairs of hosts, are routed one after the other.");
  module.def(
      "uniform_messages",
      [](const weft::Fabric& fabric, int count, unsigned seed) {
        return weft::uniform_messages(fabric.topology(), count, seed);
      },
      py::arg("fabric"), py::arg("count"), py::arg("seed"), "Pairs of hosts, all equally often.");
  module.def("prove_hash", &prove_hash, py::arg("fabric"), py::arg("hash"),
             "Hold every switch against every host: pairs, most tags of a switch, and what does not hold.");
  module.def(
      "line_rate",
      [](double latency, int stages, double frame) {
        return weft::line_rate(weft::lookup_interval(weft::Seconds(latency), stages), weft::Bytes(frame)).value();
      },
      py::arg("latency_s"), py::arg("stages"), py::arg("frame_bytes"),
      "Bytes a second of frames that a port can look up.");
  module.def("topologies", &topologies, "The kinds of topology with the keys of each.");
  module.def("fabric_schema", &schema, "Every table and key of a fabric file.");
  weft::bind_host_schedules(module);
}
