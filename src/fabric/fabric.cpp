#include "fabric/fabric.hpp"

#include "base/share.hpp"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

namespace weft {

const std::vector<Option<LinkModel>>& link_options()
{
  using M = LinkModel;
  static const std::vector<Option<M>> ROWS{
      {"bandwidth", "of each direction of a cable", &M::bandwidth},
      {"latency", "of each direction of a cable, with the host's or NIC's part where it ends at a host", &M::latency,
       Need::required, Bound::non_negative},
  };
  return ROWS;
}

const std::vector<Option<SharedMedium>>& shared_options()
{
  using M = SharedMedium;
  static const std::vector<Option<M>> ROWS{
      {"links", R"(names of links: a cable's, with ".up" or ".down")", &M::links},
      {"bandwidth", "of all of them together", &M::bandwidth},
  };
  return ROWS;
}

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

LinkModel read_link(const OptionTable& table)
{
  LinkModel model;
  require_options(table, link_options(), read_options(table, link_options(), {}, model));
  return model;
}

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
  const std::string problem =
      fs::exists(name_or_path, ignored) ? "this is a directory or a device" : "there is no such file";
  throw UserError("fabric \"" + name_or_path + "\": " + problem + ", and no shipped fabric has that name; " +
                  did_you_mean(name_or_path, known) + "allowed: a file, or one of " + join(known));
}

std::vector<PointToPointSegment> read_segments(const OptionTable& file)
{
  std::vector<PointToPointSegment> segments;
  for (const OptionTable& row : file.tables("point_to_point")) {
    PointToPointSegment segment;
    require_options(row, point_to_point_options(), read_options(row, point_to_point_options(), {}, segment));
    if (segments.empty() ? segment.from != Bytes{} : segment.from <= segments.back().from)
      row.fail("from", "found " + row.found("from") +
                           "; allowed: \"0B\" in the first [[point_to_point]], then rising from table to table");
    segments.push_back(segment);
  }
  if (segments.empty())
    segments.emplace_back();
  return segments;
}

/** Every [[links]] or [[switches]] table says which names it is for. */
std::string read_match(const OptionTable& rule)
{
  if (const std::optional<std::string> match = rule.text("match"))
    return *match;
  rule.fail("match", "is missing; it says for which names the table is: a name, or a pattern with * and ?");
}

bool matches(const std::string& pattern, const std::string& name)
{
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/** How many cables end at each vertex. */
std::vector<int> count_ports(const Topology& topology, const std::vector<Cable>& cables)
{
  std::vector<int> ports(static_cast<std::size_t>(topology.host_count() + topology.switch_count()));
  for (const Cable& cable : cables) {
    ++ports[static_cast<std::size_t>(cable.lower)];
    ++ports[static_cast<std::size_t>(cable.upper)];
  }
  return ports;
}

/** A host's only cable has the host's name; others name both ends, and their number where there are several. */
std::string cable_name(const Topology& topology, const Cable& cable, const std::vector<int>& ports)
{
  if (topology.is_host(cable.lower) && ports[static_cast<std::size_t>(cable.lower)] == 1)
    return topology.vertex_name(cable.lower);
  const std::string name = topology.vertex_name(cable.lower) + "--" + topology.vertex_name(cable.upper);
  return cable.number == 0 ? name : name + "#" + std::to_string(cable.number + 1);
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
  Missing missing;
  const std::set<std::string> given = read_options(fabric_table, fabric_options(), {}, about);
  missing.read(0, [&] { return require_options(fabric_table, fabric_options(), given), 0; });
  if (given.contains("name") && about.name.empty())
    fabric_table.fail("name", "found \"\"; allowed: a text that is not empty");
  fabric.name_        = about.name;
  fabric.description_ = about.description;
  fabric.host_        = missing.read(HostModel(), [&] {
    return read_device<HostModel>(file.table("host"), "host", host_options(), {},
                                  [](const OptionTable&, HostModel&) {});
  });
  fabric.nic_         = missing.read(NicModel(), [&] { return read_nic(file.table("nic")); });
  missing.read(SwitchModel(), [&] { return read_switch(file.table("switch")); });
  fabric.topology_ = missing.read(std::unique_ptr<const Topology>(), [&] {
    return std::unique_ptr<const Topology>(read_topology(file.table("topology"), fabric.topology_kind_));
  });
  missing.read(LinkModel(), [&] { return read_link(file.table("link")); });
  missing.rethrow();
  fabric.segments_        = read_segments(file);
  fabric.mpi_             = read_mpi(file);
  fabric.progress_engine_ = read_progress_engine(file);
  fabric.policy_          = read_policy(file);
  fabric.multicast_       = read_multicast(file);
  fabric.read_switches(file);
  fabric.check_hosts_have_ports(file.table("switch"));
  fabric.read_links(file);
  fabric.read_shared(file);
  return fabric;
}

Fabric Fabric::assemble(FabricParts parts)
{
  Fabric fabric;
  fabric.name_          = std::move(parts.name);
  fabric.description_   = std::move(parts.description);
  fabric.file_          = std::move(parts.file);
  fabric.topology_kind_ = std::move(parts.topology_kind);
  fabric.host_          = std::move(parts.host);
  fabric.nic_           = std::move(parts.nic);
  fabric.switch_models_ = std::move(parts.switches);
  fabric.model_of_.resize(fabric.switch_models_.size());
  std::iota(fabric.model_of_.begin(), fabric.model_of_.end(), 0);
  fabric.segments_  = std::move(parts.segments);
  fabric.multicast_ = default_multicast();
  fabric.topology_  = std::move(parts.topology);
  fabric.links_     = std::move(parts.links);
  return fabric;
}

/** The hash of the model that @p table describes, the last one. */
void Fabric::add_hash(const OptionTable& table)
{
  const ForwardingModel& model = switch_models_.back().forwarding;
  hashes_.emplace_back();
  if (not model.cached())
    return;
  try {
    hashes_.back() = make_forwarding_hash(model.hash, *topology_);
  } catch (const HashError& error) {
    table.table("forwarding").fail("hash", error.what());
  }
}

void Fabric::read_switches(const OptionTable& file)
{
  switch_models_.push_back(read_switch(file.table("switch")));
  add_hash(file.table("switch"));
  model_of_.assign(static_cast<std::size_t>(switch_count()), 0);
  for (const OptionTable& rule : file.tables("switches")) {
    const std::string pattern = read_match(rule);
    switch_models_.push_back(read_switch(rule, switch_models_.front(), {"match"}));
    add_hash(rule);
    bool used = false;
    for (int index = 0; index < switch_count(); ++index) {
      if (not matches(pattern, topology_->switch_name(index)))
        continue;
      model_of_[static_cast<std::size_t>(index)] = static_cast<int>(switch_models_.size()) - 1;
      used                                       = true;
    }
    if (not used)
      rule.fail("match", "found \"" + pattern + "\", and no switch has such a name; the first is \"" +
                             topology_->switch_name(0) + "\", the last \"" +
                             topology_->switch_name(switch_count() - 1) + "\"");
  }
}

/** Refuses absurd numbers of hosts before anything is made for each of them. */
void Fabric::check_hosts_have_ports(const OptionTable& table) const
{
  std::int64_t ports = 0;
  for (int index = 0; index < switch_count(); ++index)
    ports += switch_model(index).max_ports;
  if (host_count() > ports)
    table.fail("max_ports", "the topology has " + std::to_string(host_count()) + " hosts, and all switches together " +
                                std::to_string(ports) + " ports; take fewer hosts or switches with more ports");
}

void Fabric::read_links(const OptionTable& file)
{
  const std::vector<Cable> cables = topology_->cables();
  const std::vector<int> ports    = count_ports(*topology_, cables);
  for (int index = 0; index < switch_count(); ++index)
    if (const int used = ports[static_cast<std::size_t>(host_count() + index)]; used > switch_model(index).max_ports)
      file.table("switch").fail("max_ports", "\"" + topology_->switch_name(index) + "\" has " +
                                                 std::to_string(switch_model(index).max_ports) +
                                                 " ports, and the topology needs " + std::to_string(used) +
                                                 "; take fewer cables or a switch with more ports");

  struct Rule {
    std::string pattern;
    LinkModel model;
    bool used;
  };
  const LinkModel standard = read_link(file.table("link"));
  std::vector<Rule> rules;
  for (const OptionTable& row : file.tables("links")) {
    rules.push_back({read_match(row), standard, false});
    read_options(row, link_options(), {"match"}, rules.back().model);
  }

  links_.reserve(2 * cables.size());
  for (const Cable& cable : cables) {
    const std::string name = cable_name(*topology_, cable, ports);
    LinkModel model        = standard;
    for (Rule& rule : rules) {
      if (not matches(rule.pattern, name))
        continue;
      model     = rule.model;
      rule.used = true;
    }
    links_.push_back({name + ".up", cable.lower, cable.upper, model.bandwidth, model.latency});
    links_.push_back({name + ".down", cable.upper, cable.lower, model.bandwidth, model.latency});
  }
  for (std::size_t index = 0; index < rules.size(); ++index)
    if (not rules[index].used)
      file.tables("links")[index].fail("match", "found \"" + rules[index].pattern +
                                                    "\", and no cable has such a name; the first is \"" +
                                                    cable_name(*topology_, cables.front(), ports) + "\", the last \"" +
                                                    cable_name(*topology_, cables.back(), ports) + "\"");
}

void Fabric::read_shared(const OptionTable& file)
{
  std::map<std::string, std::size_t> ids;
  for (const OptionTable& row : file.tables("shared")) {
    SharedMedium medium;
    require_options(row, shared_options(), read_options(row, shared_options(), {}, medium));
    if (ids.empty())
      for (std::size_t id = 0; id < links_.size(); ++id)
        ids.emplace(links_[id].name, id);
    shared_of_.resize(links_.size(), -1);
    for (const std::string& name : medium.links) {
      const auto found = ids.find(name);
      if (found == ids.end())
        row.fail("links", "found \"" + name + "\", which is no link; the first is \"" + links_.front().name +
                              "\", the last \"" + links_.back().name + "\"");
      if (shared_of_[found->second] >= 0)
        row.fail("links", "found \"" + name + "\" twice; allowed: one place for each link in all [[shared]] tables");
      shared_of_[found->second] = static_cast<int>(shared_.size());
    }
    shared_.push_back(std::move(medium));
  }
}

std::optional<std::size_t> Fabric::shared_by(LinkId id) const
{
  const auto at = static_cast<std::size_t>(id);
  if (at >= shared_of_.size() || shared_of_[at] < 0)
    return std::nullopt;
  return static_cast<std::size_t>(shared_of_[at]);
}

Seconds Fabric::latency(const Route& route) const
{
  Seconds sum;
  for (const LinkId id : route.links)
    sum += link(id).latency;
  for (const VertexId vertex : route.through)
    sum += model_at(vertex).hop_latency();
  return sum;
}

const PointToPointSegment& Fabric::segment(Bytes size) const
{
  const auto after = std::ranges::upper_bound(segments_, size, {}, &PointToPointSegment::from);
  return *std::prev(after);
}

namespace {

/** The keys of a table that may name a preset of @p kind: then the preset can give what is required. */
std::vector<OptionHelp> with_preset(const std::string& kind, std::vector<OptionHelp> options)
{
  options.insert(options.begin(), {"preset", "text", "a shipped " + kind + ", whose values the table's own override"});
  return options;
}

/** The keys of a table of exceptions: which names it is for, and the same keys as the rule, none required. */
std::vector<OptionHelp> with_match(std::vector<OptionHelp> options)
{
  for (OptionHelp& option : options)
    option.required = false;
  options.insert(options.begin(),
                 {"match", "text", "names that the table is for: one name, or a pattern with * and ?", true});
  return options;
}

} // namespace

std::vector<TableHelp> fabric_schema()
{
  std::vector<TableHelp> schema{
      {"fabric", "what the fabric is called", describe_options(fabric_options())},
      {"topology", "how hosts and switches are laid out", {{"kind", "text", "the topology, see below", true}}}};
  for (const TopologyKind& row : topology_kinds())
    schema.push_back({"topology." + row.name, row.meaning, row.options});
  schema.push_back({"host", "every host", with_preset("host", describe_options(host_options()))});
  schema.push_back({"nic", "every host's network interface", with_preset("NIC", describe_options(nic_options()))});
  schema.push_back({"link", "every cable", describe_options(link_options())});
  schema.push_back({"links", "cables whose names match, as [[links]]: values that differ from [link]'s",
                    with_match(describe_options(link_options()))});
  schema.push_back(
      {"shared", "what several links pass beside themselves, as [[shared]]", describe_options(shared_options())});
  schema.push_back({"switch", "every switch", with_preset("switch", describe_options(switch_options()))});
  schema.push_back({"switch.offload", "smart: what a switch executes, as [[switch.offload]]; replaces a preset's",
                    describe_options(capability_options())});
  schema.push_back(
      {"switch.forwarding", "how a switch finds the port of a packet", describe_options(forwarding_options())});
  schema.push_back({"switches", "switches whose names match, as [[switches]]: values that differ from [switch]'s",
                    with_match(with_preset("switch", describe_options(switch_options())))});
  schema.push_back({"switches.offload", "the same of these switches, as [[switches.offload]]",
                    describe_options(capability_options())});
  schema.push_back({"switches.forwarding", "the same of these switches, as [switches.forwarding]",
                    describe_options(forwarding_options())});
  schema.push_back({"point_to_point", "factors of point-to-point messages by size, as [[point_to_point]]",
                    describe_options(point_to_point_options())});
  schema.push_back({"mpi", "what the hosts' MPI library adds to messages", describe_options(mpi_options())});
  schema.push_back({"progress_engine", "who does the multicast protocol's work at every host",
                    with_preset("progress engine", describe_options(progress_engine_options()))});
  schema.push_back({"policy", "what --offload auto does, by collective and size, as [[policy]]; the first that holds",
                    describe_options(policy_options())});
  schema.push_back({"multicast", "how the hosts multicast, with --offload multicast", multicast_help()});
  schema.push_back(
      {"multicast.drops", "chunks that get lost, as [[multicast.drops]]", describe_options(drop_options())});
  return schema;
}

namespace {

/** A count with a comma every three digits, "65,536"; counts are not negative. */
std::string grouped(std::int64_t count)
{
  constexpr int GROUP = 3;
  std::string text    = std::to_string(count);
  for (int end = static_cast<int>(text.size()) - GROUP; end > 0; end -= GROUP)
    text.insert(static_cast<std::size_t>(end), 1, ',');
  return text;
}

void describe_model(const SwitchModel& model, int count, std::ostream& text)
{
  text << "  " << grouped(count) << " x " << (model.preset.empty() ? "switch" : model.preset) << ": " << model.max_ports
       << " ports, forwards in " << to_text(model.hop_latency()) << "\n";
  if (not model.forwarding.kind.empty())
    text << "    looks up by " << to_text(model.forwarding) << "\n";
  if (model.smart())
    text << "    aggregates " << grouped(model.channels) << " channels of " << grouped(model.slots) << " slots of "
         << to_text(model.payload) << " (window " << to_text(model.window()) << "), processing "
         << to_text(model.processing_latency) << ", turnaround " << to_text(model.turnaround) << "\n";
  for (const Capability& row : model.capabilities) {
    text << "    offloads " << join(row.collectives);
    if (not row.datatypes.empty())
      text << " of " << join(row.datatypes) << " with " << join(row.operations);
    if (not row.conversion.empty())
      text << " in " << row.conversion << ", converted at " << to_text(row.conversion_rate);
    text << "\n";
  }
}

} // namespace

std::string describe(const Fabric& fabric)
{
  const Topology& topology = fabric.topology();
  std::ostringstream text;
  text << fabric.name() << ": " << fabric.description() << "\n"
       << "  file " << fabric.file() << "\n"
       << "  topology " << fabric.topology_kind() << ": " << grouped(fabric.host_count()) << " hosts, "
       << grouped(fabric.switch_count()) << (fabric.switch_count() == 1 ? " switch, " : " switches, ")
       << grouped(static_cast<std::int64_t>(fabric.links().size() / 2)) << " cables, at most " << topology.diameter()
       << " links from host to host\n"
       << "  hosts " << topology.host_name(0) << " to " << topology.host_name(fabric.host_count() - 1) << ": "
       << fabric.host().cores << " cores of " << to_text(fabric.host().speed) << "\n";

  std::map<std::pair<double, double>, int> cables;
  for (std::size_t id = 0; id < fabric.links().size(); id += 2)
    ++cables[{fabric.links()[id].bandwidth.value(), fabric.links()[id].latency.value()}];
  for (const auto& [model, count] : cables)
    text << "  " << grouped(count) << (count == 1 ? " cable of " : " cables of ")
         << to_text(BytesPerSecond(model.first)) << ", " << to_text(Seconds(model.second)) << " each way\n";

  std::map<const SwitchModel*, int> switches;
  for (int index = 0; index < fabric.switch_count(); ++index)
    ++switches[&fabric.switch_model(index)];
  for (const auto& [model, count] : switches)
    describe_model(*model, count, text);
  if (fabric.progress_engine())
    text << "  progress engine: " << describe(*fabric.progress_engine()) << "\n";
  for (const PolicyRow& row : fabric.policy())
    text << "  policy " << to_text(row) << "\n";
  return text.str();
}

namespace {

/** Proves one way after the other; throws at the first that is wrong. */
class RouteChecker {
  const Fabric& fabric_;
  Route route_;
  std::vector<std::int64_t> visited_; // by vertex: number of the last way that visited it
  std::int64_t ways_ = 0;

  [[noreturn]] void fail(VertexId from, VertexId to, const std::string& problem) const
  {
    const Topology& topology = fabric_.topology();
    throw UserError("fabric " + fabric_.name() + ": the route from " + topology.vertex_name(from) + " to " +
                    topology.vertex_name(to) + " " + problem);
  }

public:
  explicit RouteChecker(const Fabric& fabric)
      : fabric_(fabric), visited_(static_cast<std::size_t>(fabric.host_count() + fabric.switch_count()), -1)
  {
  }
  std::int64_t ways() const { return ways_; }

  void check(VertexId from, VertexId to)
  {
    const Topology& topology = fabric_.topology();
    route_.clear();
    fabric_.route(from, to, route_);
    VertexId at                              = from;
    visited_[static_cast<std::size_t>(from)] = ways_;
    for (const LinkId id : route_.links) {
      if (id < 0 || static_cast<std::size_t>(id) >= fabric_.links().size())
        fail(from, to, "takes a cable that does not exist");
      const Link& link = fabric_.link(id);
      if (link.from != at)
        fail(from, to, "takes " + link.name + " from " + topology.vertex_name(at) + ", where it does not begin");
      at = link.to;
      if (visited_[static_cast<std::size_t>(at)] == ways_)
        fail(from, to, "visits " + topology.vertex_name(at) + " twice");
      visited_[static_cast<std::size_t>(at)] = ways_;
      if (topology.is_host(at) && at != to)
        fail(from, to, "passes through the host " + topology.vertex_name(at));
    }
    if (at != to)
      fail(from, to, "ends at " + topology.vertex_name(at));
    if (topology.is_host(from) && topology.is_host(to)) {
      if (route_.through.empty())
        fail(from, to, "crosses no switch");
      if (static_cast<int>(route_.links.size()) > topology.diameter())
        fail(from, to,
             "has " + std::to_string(route_.links.size()) + " links, and the topology's diameter is " +
                 std::to_string(topology.diameter()));
    }
    ++ways_;
  }
};

} // namespace

std::string check(const Fabric& fabric)
{
  constexpr int ALL_PAIRS_LIMIT  = 1024;
  constexpr int SAMPLED_PARTNERS = 16;
  constexpr unsigned SEED        = 1;
  const int hosts                = fabric.host_count();
  const bool all                 = hosts <= ALL_PAIRS_LIMIT;
  RouteChecker checker(fabric);
  std::mt19937 random(SEED);
  for (VertexId from = 0; from < hosts; ++from) {
    for (int step = 1; step <= (all ? hosts - 1 : SAMPLED_PARTNERS); ++step) {
      const int distance = all ? step : 1 + static_cast<int>(random() % static_cast<unsigned>(hosts - 1));
      checker.check(from, (from + distance) % hosts);
    }
  }
  const std::int64_t pairs = checker.ways();
  for (int index = 0; index < fabric.switch_count(); ++index) {
    const auto host = static_cast<VertexId>(random() % static_cast<unsigned>(hosts));
    checker.check(host, hosts + index);
    checker.check(hosts + index, host);
  }
  return grouped(pairs) + (all ? " routes, every pair of hosts" : " routes, a seeded sample of every host's") +
         ", and to and from each of " + grouped(fabric.switch_count()) +
         (fabric.switch_count() == 1 ? " switch" : " switches") +
         ": each joins end to end over existing cables, visits nothing twice, goes through a switch and has at most " +
         std::to_string(fabric.topology().diameter()) + " links";
}

} // namespace weft
