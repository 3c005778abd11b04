// SPDX-License-Identifier: LGPL-2.1-only
/* Prints the routes of SimGrid's own clusters, for comparison with weft's.
 *
 *   zones star HOSTS | fat_tree DOWN UP CABLES | torus DIMENSIONS | dragonfly GROUPS CHASSIS ROUTERS HOSTS
 *
 * followed by PAIRS: "all", or the number of random pairs. Lists are written 4,4; GROUPS, CHASSIS and ROUTERS as
 * number,cables. Every link has 1 GB/s and 1 us, except that the parallel cables of a Dragonfly are one link with the
 * sum of their bandwidths. Prints one line per pair: source, destination, latency in s, time of a message of 1 MB in s,
 * names of the links.
 */
#include <cstdio>
#include <cstdlib>
#include <random>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

constexpr double BANDWIDTH     = 1e9;
constexpr double LATENCY       = 1e-6;
constexpr double MESSAGE       = 1e6;
constexpr auto DUPLEX          = sg4::Link::SharingPolicy::SPLITDUPLEX;
constexpr unsigned SAMPLE_SEED = 1;

template <class T> std::vector<T> list(const std::string& text)
{
  std::vector<T> values;
  std::istringstream in(text);
  for (std::string value; std::getline(in, value, ',');)
    values.push_back(static_cast<T>(std::stoul(value)));
  return values;
}

std::pair<unsigned, unsigned> number_and_cables(const std::string& text)
{
  const auto values = list<unsigned>(text);
  return {values.at(0), values.at(1)};
}

/** Returns the cluster described by @p words. */
sg4::NetZone* add_zone(sg4::NetZone* root, const std::vector<std::string>& words)
{
  const std::string& kind = words.at(0);
  if (kind == "fat_tree") {
    const auto down = list<unsigned>(words.at(1));
    return root->add_netzone_fatTree("zone", static_cast<unsigned>(down.size()), down, list<unsigned>(words.at(2)),
                                     list<unsigned>(words.at(3)), BANDWIDTH, LATENCY, DUPLEX);
  }
  if (kind == "torus")
    return root->add_netzone_torus("zone", list<unsigned long>(words.at(1)), BANDWIDTH, LATENCY, DUPLEX);
  if (kind == "dragonfly")
    return root->add_netzone_dragonfly("zone", number_and_cables(words.at(1)), number_and_cables(words.at(2)),
                                       number_and_cables(words.at(3)), list<unsigned>(words.at(4)).at(0), BANDWIDTH,
                                       LATENCY, DUPLEX);
  std::fprintf(stderr, "zones: no cluster of the kind \"%s\"\n", kind.c_str());
  std::exit(2);
}

std::vector<sg4::Host*> build_star(sg4::NetZone* root, unsigned long count)
{
  auto* zone = root->add_netzone_star("zone");
  std::vector<sg4::Host*> hosts;
  for (unsigned long id = 0; id < count; ++id) {
    hosts.push_back(zone->add_host("host-" + std::to_string(id), 1e9));
    const auto* cable = zone->add_split_duplex_link("cable_" + std::to_string(id), BANDWIDTH)->set_latency(LATENCY);
    zone->add_route(hosts.back(), nullptr, {{cable, sg4::LinkInRoute::Direction::UP}}, true);
  }
  zone->seal();
  return hosts;
}

std::vector<sg4::Host*> build(sg4::NetZone* root, const std::vector<std::string>& words)
{
  if (words.at(0) == "star")
    return build_star(root, std::stoul(words.at(1)));
  std::vector<sg4::Host*> hosts;
  auto* zone = add_zone(root, words);
  zone->set_host_cb([&hosts](sg4::NetZone* owner, const std::vector<unsigned long>&, unsigned long id) {
    hosts.push_back(owner->add_host("host-" + std::to_string(id), 1e9));
    return hosts.back();
  });
  zone->seal();
  return hosts;
}

std::vector<std::pair<std::size_t, std::size_t>> choose_pairs(const std::string& wanted, std::size_t hosts)
{
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (wanted == "all") {
    for (std::size_t from = 0; from < hosts; ++from)
      for (std::size_t to = 0; to < hosts; ++to)
        if (from != to)
          pairs.emplace_back(from, to);
    return pairs;
  }
  std::mt19937 random(SAMPLE_SEED);
  while (pairs.size() < std::stoul(wanted)) {
    const std::size_t from = random() % hosts;
    const std::size_t to   = random() % hosts;
    if (from != to)
      pairs.emplace_back(from, to);
  }
  return pairs;
}

void show(const sg4::Host* from, const sg4::Host* to)
{
  const auto [links, latency] = from->route_to(to);
  const double start          = sg4::Engine::get_clock();
  sg4::Comm::sendto(const_cast<sg4::Host*>(from), const_cast<sg4::Host*>(to), static_cast<uint64_t>(MESSAGE));
  std::printf("%s %s %.15g %.15g", from->get_cname(), to->get_cname(), latency, sg4::Engine::get_clock() - start);
  for (const sg4::Link* link : links)
    std::printf(" %s", link->get_cname());
  std::printf("\n");
}

} // namespace

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  for (const char* setting : {"network/crosstraffic:0", "network/TCP-gamma:0", "network/weight-S:0",
                              "network/latency-factor:1", "network/bandwidth-factor:1"})
    sg4::Engine::set_config(setting);
  if (argc < 4) {
    std::fprintf(stderr, "zones: see the comment at the top of its source\n");
    return 2;
  }
  const std::vector<std::string> words(argv + 1, argv + argc - 1);
  const std::vector<sg4::Host*> hosts = build(engine.get_netzone_root(), words);
  const auto pairs                    = choose_pairs(argv[argc - 1], hosts.size());
  hosts.front()->add_actor("prober", [&] {
    for (const auto& [from, to] : pairs)
      show(hosts[from], hosts[to]);
  });
  engine.run();
  return 0;
}
