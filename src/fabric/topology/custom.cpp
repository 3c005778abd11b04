// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/custom.hpp"

#include <algorithm>
#include <set>

namespace weft {

namespace {

/** Capacity of the cache of routing tables: 64 MiB of entries. */
constexpr std::size_t KEPT_ENTRIES = std::size_t{64} * 1024 * 1024 / sizeof(LinkId);

std::size_t tables_kept(std::size_t vertices)
{
  return std::clamp<std::size_t>(KEPT_ENTRIES / vertices, 1, vertices);
}

} // namespace

Custom::Custom(Graph graph, LinkAggregation aggregation)
    : graph_(std::move(graph)), aggregation_(aggregation), first_port_(static_cast<std::size_t>(vertices()) + 1)
{
  for (const Cable& cable : graph_.cables) {
    ++first_port_[static_cast<std::size_t>(cable.lower) + 1];
    ++first_port_[static_cast<std::size_t>(cable.upper) + 1];
  }
  for (std::size_t vertex = 1; vertex < first_port_.size(); ++vertex)
    first_port_[vertex] += first_port_[vertex - 1];
  ports_.resize(2 * graph_.cables.size());
  std::vector<int> next = first_port_;
  for (std::size_t id = 0; id < graph_.cables.size(); ++id) {
    const Cable& cable                                                              = graph_.cables[id];
    ports_[static_cast<std::size_t>(next[static_cast<std::size_t>(cable.lower)]++)] = {up_link(id), cable.upper};
    ports_[static_cast<std::size_t>(next[static_cast<std::size_t>(cable.upper)]++)] = {down_link(id), cable.lower};
  }
  tables_.resize(tables_kept(static_cast<std::size_t>(vertices())));
}

std::span<const Custom::Port> Custom::ports(VertexId vertex) const
{
  const auto at = static_cast<std::size_t>(vertex);
  return {ports_.data() + first_port_[at], ports_.data() + first_port_[at + 1]};
}

/** Returns the distance in links from each vertex to @p to through vertices that forward; -1 if there is no path. */
std::vector<int> Custom::distances(VertexId to) const
{
  std::vector<int> distances(static_cast<std::size_t>(vertices()), -1);
  std::vector<VertexId> reached{to};
  reached.reserve(distances.size());
  distances[static_cast<std::size_t>(to)] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const VertexId at = reached[next];
    if (not forwards(at) && at != to)
      continue;
    for (const Port& port : ports(at)) {
      int& distance = distances[static_cast<std::size_t>(port.to)];
      if (distance >= 0)
        continue;
      distance = distances[static_cast<std::size_t>(at)] + 1;
      reached.push_back(port.to);
    }
  }
  return distances;
}

/** Returns the link from @p at to the neighbour at its port @p first; the destination selects among parallel links. */
LinkId Custom::pick(VertexId at, const Port& first, VertexId to) const
{
  const auto parallel = [&first](const Port& port) { return port.to == first.to; };
  const auto count    = std::ranges::count_if(ports(at), parallel);
  auto skip           = aggregation_.choice(to, to) % count;
  const auto picked =
      std::find_if(ports(at).begin(), ports(at).end(), [&](const Port& port) { return parallel(port) && skip-- == 0; });
  return picked->link;
}

void Custom::search(VertexId to, Table& table) const
{
  const std::vector<int> links = distances(to);
  table.to                     = to;
  table.next.assign(links.size(), -1);
  for (VertexId at = 0; at < vertices(); ++at) {
    const auto first = std::find_if(ports(at).begin(), ports(at).end(), [&](const Port& port) {
      return (port.to == to || forwards(port.to)) &&
             links[static_cast<std::size_t>(port.to)] + 1 == links[static_cast<std::size_t>(at)];
    });
    if (first != ports(at).end())
      table.next[static_cast<std::size_t>(at)] = pick(at, *first, to);
  }
}

Hop Custom::next_hop(VertexId at, VertexId to) const
{
  Table& table = tables_[static_cast<std::size_t>(to) % tables_.size()];
  if (table.to != to)
    search(to, table);
  const LinkId link  = table.next[static_cast<std::size_t>(at)];
  const Cable& cable = graph_.cables[static_cast<std::size_t>(link / 2)];
  return {link, at == cable.lower ? cable.upper : cable.lower};
}

void Custom::equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const
{
  if (distances_.empty())
    distances_.resize(tables_.size());
  Distances& known = distances_[static_cast<std::size_t>(to) % distances_.size()];
  if (known.to != to)
    known = {to, distances(to)};
  for (const Port& port : ports(at))
    if ((port.to == to || forwards(port.to)) &&
        known.links[static_cast<std::size_t>(port.to)] + 1 == known.links[static_cast<std::size_t>(at)])
      into.push_back({port.link, port.to});
}

/** Returns the connected component of each switch, without paths through hosts. @p count: number of components. */
std::vector<int> Custom::switch_parts(int& count) const
{
  std::vector<int> parts(static_cast<std::size_t>(switch_count()), -1);
  count = 0;
  for (VertexId first = host_count(); first < vertices(); ++first) {
    if (parts[static_cast<std::size_t>(first - host_count())] >= 0)
      continue;
    const std::vector<int> links = distances(first);
    for (VertexId at = host_count(); at < vertices(); ++at)
      if (links[static_cast<std::size_t>(at)] >= 0)
        parts[static_cast<std::size_t>(at - host_count())] = count;
    ++count;
  }
  return parts;
}

std::optional<Custom::Gap> Custom::find_gap() const
{
  int count                    = 0;
  const std::vector<int> parts = switch_parts(count);
  std::optional<Gap> gap;
  for (VertexId host = 0; host < host_count(); ++host) {
    std::set<int> reached;
    for (const Port& port : ports(host))
      if (not is_host(port.to))
        reached.insert(parts[static_cast<std::size_t>(port.to - host_count())]);
    if (count > 0 && std::cmp_equal(reached.size(), count))
      continue;
    const std::vector<int> links = distances(host);
    const auto missing           = static_cast<VertexId>(std::ranges::find(links, -1) - links.begin());
    if (missing == vertices())
      continue;
    if (is_host(missing))
      return Gap{host, missing};
    if (not gap)
      gap = Gap{host, missing};
  }
  return gap;
}

int Custom::farthest_host(VertexId from) const
{
  const std::vector<int> links = distances(from);
  return *std::max_element(links.begin(), links.begin() + host_count());
}

/** Searches once per set of switches, since hosts on the same switches have the same distances, and once per host that
 * has a direct cable to another host. */
int Custom::diameter() const
{
  if (diameter_ > 0)
    return diameter_;
  diameter_ = 1;
  std::set<std::set<VertexId>> searched;
  for (VertexId host = 0; host < host_count(); ++host) {
    std::set<VertexId> switches;
    for (const Port& port : ports(host))
      switches.insert(port.to);
    if (searched.insert(std::move(switches)).second)
      diameter_ = std::max(diameter_, farthest_host(host));
  }
  return diameter_;
}

std::vector<VertexId> Custom::meeting_switches(std::span<const VertexId> hosts) const
{
  std::vector<VertexId> switches;
  for (const VertexId host : hosts)
    for (const Port& port : ports(host))
      if (not is_host(port.to))
        switches.push_back(port.to);
  std::ranges::sort(switches);
  const auto repeated = std::ranges::unique(switches);
  switches.erase(repeated.begin(), repeated.end());
  return switches;
}

namespace {

struct CustomOptions {
  std::vector<std::string> hosts;
  std::vector<std::string> switches;
  std::string link_aggregation{LinkAggregation().name()};
};

struct CableOptions {
  std::vector<std::string> between;
  int count = 1;
};

const std::vector<Option<CustomOptions>>& custom_options()
{
  using M = CustomOptions;
  static const std::vector<Option<M>> ROWS{
      {"hosts", "names of the hosts, in the order of ranks", &M::hosts},
      {"switches", "names of the switches; none: hosts are cabled directly, and forward", &M::switches, Need::optional},
      link_aggregation_option<M>(),
  };
  return ROWS;
}

const std::vector<Option<CableOptions>>& cable_options()
{
  using M = CableOptions;
  static const std::vector<Option<M>> ROWS{
      {"between", R"(the two ends, as ["host-0", "leaf-0"])", &M::between},
      {"count", "parallel cables", &M::count, Need::optional},
  };
  return ROWS;
}

/** Reads the lists and maps names to vertices. */
class CustomReader {
  Custom::Graph graph_;
  std::map<std::string, VertexId> vertices_;
  std::map<std::pair<VertexId, VertexId>, int> numbers_; // by both ends: number of cables so far
  std::vector<std::string> names_;

  int hosts() const { return static_cast<int>(graph_.hosts.size()); }

  void read_names(const OptionTable& table, const std::string& key, const std::vector<std::string>& names)
  {
    for (const std::string& name : names) {
      if (name.empty() || not vertices_.emplace(name, static_cast<VertexId>(names_.size())).second)
        table.fail(key, "found \"" + name + "\"" + (name.empty() ? "" : " twice") +
                            "; allowed: unique names of hosts and switches");
      // Reserved names: cables between switches are "ONE--OTHER", weft's internal objects "weft.SOMETHING".
      if (name.starts_with("weft.") || name.find("--") != std::string::npos)
        table.fail(key, "found \"" + name + R"("; allowed: names that do not begin with "weft." and have no "--")");
      names_.push_back(name);
    }
  }

  VertexId end(const OptionTable& row, const std::string& name) const
  {
    if (const auto found = vertices_.find(name); found != vertices_.end())
      return found->second;
    const std::string meant = nearest(name, names_);
    row.fail("between", "found \"" + name + "\", which is neither a host nor a switch" +
                            (meant.empty() ? "" : "; did you mean \"" + meant + "\"?"));
  }

  void read_cable(const OptionTable& row)
  {
    CableOptions options;
    require_options(row, cable_options(), read_options(row, cable_options(), {}, options));
    if (options.between.size() != 2)
      row.fail("between", "found " + std::to_string(options.between.size()) + " names; allowed: two");
    VertexId lower          = end(row, options.between[0]);
    VertexId upper          = end(row, options.between[1]);
    const std::string found = "found \"" + options.between[0] + "\" and \"" + options.between[1] + "\"";
    if (lower == upper)
      row.fail("between", found + "; allowed: two different ends");
    if (upper < hosts() && lower >= hosts())
      std::swap(lower, upper);
    check_cable_count(row, "count", static_cast<double>(graph_.cables.size()) + options.count);
    int& number = numbers_[std::minmax(lower, upper)];
    for (int count = 0; count < options.count; ++count)
      graph_.cables.push_back({lower, upper, number++});
  }

  void check_cabled(const OptionTable& table) const
  {
    std::vector<bool> cabled(graph_.hosts.size());
    for (const Cable& cable : graph_.cables)
      for (const VertexId end : {cable.lower, cable.upper})
        if (end < hosts())
          cabled[static_cast<std::size_t>(end)] = true;
    if (const auto bare = std::ranges::find(cabled, false); bare != cabled.end())
      table.fail("hosts", "\"" + names_[static_cast<std::size_t>(bare - cabled.begin())] +
                              "\" has no cable; list one with [[topology.cables]]");
  }

public:
  std::unique_ptr<Custom> read(const OptionTable& table)
  {
    CustomOptions options;
    require_options(table, custom_options(), read_options(table, custom_options(), {"kind", "cables"}, options));
    graph_.hosts    = options.hosts;
    graph_.switches = options.switches;
    read_names(table, "hosts", options.hosts);
    read_names(table, "switches", options.switches);
    for (const OptionTable& row : table.tables("cables"))
      read_cable(row);
    check_cabled(table);
    return std::make_unique<Custom>(std::move(graph_), LinkAggregation(options.link_aggregation));
  }
};

std::unique_ptr<Topology> build_custom(const OptionTable& table)
{
  auto custom = CustomReader().read(table);
  if (const std::optional<Custom::Gap> gap = custom->find_gap())
    table.fail("cables", "there is no route from \"" + custom->vertex_name(gap->host) + "\" to \"" +
                             custom->vertex_name(gap->other) +
                             (custom->hosts_forward() ? "\"; add a cable" : "\"; hosts do not forward packets"));
  return custom;
}

} // namespace

TopologyKind custom_kind()
{
  std::vector<OptionHelp> options = describe_options(custom_options());
  options.push_back({"cables", "tables", "the cables, as [[topology.cables]]", true});
  for (const OptionHelp& row : describe_options(cable_options()))
    options.emplace_back(row).key = "cables." + row.key;
  return {"custom", "hosts, switches and cables as listed; shortest-path routing", options, build_custom};
}

} // namespace weft
