// SPDX-License-Identifier: LGPL-2.1-only
/* Reads fabric files. Tables are read in order of dependence: the topology names switches and links, and the ports of a
 * switch limit its cables. Missing keys of all tables are reported together. */
#include "base/share.hpp"
#include "fabric/fabric.hpp"
#include "fabric/file/calibration_intervals.hpp"
#include "fabric/file/fabric_schema.hpp"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <limits>
#include <map>

namespace weft {
namespace {

std::string find_fabric(const std::string& name_or_path)
{
  namespace fs = std::filesystem;
  std::error_code ignored; // inaccessible paths count as not found
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
                           "; allowed: \"0B\" in the first [[point_to_point]], then increasing from table to table");
    segments.push_back(segment);
  }
  if (segments.empty())
    segments.emplace_back();
  return segments;
}

/** Returns the pattern of a [[links]] or [[switches]] table. */
std::string read_match(const OptionTable& rule)
{
  if (const std::optional<std::string> match = rule.text("match"))
    return *match;
  rule.fail("match", "is missing; write the names that the table applies to: a name, or a pattern with * and ?");
}

bool matches(const std::string& pattern, const std::string& name)
{
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/** Returns the number of cables at each vertex. */
std::vector<int> count_ports(const Topology& topology, const std::vector<Cable>& cables)
{
  std::vector<int> ports(static_cast<std::size_t>(topology.host_count() + topology.switch_count()));
  for (const Cable& cable : cables) {
    ++ports[static_cast<std::size_t>(cable.lower)];
    ++ports[static_cast<std::size_t>(cable.upper)];
  }
  return ports;
}

/** Returns the name of a cable: the host's name for its only cable, otherwise both ends, with a number for parallel
 * cables.
 */
std::string cable_name(const Topology& topology, const Cable& cable, const std::vector<int>& ports)
{
  const bool to_switch = topology.is_host(cable.lower) && not topology.is_host(cable.upper);
  if (to_switch && ports[static_cast<std::size_t>(cable.lower)] == 1)
    return topology.vertex_name(cable.lower);
  const std::string name = topology.vertex_name(cable.lower) + "--" + topology.vertex_name(cable.upper);
  return cable.number == 0 ? name : name + "#" + std::to_string(cable.number + 1);
}

/** [[links]] table. */
struct LinkRule {
  OptionTable table;
  std::string pattern;
  LinkModel model;
  CablePort at;
  bool used = false;
};

class FabricReader {
  OptionTable file_;
  FabricParts parts_;

  const Topology& topology() const { return *parts_.topology; }

  /** If several tables are missing, reports the first keys to write instead of a page of missing keys. */
  void check_tables() const
  {
    static const std::vector<std::pair<std::string, std::string>> FIRST_KEYS{
        {"fabric", "[fabric] name"}, {"topology", "[topology] kind"}, {"host", "[host] preset"},
        {"nic", "[nic] preset"},     {"switch", "[switch] preset"},   {"link", "[link] bandwidth and latency"},
    };
    std::vector<std::string> absent;
    for (const auto& [table, keys] : FIRST_KEYS)
      if (not file_.has(table))
        absent.push_back(keys);
    if (absent.size() > 1)
      throw UserError(file_.file() + ": these keys are missing: " + join(absent) +
                      "; `weft fabric new` writes a file that has them");
  }

  /** Reads the required tables. */
  void read_required()
  {
    check_tables();
    Missing missing;
    missing.read(0, [&] { return read_about(), 0; });
    parts_.host           = missing.read(HostModel(), [&] { return read_host(file_.table("host")); });
    parts_.nic            = missing.read(NicModel(), [&] { return read_nic(file_.table("nic")); });
    const auto read_model = [&] { return read_switch(file_.table("switch")); };
    if (file_.has("switch"))
      missing.read(SwitchModel(), read_model);
    parts_.topology = missing.read(std::unique_ptr<const Topology>(), [&] {
      return std::unique_ptr<const Topology>(read_topology(file_.table("topology"), parts_.topology_kind));
    });
    if (not file_.has("switch") && has_switches())
      missing.read(SwitchModel(), read_model);
    missing.read(LinkTable(), [&] { return read_link(file_.table("link")); });
    missing.rethrow();
  }

  /** Returns whether the topology has switches; true if it is not known yet. */
  bool has_switches() const { return not parts_.topology || parts_.topology->switch_count() > 0; }

  void read_about()
  {
    const OptionTable table = file_.table("fabric");
    AboutFabric about;
    const std::set<std::string> given = read_options(table, about_options(), {}, about);
    require_options(table, about_options(), given);
    if (about.name.empty())
      table.fail("name", "found \"\"; allowed: a text that is not empty");
    parts_.name        = about.name;
    parts_.description = about.description;
  }

  // ---- Switches

  /** Adds the model of a table, and the hash of its forwarding cache. */
  void add_model(const OptionTable& table, SwitchModel model)
  {
    std::shared_ptr<const ForwardingHash> hash;
    if (model.forwarding.cached()) {
      try {
        hash = make_forwarding_hash(model.forwarding.hash, topology());
      } catch (const HashError& error) {
        table.table("forwarding").fail("hash", error.what());
      }
    }
    parts_.switches.push_back(std::move(model));
    parts_.hashes.push_back(std::move(hash));
  }

  void read_switches()
  {
    const bool described = file_.has("switch") || has_switches();
    add_model(file_.table("switch"), described ? read_switch(file_.table("switch")) : SwitchModel());
    parts_.model_of.assign(static_cast<std::size_t>(topology().switch_count()), 0);
    for (const OptionTable& rule : file_.tables("switches")) {
      const std::string pattern = read_match(rule);
      add_model(rule, read_switch(rule, parts_.switches.front(), {"match"}));
      apply_last_model(rule, pattern);
    }
  }

  /** Applies the last model read to the switches whose names match. */
  void apply_last_model(const OptionTable& rule, const std::string& pattern)
  {
    const int switches = topology().switch_count();
    bool used          = false;
    for (int index = 0; index < switches; ++index) {
      if (not matches(pattern, topology().switch_name(index)))
        continue;
      parts_.model_of[static_cast<std::size_t>(index)] = static_cast<int>(parts_.switches.size()) - 1;
      used                                             = true;
    }
    if (not used)
      rule.fail("match", "found \"" + pattern + "\", which matches no switch; the first is \"" +
                             topology().switch_name(0) + "\", the last \"" + topology().switch_name(switches - 1) +
                             "\"");
  }

  const SwitchModel& model_of(int index) const
  {
    return parts_.switches[static_cast<std::size_t>(parts_.model_of[static_cast<std::size_t>(index)])];
  }

  /** Refuses impossible numbers of hosts before per-host state is allocated. */
  void check_hosts_have_ports() const
  {
    const int hosts    = topology().host_count();
    std::int64_t ports = 0;
    for (int index = 0; index < topology().switch_count(); ++index)
      ports += model_of(index).max_ports;
    if (topology().switch_count() > 0 && hosts > ports)
      file_.table("switch").fail("max_ports", "the topology has " + std::to_string(hosts) +
                                                  " hosts, and all switches together " + std::to_string(ports) +
                                                  " ports; use fewer hosts, or switches with more ports");
  }

  /** @p ports: number of ports that the topology uses at each vertex. */
  void check_cables_have_ports(const std::vector<int>& ports) const
  {
    for (int index = 0; index < topology().switch_count(); ++index) {
      const int used = ports[static_cast<std::size_t>(topology().host_count() + index)];
      const int most = model_of(index).max_ports;
      if (used > most)
        file_.table("switch").fail("max_ports", "\"" + topology().switch_name(index) + "\" has " +
                                                    std::to_string(most) + " ports, and the topology needs " +
                                                    std::to_string(used) +
                                                    "; use fewer cables, or a switch with more ports");
    }
  }

  // ---- Progress engines

  /** Refuses an engine that leaves no core of its host to the ranks. */
  void check_engine_leaves_cores(const OptionTable& table, const ProgressEngine& engine) const
  {
    if (engine.host_cores >= parts_.host.cores)
      table.fail("host_cores", "found " + std::to_string(engine.host_cores) +
                                   "; allowed: fewer than the cores of a host, " + std::to_string(parts_.host.cores) +
                                   "; or change [host] cores");
  }

  void read_progress_engines()
  {
    if (const std::optional<ProgressEngine> all = read_progress_engine(file_)) {
      check_engine_leaves_cores(file_.table("progress_engine"), *all);
      parts_.progress_engines.push_back(*all);
    }
    for (const OptionTable& rule : file_.tables("progress_engines")) {
      const std::string pattern = read_match(rule);
      if (parts_.progress_engines.empty())
        rule.fail("match", "there is no table [progress_engine] that [[progress_engines]] could override");
      parts_.progress_engines.push_back(read_progress_engine(rule, parts_.progress_engines.front()));
      check_engine_leaves_cores(rule, parts_.progress_engines.back());
      apply_last_engine(rule, pattern);
    }
  }

  /** Applies the last engine read to the hosts whose names match. */
  void apply_last_engine(const OptionTable& rule, const std::string& pattern)
  {
    const int hosts = topology().host_count();
    parts_.engine_of.resize(static_cast<std::size_t>(hosts));
    bool used = false;
    for (int host = 0; host < hosts; ++host) {
      if (not matches(pattern, topology().host_name(host)))
        continue;
      parts_.engine_of[static_cast<std::size_t>(host)] = static_cast<int>(parts_.progress_engines.size()) - 1;
      used                                             = true;
    }
    if (not used)
      rule.fail("match", "found \"" + pattern + "\", which matches no host; the first is \"" + topology().host_name(0) +
                             "\", the last \"" + topology().host_name(hosts - 1) + "\"");
  }

  // ---- Links

  std::vector<LinkRule> read_link_rules(const LinkModel& standard) const
  {
    std::vector<LinkRule> rules;
    for (const OptionTable& row : file_.tables("links")) {
      rules.push_back({row, read_match(row), standard, {}});
      read_options(row, link_options(), {"match", "port"}, rules.back().model);
      read_options(row, cable_port_options(), {"match", "bandwidth", "latency"}, rules.back().at);
    }
    return rules;
  }

  /** Returns the port of a cable at its upper switch: the port in the last matching rule, or the next one in order. */
  int upper_port(const std::string& name, const Cable& cable, const std::vector<LinkRule>& rules, int next) const
  {
    int port = next;
    for (const LinkRule& rule : rules) {
      if (rule.at.port < 0 || not matches(rule.pattern, name))
        continue;
      if (topology().is_host(cable.upper))
        rule.table.fail("port",
                        "found " + std::to_string(rule.at.port) + "; \"" + name + "\" connects hosts, no switch");
      port            = rule.at.port;
      const int ports = model_of(cable.upper - topology().host_count()).max_ports;
      if (port >= ports)
        rule.table.fail("port", "found " + std::to_string(port) + "; the switch of \"" + name +
                                    "\" has the ports 0 to " + std::to_string(ports - 1));
    }
    return port;
  }

  /** Returns the model of a link: the last matching rule applied to @p standard. */
  static LinkModel link_model(const std::string& name, const LinkModel& standard, std::vector<LinkRule>& rules)
  {
    LinkModel model = standard;
    for (LinkRule& rule : rules) {
      if (not matches(rule.pattern, name))
        continue;
      model     = rule.model;
      rule.used = true;
    }
    return model;
  }

  void read_links()
  {
    const std::vector<Cable> cables = topology().cables();
    const std::vector<int> ports    = count_ports(topology(), cables);
    check_cables_have_ports(ports);
    const LinkTable table       = read_link(file_.table("link"));
    parts_.sharing              = table.sharing;
    std::vector<LinkRule> rules = read_link_rules(table.model);
    parts_.links.reserve(2 * cables.size());
    std::vector<int> used(ports.size()); // by vertex: ports used by the cables so far
    for (const Cable& cable : cables) {
      const std::string name = cable_name(topology(), cable, ports);
      const LinkModel model  = link_model(name, table.model, rules);
      int& lower             = used[static_cast<std::size_t>(cable.lower)];
      int& upper             = used[static_cast<std::size_t>(cable.upper)];
      const int port         = upper_port(name, cable, rules, upper++);
      parts_.links.push_back({name + ".up", cable.lower, cable.upper, model.bandwidth, model.latency, port});
      parts_.links.push_back({name + ".down", cable.upper, cable.lower, model.bandwidth, model.latency, lower++});
    }
    read_resolution();
    for (const LinkRule& rule : rules)
      if (not rule.used)
        rule.table.fail("match", "found \"" + rule.pattern + "\", which matches no cable; the first is \"" +
                                     cable_name(topology(), cables.front(), ports) + "\", the last \"" +
                                     cable_name(topology(), cables.back(), ports) + "\"");
  }

  void read_resolution()
  {
    Seconds latency(std::numeric_limits<double>::infinity());
    BytesPerSecond bandwidth(1);
    for (const Link& link : parts_.links) {
      latency   = std::min(latency, link.latency);
      bandwidth = std::max(bandwidth, link.bandwidth);
    }
    parts_.packets    = read_packets(file_.table("network"), {"resolution", "coarse_resolution"});
    parts_.resolution = read_network(file_, latency, bandwidth);
  }

  void read_shared()
  {
    const std::vector<OptionTable> tables = file_.tables("shared");
    if (tables.empty())
      return;
    std::map<std::string, std::size_t> ids;
    for (std::size_t id = 0; id < parts_.links.size(); ++id)
      ids.emplace(parts_.links[id].name, id);
    parts_.shared_of.assign(parts_.links.size(), -1);
    for (const OptionTable& row : tables) {
      SharedMedium medium;
      require_options(row, shared_options(), read_options(row, shared_options(), {}, medium));
      for (const std::string& name : medium.links)
        share(row, ids, name);
      parts_.shared.push_back(std::move(medium));
    }
  }

  /** Refuses packet spraying on topologies for which pools of links do not describe it. */
  void check_spraying(const OptionTable& routing, const std::vector<int>& pools) const
  {
    const auto refuse = [&routing](const std::string& why) {
      routing.fail("policy",
                   "found \"spray\", " + why + "; allowed: static, ecmp, ecmp-message, adaptive, adaptive-global");
    };
    if (pools.empty())
      refuse("which is defined on fat trees and stars only");
    if (not parts_.shared.empty())
      refuse("which excludes [[shared]]: links that share a medium share their pool's bandwidth already");
    if (parts_.noise && not parts_.noise->links.empty())
      refuse("which excludes [[noise.link]]: sprayed packets are on many links at once");
    for (const SwitchModel& model : parts_.switches)
      if (model.forwarding.cached() || model.forwarding.bounds())
        refuse("which excludes caches and intervals of [switch.forwarding]: sprayed packets enter many ports");
    std::map<int, LinkId> first_of;
    for (LinkId id = 0; std::cmp_less(id, pools.size()); ++id) {
      const Link& link  = parts_.links[static_cast<std::size_t>(id)];
      const int pool    = pools[static_cast<std::size_t>(id)];
      const Link& first = parts_.links[static_cast<std::size_t>(first_of.try_emplace(pool, id).first->second)];
      if (pool >= 0 && (link.bandwidth != first.bandwidth || link.latency != first.latency))
        refuse("which needs equal links, but those of \"" + first.name + "\" and \"" + link.name + "\" differ");
    }
  }

  /** Assigns links to the pools over which packets are sprayed. */
  void read_pools()
  {
    if (not parts_.routing.sprays())
      return;
    parts_.shared_of = topology().spray_pools();
    check_spraying(file_.table("routing"), parts_.shared_of);
    for (std::size_t id = 0; id < parts_.links.size(); ++id) {
      const int pool = parts_.shared_of[id];
      if (pool < 0)
        continue;
      parts_.shared.resize(std::max(parts_.shared.size(), static_cast<std::size_t>(pool) + 1));
      SharedMedium& medium = parts_.shared[static_cast<std::size_t>(pool)];
      medium.links.push_back(parts_.links[id].name);
      medium.bandwidth += parts_.links[id].bandwidth;
    }
  }

  std::vector<std::string> host_names() const
  {
    std::vector<std::string> hosts;
    hosts.reserve(static_cast<std::size_t>(topology().host_count()));
    for (int host = 0; host < topology().host_count(); ++host)
      hosts.push_back(topology().host_name(host));
    return hosts;
  }

  void read_storage_tables()
  {
    if (file_.has("disk"))
      parts_.disk = read_disk(file_.table("disk"));
    if (file_.has("storage"))
      parts_.storage = read_storage(file_.table("storage"), host_names());
    if (parts_.disk && parts_.storage && parts_.disk->mount.empty())
      file_.table("disk").fail("mount", "is missing; with [storage], write the directory of the files that are on the "
                                        "hosts' disks, such as \"/local\"");
  }

  void read_noise()
  {
    if (not file_.has("noise"))
      return;
    const std::vector<std::string> hosts = host_names();
    std::vector<std::string> links;
    links.reserve(parts_.links.size());
    for (const Link& link : parts_.links)
      links.push_back(link.name.substr(0, link.name.rfind('.'))); // name of the cable
    parts_.noise = weft::read_noise(file_.table("noise"), hosts, links);
  }

  /** Assigns a link to the medium being read. */
  void share(const OptionTable& row, const std::map<std::string, std::size_t>& ids, const std::string& name)
  {
    const auto found = ids.find(name);
    if (found == ids.end())
      row.fail("links", "found \"" + name + "\", which is no link; the first is \"" + parts_.links.front().name +
                            "\", the last \"" + parts_.links.back().name + "\"");
    int& medium = parts_.shared_of[found->second];
    if (medium >= 0)
      row.fail("links", "found \"" + name + "\" twice; allowed: each link once in all [[shared]] tables");
    medium = static_cast<int>(parts_.shared.size());
  }

  /** Refuses drop rules that match no link. */
  void check_drops() const
  {
    std::size_t number = 0;
    for (const OptionTable& row : file_.table("multicast").tables("drops")) {
      const DropRule& rule = parts_.multicast.drops[number++];
      if (rule.link.empty() ||
          std::ranges::any_of(parts_.links, [&](const Link& link) { return rule.hits(link.name); }))
        continue;
      row.fail("link", "found \"" + rule.link + "\", which matches no link or cable; the first link is \"" +
                           parts_.links.front().name + "\", the last \"" + parts_.links.back().name + "\"");
    }
  }

public:
  FabricReader(const std::string& path, const std::vector<std::string>& changes)
      : file_(OptionTable::read_file(path).changed(changes))
  {
    parts_.file    = path;
    parts_.changes = changes;
  }

  FabricParts read() &&
  {
    file_.allow_only(table_names());
    read_required();
    check_calibration_intervals(file_);
    parts_.routing   = read_routing(file_);
    parts_.segments  = read_segments(file_);
    parts_.mpi       = read_mpi(file_);
    parts_.policy    = read_policy(file_);
    parts_.multicast = read_multicast(file_);
    if (not file_.table("multicast").has("trees"))
      parts_.multicast.trees = topology().rails();
    parts_.nccl = read_nccl(file_);
    read_switches();
    read_progress_engines();
    check_hosts_have_ports();
    read_links();
    read_shared();
    check_drops();
    read_noise();
    read_pools();
    read_storage_tables();
    return std::move(parts_);
  }
};

} // namespace

Fabric Fabric::load(const std::string& name_or_path, const std::vector<std::string>& changes)
{
  return Fabric(FabricReader(find_fabric(name_or_path), changes).read());
}

} // namespace weft
