#include "simgrid/platform_network.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

using Links = std::vector<sg::Link*>;

constexpr const char* MARK = "processing_latency";

bool is_smart(const sg::Host* host)
{
  return host->get_property(MARK) != nullptr;
}

/** The links of a route and its latency. */
std::pair<Links, double> way(const sg::Host* from, const sg::Host* to)
{
  Links links;
  double latency = 0;
  from->route_to(to, links, &latency);
  return {links, latency};
}

} // namespace

/** The graph that the routes of a platform show; see the header. */
class PlatformTopology : public Topology {
  std::vector<sg::Host*> vertices_;
  int host_count_;
  std::vector<Cable> cables_;
  std::vector<std::vector<std::pair<VertexId, std::size_t>>> above_; // by vertex: smart switches cabled, with cable
  std::vector<double> distance_; // summed latency of all hosts to a switch, by index

  bool cabled(VertexId vertex, VertexId target) const
  {
    const Links links = way(host(vertex), host(target)).first;
    for (VertexId other = host_count_; std::cmp_less(other, vertices_.size()); ++other) {
      if (other == vertex || other == target)
        continue;
      const Links nearer = way(host(vertex), host(other)).first;
      if (nearer.size() < links.size() && std::equal(nearer.begin(), nearer.end(), links.begin()))
        return false;
    }
    return true;
  }

public:
  PlatformTopology(std::vector<sg::Host*> vertices, int host_count)
      : vertices_(std::move(vertices)), host_count_(host_count), above_(vertices_.size())
  {
    for (VertexId vertex = 0; std::cmp_less(vertex, vertices_.size()); ++vertex)
      for (VertexId target = host_count_; std::cmp_less(target, vertices_.size()); ++target) {
        if (vertex == target || not cabled(vertex, target))
          continue;
        above_[static_cast<std::size_t>(vertex)].emplace_back(target, cables_.size());
        cables_.push_back({vertex, target});
      }
  }

  sg::Host* host(VertexId vertex) const { return vertices_[static_cast<std::size_t>(vertex)]; }
  int host_count() const override { return host_count_; }
  int switch_count() const override { return static_cast<int>(vertices_.size()) - host_count_; }
  std::vector<Cable> cables() const override { return cables_; }
  int diameter() const override { return 2 * (switch_count() + 1); }
  std::string host_name(int index) const override { return host(index)->get_name(); }
  std::string switch_name(int index) const override { return host(host_count_ + index)->get_name(); }

  /** Upwards only: @p to is a smart switch. The last smart switch on the route there comes first. */
  Hop next_hop(VertexId at, VertexId to) const override
  {
    const Links links = way(host(at), host(to)).first;
    Hop best{-1, to};
    std::size_t passed = 0;
    for (const auto& [target, cable] : above_[static_cast<std::size_t>(at)]) {
      const Links nearer = way(host(at), host(target)).first;
      const bool on_it   = nearer.size() <= links.size() && std::equal(nearer.begin(), nearer.end(), links.begin());
      if (not on_it || (best.link >= 0 && nearer.size() <= passed))
        continue;
      best   = {up_link(cable), target};
      passed = nearer.size();
    }
    if (best.link < 0)
      throw std::logic_error("no way from " + host(at)->get_name() + " to " + host(to)->get_name());
    return best;
  }

  /** The smart switches that are nearest to all of the hosts together. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override
  {
    std::vector<VertexId> nearest;
    double least = std::numeric_limits<double>::infinity();
    for (VertexId vertex = host_count_; std::cmp_less(vertex, vertices_.size()); ++vertex) {
      double sum = 0;
      for (const VertexId member : hosts)
        sum += way(host(member), host(vertex)).second;
      if (sum < least * (1 - 1e-9))
        nearest.clear();
      if (sum <= least * (1 + 1e-9))
        nearest.push_back(vertex);
      least = std::min(least, sum);
    }
    return nearest;
  }
};

namespace {

/** Reads the properties of a smart switch; every message names file, host and property. */
class PropertyReader {
  const std::string& file_;
  const sg::Host* host_;

  std::optional<std::string> find(const std::string& key) const
  {
    const char* text = host_->get_property(key);
    return text ? std::optional<std::string>(text) : std::nullopt;
  }
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const
  {
    throw UserError(file_ + ": host \"" + host_->get_name() + "\", property " + key + ": " + problem);
  }

public:
  PropertyReader(const std::string& file, const sg::Host* host) : file_(file), host_(host) {}

  template <class Q> void read(const std::string& key, Q& into, const char* plain_unit) const
  {
    const std::optional<std::string> text = find(key);
    if (not text)
      return;
    try {
      // Belbeisi et al. (CF '26) write plain numbers of seconds and bytes.
      const bool plain = text->find_first_not_of("0123456789.eE+-") == std::string::npos;
      into             = parse<Q>(plain ? *text + plain_unit : *text);
    } catch (const UnitError& error) {
      fail(key, error.what());
    }
    if (into < Q())
      fail(key, "found \"" + *text + "\"; allowed: zero or more");
  }

  void read(const std::string& key, int& into) const
  {
    const std::optional<std::string> text = find(key);
    if (not text)
      return;
    const bool digits =
        not text->empty() && text->size() < 10 && text->find_first_not_of("0123456789") == std::string::npos;
    if (not digits || std::stoi(*text) == 0)
      fail(key, "found \"" + *text + "\"; allowed: an integer above zero");
    into = std::stoi(*text);
  }

  SwitchModel preset() const
  {
    const std::string name                 = find("preset").value_or("tofino");
    const std::optional<SwitchModel> model = find_switch_preset(name);
    if (not model)
      fail("preset", "found \"" + name + "\"; there is no such switch preset");
    return *model;
  }

  void require(const std::string& key) const
  {
    if (not find(key))
      fail(key, "is missing; a smart switch needs processing_latency and max_ports");
  }
};

SwitchModel read_model(const std::string& file, const sg::Host* host)
{
  const PropertyReader reader(file, host);
  reader.require("max_ports");
  SwitchModel model = reader.preset();
  reader.read("max_ports", model.max_ports);
  reader.read("channels", model.channels);
  reader.read("slots", model.slots);
  reader.read("processing_latency", model.processing_latency, "s");
  reader.read("turnaround", model.turnaround, "s");
  reader.read("payload", model.payload, "B");
  reader.read("packet_overhead", model.packet_overhead, "B");
  // The platform's routes have it in their links; only what a tree switch passes on pays it here.
  model.forwarding_latency = Seconds();
  reader.read("forwarding_latency", model.forwarding_latency, "s");
  return model;
}

NicModel read_nic_properties(const std::string& file, const std::vector<sg::Host*>& switches)
{
  NicModel nic;
  for (const sg::Host* host : switches) {
    const PropertyReader reader(file, host);
    reader.read("offload_overhead", nic.offload_overhead, "s");
    reader.read("message_gap", nic.message_gap, "s");
  }
  return nic;
}

void check_ports(const std::string& file, const PlatformTopology& topology, const std::vector<SwitchModel>& models)
{
  std::vector<int> ports(models.size());
  for (const Cable& cable : topology.cables())
    ++ports[static_cast<std::size_t>(cable.upper - topology.host_count())];
  for (std::size_t index = 0; index < models.size(); ++index)
    if (ports[index] > models[index].max_ports)
      throw UserError(file + ": host \"" + topology.switch_name(static_cast<int>(index)) +
                      "\", property max_ports: found " + std::to_string(models[index].max_ports) +
                      ", and the routes of " + std::to_string(ports[index]) + " hosts and switches end at it");
}

} // namespace

void PlatformNetwork::sort_hosts()
{
  for (sg::Host* host : sg::Engine::get_instance()->get_all_hosts())
    if (not is_smart(host))
      vertices_.push_back(host);
  host_count_ = static_cast<int>(vertices_.size());
  for (sg::Host* host : sg::Engine::get_instance()->get_all_hosts())
    if (is_smart(host))
      vertices_.push_back(host);
  for (VertexId vertex = 0; std::cmp_less(vertex, vertices_.size()); ++vertex)
    vertex_of_.emplace(vertices_[static_cast<std::size_t>(vertex)], vertex);
}

std::vector<Link> PlatformNetwork::describe_links(const Topology& topology)
{
  std::vector<Link> links;
  for (const Cable& cable : topology.cables())
    for (const auto& [from, to] : {std::pair{cable.lower, cable.upper}, std::pair{cable.upper, cable.lower}}) {
      auto [ways, latency] = way(vertices_[static_cast<std::size_t>(from)], vertices_[static_cast<std::size_t>(to)]);
      double slowest       = std::numeric_limits<double>::infinity();
      for (const sg::Link* link : ways)
        slowest = std::min(slowest, link->get_bandwidth());
      links.push_back({topology.vertex_name(from) + "->" + topology.vertex_name(to), from, to, BytesPerSecond(slowest),
                       Seconds(latency)});
      links_.push_back(std::move(ways));
    }
  return links;
}

std::pair<Fabric, std::unique_ptr<PlatformNetwork>> PlatformNetwork::load(const std::string& path)
{
  if (not std::filesystem::is_regular_file(path))
    throw UserError("platform \"" + path + "\": there is no such file");
  sg::Engine::get_instance()->load_platform(path);
  auto network      = std::make_unique<PlatformNetwork>();
  network->streams_ = StreamZone::create();
  network->streams_->expect_factors(FlowFactors::from_options());
  sg::Engine::get_instance()->get_netzone_root()->seal(); // some zones know their routes only then
  network->sort_hosts();
  if (network->host_count_ == 0)
    throw UserError("platform \"" + path + "\": it has no host for ranks to run on");

  FabricParts parts;
  parts.name          = std::filesystem::path(path).stem().string();
  parts.description   = "a platform of SimGrid's";
  parts.file          = path;
  parts.topology_kind = "platform";
  const std::vector<sg::Host*> switches(network->vertices_.begin() + network->host_count_, network->vertices_.end());
  for (const sg::Host* host : switches)
    parts.switches.push_back(read_model(path, host));
  parts.nic     = read_nic_properties(path, switches);
  auto topology = std::make_unique<PlatformTopology>(network->vertices_, network->host_count_);
  check_ports(path, *topology, parts.switches);
  parts.links    = network->describe_links(*topology);
  parts.topology = std::move(topology);
  return {Fabric::assemble(std::move(parts)), std::move(network)};
}

std::vector<sg::Host*> PlatformNetwork::hosts() const
{
  return {vertices_.begin(), vertices_.begin() + host_count_};
}

void PlatformNetwork::append_links(LinkId id, std::vector<sg::Link*>& into) const
{
  const Links& links = links_.at(static_cast<std::size_t>(id));
  into.insert(into.end(), links.begin(), links.end());
}

bool PlatformNetwork::is_host(const sg::Host* host) const
{
  const auto found = vertex_of_.find(host);
  return found != vertex_of_.end() && found->second < host_count_;
}

} // namespace weft
