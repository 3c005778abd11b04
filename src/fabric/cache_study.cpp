// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/cache_study.hpp"

#include "fabric/torus.hpp"

#include <random>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace weft {
namespace {

/** A port's cache with its misses told apart. */
class StudiedPort {
  ForwardingCache cache_;
  MissClassifier classifier_;

public:
  explicit StudiedPort(const CacheShape& shape) : cache_(shape), classifier_(shape.entries) {}

  void look_up(ForwardingTag tag, int port, CacheCounters& counters)
  {
    const std::optional<int> found = cache_.lookup(tag);
    if (found && *found != port)
      throw std::logic_error("a forwarding cache misroutes");
    classifier_.count(tag, found.has_value(), counters);
    if (not found)
      cache_.fill(tag, port);
  }
};

int below(std::mt19937& random, int limit)
{
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

MessageEnds random_ends(std::mt19937& random, int hosts)
{
  const VertexId from = below(random, hosts);
  return {from, (from + 1 + below(random, hosts - 1)) % hosts};
}

/** The host as far from switch 0 along each dimension as @p host is from @p at. */
int translated(int host, int at, int size)
{
  int result = 0;
  for (int stride = 1; host > 0 || at > 0; stride *= size, host /= size, at /= size)
    result += (host % size - at % size + size) % size * stride;
  return result;
}

} // namespace

CacheCounters study_port(const CacheShape& shape, int destinations, bool scattered, std::int64_t lookups, unsigned seed)
{
  std::mt19937 random(seed);
  constexpr int ALL = 16777216; // 24 bits
  std::set<ForwardingAddress> addresses;
  while (std::cmp_less(addresses.size(), destinations))
    addresses.insert(
        static_cast<ForwardingAddress>(scattered ? below(random, ALL) : static_cast<int>(addresses.size())));
  std::vector<ForwardingTag> tags;
  tags.reserve(addresses.size());
  for (const ForwardingAddress address : addresses)
    tags.push_back(crc24(address));

  StudiedPort port(shape);
  CacheCounters counters;
  for (std::int64_t lookup = 0; lookup < lookups; ++lookup) {
    const int destination = below(random, destinations);
    port.look_up(tags[static_cast<std::size_t>(destination)], destination, counters);
  }
  return counters;
}

std::vector<CacheCounters> study_torus(const CacheShape& shape, int size, int dimensions, bool hashed, int messages,
                                       unsigned seed)
{
  const Torus torus({std::vector<int>(static_cast<std::size_t>(dimensions), size), 1, 1}, Torus::Edges::wrapped);
  const auto hash = make_forwarding_hash(hashed ? "cube" : "crc", torus);
  const int hosts = torus.host_count();
  std::vector<CacheCounters> counters(static_cast<std::size_t>(dimensions) + 1);
  std::vector<StudiedPort> ports(2 * counters.size(), StudiedPort(shape)); // by dimension and direction
  std::mt19937 random(seed);
  Route route;
  for (int message = 0; message < messages; ++message) {
    const auto [from, to] = random_ends(random, hosts);
    route.clear();
    torus.route(from, to, route);
    std::size_t kind = 0;
    for (std::size_t hop = 0; hop < route.through.size(); ++hop) {
      const int at = route.through[hop] - hosts;
      if (hop > 0) // along the dimension whose cables these are
        kind = 1 + static_cast<std::size_t>((route.links[hop] / 2 - hosts) / (size == 2 ? hosts / 2 : hosts));
      const VertexId destination = translated(to, at, size);
      const int out              = torus.next_hop(hosts, destination).link;
      const auto direction       = static_cast<std::size_t>(route.links[hop] % 2);
      ports[2 * kind + direction].look_up(hash->tag(0, hash->address(destination)), out, counters[kind]);
    }
  }
  return counters;
}

CacheCounters study_messages(const CacheShape& shape, const Topology& topology, const ForwardingHash& hash,
                             std::span<const MessageEnds> messages)
{
  std::unordered_map<LinkId, StudiedPort> ports; // by the link that ends there
  CacheCounters counters;
  Route route;
  for (const auto& [from, to] : messages) {
    route.clear();
    topology.route(from, to, route);
    const ForwardingAddress address = hash.address(to);
    for (std::size_t hop = 0; hop < route.through.size(); ++hop) {
      const auto port = ports.try_emplace(route.links[hop], shape).first;
      port->second.look_up(hash.tag(route.through[hop] - topology.host_count(), address), route.links[hop + 1],
                           counters);
    }
  }
  return counters;
}

std::vector<MessageEnds> uniform_messages(const Topology& topology, int count, unsigned seed)
{
  std::mt19937 random(seed);
  std::vector<MessageEnds> messages;
  messages.reserve(static_cast<std::size_t>(count));
  for (int message = 0; message < count; ++message)
    messages.push_back(random_ends(random, topology.host_count()));
  return messages;
}

} // namespace weft
