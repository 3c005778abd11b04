// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/platform_network.hpp"

#include "base/error.hpp"
#include "binding/abi/kernel/platform_file.hpp"
#include "binding/abi/refusals.hpp"
#include "binding/platform/switch_properties.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <simgrid/Exception.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

using Links = std::vector<sg::Link*>;

/** Returns the links of a route and its latency in seconds. */
std::pair<Links, double> way(const sg::Host* from, const sg::Host* to)
{
  Links links;
  double latency = 0;
  from->route_to(to, links, &latency);
  return {links, latency};
}

} // namespace

/** Graph inferred from the routes of a platform; see the header. */
class PlatformTopology : public Topology {
  std::vector<sg::Host*> vertices_;
  int host_count_;
  std::vector<Cable> cables_;
  std::vector<std::vector<std::pair<VertexId, std::size_t>>> above_; // by vertex: attached switches with cables
  std::vector<double> distance_; // total latency from all hosts to a switch, by index

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

  /** Prefers the last smart switch on the route to @p to. */
  Hop next_hop(VertexId at, VertexId to) const override
  {
    if (at == to)
      throw std::logic_error("no way from " + host(at)->get_name() + " to itself");
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
    return best.link < 0 ? last_hop(at, to) : best;
  }

  /** Next hop if no smart switch is on the route: down to the host, or via the switch from which
   * the rest of the route has the lowest latency. */
  Hop last_hop(VertexId at, VertexId to) const
  {
    for (const auto& [target, cable] : above_[static_cast<std::size_t>(to)])
      if (target == at)
        return {down_link(cable), to};
    Hop best{-1, to};
    double least = at < host_count_ ? std::numeric_limits<double>::infinity() : way(host(at), host(to)).second;
    for (const auto& [target, cable] : above_[static_cast<std::size_t>(at)])
      if (const double rest = way(host(target), host(to)).second; rest < least) {
        best  = {up_link(cable), target};
        least = rest;
      }
    if (best.link < 0)
      throw std::logic_error("no way from " + host(at)->get_name() + " to " + host(to)->get_name());
    return best;
  }

  /** Returns the candidates for the tree's root by the property `meeting`, see switch_properties.hpp. */
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override
  {
    const std::string meeting = switch_count() > 0 ? meeting_of(host(host_count_)) : "nearest";
    if (meeting == "next-to-hosts")
      return next_to(hosts);
    std::vector<VertexId> nearest;
    double least = std::numeric_limits<double>::infinity();
    for (VertexId vertex = host_count_; std::cmp_less(vertex, vertices_.size()); ++vertex) {
      double distance = 0;
      for (const VertexId member : hosts) {
        const double its = way(host(member), host(vertex)).second;
        distance         = meeting == "centre" ? std::max(distance, its) : distance + its;
      }
      if (distance < least * (1 - 1e-9))
        nearest.clear();
      if (distance <= least * (1 + 1e-9))
        nearest.push_back(vertex);
      least = std::min(least, distance);
    }
    return nearest;
  }

  std::vector<VertexId> next_to(std::span<const VertexId> hosts) const
  {
    std::set<VertexId> switches;
    for (const VertexId member : hosts)
      for (const auto& [target, cable] : above_[static_cast<std::size_t>(member)])
        switches.insert(target);
    return {switches.begin(), switches.end()};
  }
};

namespace {

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

/** Returns the factors by message size without SMPI's envelope, as fabric files list them. */
std::vector<PointToPointSegment> segments_of(const FlowFactors& factors)
{
  std::set<double> bounds{0.0};
  for (const auto& boundaries : {factors.latency, factors.bandwidth})
    for (const auto& [above, factor] : boundaries)
      bounds.insert(std::max(0.0, above + 1 - SMPI_ENVELOPE.value()));
  std::vector<PointToPointSegment> segments;
  for (const double from : bounds) {
    const double size = from + SMPI_ENVELOPE.value();
    segments.push_back({Bytes(from), FlowFactors::at(factors.latency, size), FlowFactors::at(factors.bandwidth, size)});
  }
  return segments;
}

/** Describes a host, with the loopback from its route to itself if it has one. */
HostModel host_of(const sg::Host* host)
{
  HostModel model;
  model.speed               = FlopsPerSecond(host->get_speed());
  model.cores               = host->get_core_count();
  const auto [links, delay] = way(host, host);
  for (const sg::Link* link : links)
    model.loopback_bandwidth = BytesPerSecond(link->get_bandwidth());
  model.loopback_latency = Seconds(delay);
  return model;
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
  // Sorts digits in names by value (griffon-2 before griffon-10), so that consecutive ranks are in
  // the same cabinet.
  const auto comes_before = [](const sg::Host* one, const sg::Host* other) {
    const long first  = number_of(one);
    const long second = number_of(other);
    return first != second ? first < second : strverscmp(one->get_cname(), other->get_cname()) < 0;
  };
  std::stable_sort(vertices_.begin(), vertices_.begin() + host_count_, comes_before);
  std::stable_sort(vertices_.begin() + host_count_, vertices_.end(), comes_before);
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

namespace {

/** Returns the line at which SimGrid is reading an XML file; empty for a library, and after the end
 * of the file. */
std::string place_in(const std::string& path, bool reading)
{
  return reading && path.ends_with(".xml") ? ": line " + std::to_string(simgrid_parse_lineno) : "";
}

/** Lets SimGrid load a platform, and turns its errors into UserError. SimGrid reports them by
 * exceptions, or by its log before it aborts. */
void read_platform(const std::string& path, const std::function<void()>& prepare)
{
  bool reading = true;
  try {
    const RefusalsAsErrors refusals;
    sg::Engine::get_instance()->load_platform(path);
    reading = false;
    prepare();
    sg::Engine::get_instance()->get_netzone_root()->seal(); // some zones compute routes only when sealed
  } catch (const UserError&) {
    throw;
  } catch (const simgrid::ParseError& error) { // "Parse error at FILE:LINE: …"
    const std::string text = error.what();
    const std::string at   = path + ":" + std::to_string(simgrid_parse_lineno) + ": ";
    const auto begin       = text.find(at);
    throw UserError("platform " + path + place_in(path, true) + ": " +
                    (begin == std::string::npos ? text : text.substr(begin + at.size())));
  } catch (const std::exception& error) {
    throw UserError("platform " + path + place_in(path, reading) + ": " + error.what());
  }
}

} // namespace

std::pair<Fabric, std::unique_ptr<PlatformNetwork>> PlatformNetwork::load(const std::string& path)
{
  if (not std::filesystem::is_regular_file(path))
    throw UserError("platform \"" + path + "\": there is no such file");
  auto network = std::make_unique<PlatformNetwork>();
  FlowFactors factors;
  read_platform(path, [&] {
    if (not settings().contention)
      for (sg::Link* const link : sg::Engine::get_instance()->get_all_links())
        if (link->get_sharing_policy() == sg::Link::SharingPolicy::SHARED)
          link->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    network->streams_ = StreamZone::create();
    factors           = FlowFactors::from_options();
    network->streams_->expect_factors(factors);
  });
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
    parts.switches.push_back(read_switch_properties(path, host));
  parts.host     = host_of(network->vertices_.front());
  parts.segments = segments_of(factors);
  parts.nic      = read_nic_properties(path, switches);
  auto topology  = std::make_unique<PlatformTopology>(network->vertices_, network->host_count_);
  check_ports(path, *topology, parts.switches);
  parts.links    = network->describe_links(*topology);
  parts.topology = std::move(topology);
  return {Fabric(std::move(parts)), std::move(network)};
}

namespace {

/** Checks routes one by one; throws at the first bad one. */
class PlatformRoutes {
  /** Link by which the routes from a host to a switch enter it, and that by which routes back leave it; null without
   * links. */
  struct Ports {
    const sg::Link* in;
    const sg::Link* out;
  };

  const std::string& path_;
  std::int64_t routes_ = 0;
  std::map<std::pair<const sg::Host*, const sg::Host*>, Ports> ports_;

  [[noreturn]] void fail(const sg::Host* from, const sg::Host* to, const std::string& problem) const
  {
    throw UserError("platform " + path_ + ": the route from " + from->get_name() + " to " + to->get_name() + " " +
                    problem);
  }

  std::pair<Links, double> find(const sg::Host* from, const sg::Host* to) const
  {
    try {
      return way(from, to);
    } catch (const std::exception& error) {
      fail(from, to, "is missing: " + std::string(error.what()));
    }
  }

  const Ports& ports(const sg::Host* host, const sg::Host* smart_switch)
  {
    const auto [found, is_new] = ports_.try_emplace({host, smart_switch});
    if (is_new) {
      const Links there = find(host, smart_switch).first;
      const Links back  = find(smart_switch, host).first;
      found->second     = {there.empty() ? nullptr : there.back(), back.empty() ? nullptr : back.front()};
    }
    return found->second;
  }

  bool crosses(const Links& links, const sg::Host* from, const sg::Host* to, const sg::Host* smart_switch)
  {
    const auto has = [&links](const sg::Link* link) {
      return not link || std::ranges::find(links, link) != links.end();
    };
    return has(ports(from, smart_switch).in) && has(ports(to, smart_switch).out);
  }

  static std::string names_of(const Links& links)
  {
    std::string text = links.empty() ? "no link" : links.size() == 1 ? "the link" : "the links";
    for (const sg::Link* const link : links)
      text += (link == links.front() ? " " : ", ") + link->get_name();
    return text;
  }

public:
  explicit PlatformRoutes(const std::string& path) : path_(path) {}
  std::int64_t routes() const { return routes_; }

  /** Checks the route between two hosts, which must cross one of the smart switches if there are any: the third rule of
   * validation in Belbeisi et al., section 5. */
  void check_pair(const sg::Host* from, const sg::Host* to, std::span<sg::Host* const> switches)
  {
    check(from, to);
    if (switches.empty())
      return;
    const Links links = find(from, to).first;
    if (std::ranges::none_of(switches, [&](const sg::Host* one) { return crosses(links, from, to, one); }))
      fail(from, to,
           "bypasses the smart " + std::string(switches.size() == 1 ? "switch " : "switches, of which the first is ") +
               switches.front()->get_name() + ": it uses " + names_of(links) +
               "; lead it over the links of the switch, or remove weft's properties from the switch");
  }

  void check(const sg::Host* from, const sg::Host* to)
  {
    const auto [links, latency] = find(from, to);
    if (links.empty() && latency <= 0)
      fail(from, to, "is missing; add one, for example with <route>");
    Links sorted = links;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      fail(from, to, "uses the link " + (*twice)->get_name() + " twice");
    for (const sg::Link* const link : links)
      if (link->get_bandwidth() <= 0)
        fail(from, to, "uses the link " + link->get_name() + ", which has no bandwidth");
    ++routes_;
  }
};

} // namespace

std::string PlatformNetwork::check_routes(const std::string& path) const
{
  constexpr int ALL_PAIRS_LIMIT  = 1024;
  constexpr int SAMPLED_PARTNERS = 16;
  constexpr unsigned SEED        = 1;
  const RefusalsAsErrors refusals;
  const bool all = host_count_ <= ALL_PAIRS_LIMIT;
  const std::vector<sg::Host*> smart(vertices_.begin() + host_count_, vertices_.end());
  PlatformRoutes routes(path);
  std::mt19937 random(SEED);
  for (VertexId from = 0; from < host_count_; ++from)
    for (int step = 1; step <= (all ? host_count_ - 1 : SAMPLED_PARTNERS); ++step) {
      const int distance = all ? step : 1 + static_cast<int>(random() % static_cast<unsigned>(host_count_ - 1));
      routes.check_pair(host_at(from), host_at((from + distance) % host_count_), smart);
    }
  const std::int64_t pairs = routes.routes();
  const auto switches      = std::ssize(vertices_) - host_count_;
  for (VertexId vertex = host_count_; std::cmp_less(vertex, vertices_.size()); ++vertex) {
    const auto member = static_cast<VertexId>(random() % static_cast<unsigned>(host_count_));
    routes.check(host_at(member), host_at(vertex));
    routes.check(host_at(vertex), host_at(member));
  }
  return grouped(pairs) + (all ? " routes, every pair of hosts" : " routes, a seeded sample of every host's") +
         (switches > 0
              ? ", and to and from each of " + grouped(switches) + " smart " + (switches == 1 ? "switch" : "switches")
              : "") +
         ": each exists" +
         (switches == 0   ? " and"
          : switches == 1 ? ", crosses the switch and"
                          : ", crosses one of the switches and") +
         " uses no link twice\n";
}

std::vector<sg::Host*> PlatformNetwork::hosts() const
{
  return {vertices_.begin(), vertices_.begin() + host_count_};
}

void PlatformNetwork::append_links(LinkId id, std::vector<sg::Link*>& into)
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
