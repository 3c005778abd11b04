#include "fabric/fabric.hpp"

#include "base/share.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

namespace weft {

const std::vector<Option<HostModel>>& host_options()
{
  using M = HostModel;
  static const std::vector<Option<M>> ROWS{
      {"speed", "of one core; computation that is timed is scaled to it", &M::speed},
      {"cores", "ranks that fit on a host", &M::cores},
      {"loopback_bandwidth", "of messages between ranks of one host", &M::loopback_bandwidth},
      {"loopback_latency", "of messages between ranks of one host", &M::loopback_latency, Need::required,
       Bound::non_negative},
  };
  return ROWS;
}

const std::vector<Option<PointToPointSegment>>& point_to_point_options()
{
  using M = PointToPointSegment;
  static const std::vector<Option<M>> ROWS{
      {"from", "smallest message that the factors hold for", &M::from, Need::required, Bound::non_negative},
      {"latency_factor", "on the route's latency", &M::latency_factor},
      {"bandwidth_factor", "on the route's bandwidth", &M::bandwidth_factor},
  };
  return ROWS;
}

namespace {

struct FabricTable {
  std::string name;
  std::string description;
};

const std::vector<Option<FabricTable>>& fabric_options()
{
  static const std::vector<Option<FabricTable>> ROWS{
      {"name", "short name, shown in records and plots", &FabricTable::name},
      {"description", "one line", &FabricTable::description, Need::optional},
  };
  return ROWS;
}

std::string find_fabric(const std::string& name_or_path)
{
  namespace fs = std::filesystem;
  std::error_code ignored; // a path that cannot be looked at is one that cannot be found
  if (fs::is_regular_file(name_or_path, ignored))
    return name_or_path;
  if (const std::optional<std::string> shipped = find_shared("fabrics", name_or_path))
    return *shipped;
  const std::vector<std::string> known = list_shared("fabrics");
  const std::string meant              = nearest(name_or_path, known);
  throw UserError("fabric \"" + name_or_path + "\": there is no such file, and no shipped fabric of that name; " +
                  (meant.empty() ? "" : "did you mean \"" + meant + "\"? ") + "allowed: a file, or one of " +
                  join(known));
}

std::vector<PointToPointSegment> read_segments(const OptionTable& file)
{
  std::vector<PointToPointSegment> segments;
  for (const OptionTable& row : file.tables("point_to_point")) {
    PointToPointSegment segment;
    require_options(row, point_to_point_options(), read_options(row, point_to_point_options(), {}, segment));
    if (segments.empty() ? segment.from != Bytes{} : segment.from <= segments.back().from)
      row.fail("from", "found " + to_text(segment.from) +
                           "; allowed: \"0B\" in the first [[point_to_point]], then rising from table to table");
    segments.push_back(segment);
  }
  if (segments.empty())
    segments.emplace_back();
  return segments;
}

void check_ports(const OptionTable& table, const Topology& topology, const SwitchModel& model)
{
  for (int index = 0; index < topology.switch_count(); ++index)
    if (const int used = topology.ports_used(index); used > model.max_ports)
      table.fail("max_ports", "\"" + topology.switch_name(index) + "\" has " + std::to_string(model.max_ports) +
                                  " ports, and the topology needs " + std::to_string(used) +
                                  "; take fewer hosts or a switch with more ports");
}

} // namespace

Fabric Fabric::load(const std::string& name_or_path)
{
  Fabric fabric;
  fabric.file_           = find_fabric(name_or_path);
  const OptionTable file = OptionTable::read_file(fabric.file_);
  std::vector<std::string> tables;
  for (const TableHelp& row : fabric_schema())
    if (row.table.find('.') == std::string::npos)
      tables.push_back(row.table);
  file.allow_only(tables);

  FabricTable about;
  const OptionTable fabric_table = file.table("fabric");
  require_options(fabric_table, fabric_options(), read_options(fabric_table, fabric_options(), {}, about));
  fabric.name_        = about.name;
  fabric.description_ = about.description;
  fabric.host_        = read_device<HostModel>(file.table("host"), "host", host_options(), {},
                                               [](const OptionTable&, HostModel&) {});
  fabric.nic_         = read_nic(file.table("nic"));
  fabric.switch_      = read_switch(file.table("switch"));
  fabric.segments_    = read_segments(file);
  fabric.topology_    = read_topology(file.table("topology"), read_link(file.table("link")), fabric.topology_kind_);
  check_ports(file.table("switch"), *fabric.topology_, fabric.switch_);
  fabric.links_ = fabric.topology_->links();
  return fabric;
}

Seconds Fabric::latency(const Route& route) const
{
  Seconds sum;
  for (const LinkId link : route.links)
    sum += links_[static_cast<std::size_t>(link)].latency;
  for (const VertexId vertex : route.through)
    sum += switch_model(vertex - host_count()).forwarding_latency;
  return sum;
}

const PointToPointSegment& Fabric::segment(Bytes size) const
{
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), size,
                                      [](Bytes wanted, const PointToPointSegment& row) { return wanted < row.from; });
  return *std::prev(after);
}

std::vector<TableHelp> fabric_schema()
{
  std::vector<TableHelp> schema{{"fabric", "what the fabric is called", describe_options(fabric_options())},
                                {"topology", "how hosts and switches are laid out",
                                 {{"kind", "text", "the topology, see below", true}}}};
  for (const TopologyKind& row : topology_kinds())
    schema.push_back({"topology." + row.name, row.meaning, row.options});
  schema.push_back({"host", "every host", describe_options(host_options())});
  schema.push_back({"nic", "every host's network interface", describe_options(nic_options())});
  schema.push_back({"link", "every cable", describe_options(link_options())});
  schema.push_back({"switch", "every switch", describe_options(switch_options())});
  schema.push_back({"point_to_point", "factors of point-to-point messages by size, as [[point_to_point]]",
                    describe_options(point_to_point_options())});
  return schema;
}

std::string describe(const Fabric& fabric)
{
  const SwitchModel& model = fabric.switch_model(0);
  const Link& link         = fabric.links().front();
  std::ostringstream text;
  text << fabric.name() << ": " << fabric.description() << "\n"
       << "  file       " << fabric.file() << "\n"
       << "  topology   " << fabric.topology_kind() << ", " << fabric.host_count() << " hosts, "
       << fabric.switch_count() << (fabric.switch_count() == 1 ? " switch, " : " switches, ")
       << fabric.links().size() / 2 << " cables\n"
       << "  hosts      " << fabric.topology().host_name(0) << " to "
       << fabric.topology().host_name(fabric.host_count() - 1) << ", " << fabric.host().cores << " cores of "
       << to_text(fabric.host().speed) << "\n"
       << "  links      " << to_text(link.bandwidth) << ", " << to_text(link.latency) << " each way\n"
       << "  switch     " << (model.preset.empty() ? "no preset" : model.preset) << ", " << model.max_ports
       << " ports, forwards in " << to_text(model.forwarding_latency) << "\n";
  if (model.smart())
    text << "  aggregates " << model.channels << " channels of " << model.slots << " slots of " << to_text(model.payload)
         << " (window " << to_text(model.window()) << "), processing " << to_text(model.processing_latency)
         << ", turnaround " << to_text(model.turnaround) << "\n";
  for (const Capability& row : model.capabilities)
    text << "  offloads   " << row.collective << " of " << join(row.datatypes) << " with " << join(row.operations)
         << "\n";
  return text.str();
}

namespace {

/** Throws unless the way from one host to another joins, visits nothing twice and crosses a switch. */
void check_route(const Fabric& fabric, VertexId from, VertexId to, Route& route)
{
  route.clear();
  fabric.route(from, to, route);
  const Topology& topology = fabric.topology();
  const auto fail          = [&](const std::string& problem) {
    throw UserError("fabric " + fabric.name() + ": the route from " + topology.vertex_name(from) + " to " +
                             topology.vertex_name(to) + " " + problem);
  };
  VertexId at = from;
  std::set<VertexId> visited{from};
  for (const LinkId id : route.links) {
    const Link& link = fabric.links().at(static_cast<std::size_t>(id));
    if (link.from != at)
      fail("takes " + link.name + " from " + topology.vertex_name(at) + ", where that cable does not begin");
    at = link.to;
    if (not visited.insert(at).second)
      fail("visits " + topology.vertex_name(at) + " twice");
  }
  if (at != to)
    fail("ends at " + topology.vertex_name(at));
  if (route.through.empty() || route.through.front() < fabric.host_count())
    fail("crosses no switch");
}

} // namespace

std::string check(const Fabric& fabric)
{
  constexpr int ALL_PAIRS_LIMIT  = 1024;
  constexpr int SAMPLED_PARTNERS = 16;
  const int hosts                = fabric.host_count();
  const bool all                 = hosts <= ALL_PAIRS_LIMIT;
  const int stride               = all ? 1 : hosts / SAMPLED_PARTNERS;
  std::int64_t pairs             = 0;
  Route route;
  for (VertexId from = 0; from < hosts; ++from) {
    for (int step = 1; step < hosts; step += stride) {
      check_route(fabric, from, (from + step) % hosts, route);
      ++pairs;
    }
  }
  return std::to_string(pairs) + (all ? " routes, every pair of hosts" : " routes, a sample with every host") +
         ": each joins end to end, visits nothing twice and goes through the switch";
}

} // namespace weft
