// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/analysis/cache_study.hpp"

#include "fabric/topology/torus.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

/** Forwarding cache of a port, with its misses classified. */
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

/** Cache entry of a destination. */
struct TagAndPort {
  ForwardingTag tag;
  int port;
};

/** Simulates one port with uniform traffic to the destinations of these entries. */
CacheCounters study_uniform(const CacheShape& shape, std::span<const TagAndPort> entries, std::int64_t lookups,
                            std::mt19937& random)
{
  StudiedPort port(shape);
  CacheCounters counters;
  for (std::int64_t lookup = 0; lookup < lookups; ++lookup) {
    const auto destination = static_cast<std::size_t>(below(random, static_cast<int>(entries.size())));
    port.look_up(entries[destination].tag, entries[destination].port, counters);
  }
  return counters;
}

MessageEnds random_ends(std::mt19937& random, int hosts)
{
  const VertexId from = below(random, hosts);
  return {from, (from + 1 + below(random, hosts - 1)) % hosts};
}

/** Translates the torus so that @p at becomes switch 0, and returns the new number of @p host. */
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
  std::vector<TagAndPort> entries;
  entries.reserve(addresses.size());
  for (const ForwardingAddress address : addresses)
    entries.push_back({crc24(address), static_cast<int>(entries.size())});
  return study_uniform(shape, entries, lookups, random);
}

CacheCounters study_hosts(const CacheShape& shape, const Topology& topology, const ForwardingHash& hash,
                          std::span<const VertexId> hosts, std::int64_t lookups, unsigned seed)
{
  const VertexId at = topology.next_hop(hosts.front(), hosts.back()).to;
  std::vector<TagAndPort> entries;
  for (const VertexId host : hosts.subspan(1))
    entries.push_back({hash.tag(at - topology.host_count(), hash.address(host)), topology.next_hop(at, host).link});
  std::mt19937 random(seed);
  return study_uniform(shape, entries, lookups, random);
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
      if (hop > 0) // along the dimension of these cables
        kind = 1 + static_cast<std::size_t>((route.links[hop] / 2 - hosts) / (size == 2 ? hosts / 2 : hosts));
      const VertexId destination = translated(to, at, size);
      const int out              = torus.next_hop(hosts, destination).link;
      const auto direction       = static_cast<std::size_t>(route.links[hop] % 2);
      ports[2 * kind + direction].look_up(hash->tag(0, hash->address(destination)), out, counters[kind]);
    }
  }
  return counters;
}

namespace {

/** Lookup at a port. */
struct PortLookup {
  ForwardingTag tag;
  LinkId out;
  bool empty;
};
using PortLookups = std::unordered_map<LinkId, std::vector<PortLookup>>; // by the link that ends at the port

/** Cache with Belady's replacement: a full set evicts the entry whose next use is farthest away. */
class BeladyPort {
  struct Entry {
    ForwardingTag tag;
    std::size_t next; // index of its next use
  };
  CacheShape shape_;
  std::vector<std::vector<Entry>> sets_;
  MissClassifier classifier_;

public:
  explicit BeladyPort(const CacheShape& shape)
      : shape_(shape), sets_(static_cast<std::size_t>(shape.entries / shape.ways)), classifier_(shape.entries)
  {
  }

  void look_up(ForwardingTag tag, std::size_t next, CacheCounters& counters)
  {
    std::vector<Entry>& set = sets_[tag % sets_.size()];
    const auto found        = std::ranges::find(set, tag, &Entry::tag);
    classifier_.count(tag, found != set.end(), counters);
    if (found != set.end())
      found->next = next;
    else if (std::cmp_less(set.size(), shape_.ways))
      set.push_back({tag, next});
    else if (const auto last = std::ranges::max_element(set, {}, &Entry::next); last->next > next)
      *last = {tag, next};
  }
};

/** Returns, for each lookup, the index of the next one with the same tag. */
std::vector<std::size_t> next_uses(const std::vector<PortLookup>& lookups)
{
  std::vector<std::size_t> next(lookups.size());
  std::unordered_map<ForwardingTag, std::size_t> seen;
  for (std::size_t at = lookups.size(); at-- > 0;) {
    const auto found = seen.try_emplace(lookups[at].tag, lookups.size()).first;
    next[at]         = std::exchange(found->second, at);
  }
  return next;
}

/** Returns, for each message, the index of the message that its host sends @p ahead messages later; messages.size() if
 * there is none. */
std::vector<std::size_t> later_messages(std::span<const MessageEnds> messages, int ahead)
{
  std::vector<std::size_t> later(messages.size(), messages.size());
  std::unordered_map<VertexId, std::vector<std::size_t>> sent;
  for (std::size_t at = 0; at < messages.size(); ++at) {
    std::vector<std::size_t>& before = sent[messages[at].first];
    before.push_back(at);
    if (std::cmp_greater(before.size(), ahead))
      later[before[before.size() - 1 - static_cast<std::size_t>(ahead)]] = at;
  }
  return later;
}

PortLookups lookups_of(const Topology& topology, const ForwardingHash& hash, std::span<const MessageEnds> messages,
                       int ahead)
{
  PortLookups ports;
  Route route;
  const auto send = [&](const MessageEnds& ends, bool empty) {
    route.clear();
    topology.route(ends.first, ends.second, route);
    const ForwardingAddress address = hash.address(ends.second);
    for (std::size_t hop = 0; hop < route.through.size(); ++hop)
      ports[route.links[hop]].push_back(
          {hash.tag(route.through[hop] - topology.host_count(), address), route.links[hop + 1], empty});
  };
  const std::vector<std::size_t> later = ahead > 0 ? later_messages(messages, ahead) : std::vector<std::size_t>();
  for (std::size_t at = 0; at < messages.size(); ++at) {
    if (ahead > 0 && later[at] < messages.size())
      send(messages[later[at]], true);
    send(messages[at], false);
  }
  return ports;
}

} // namespace

MessageStudy study_messages(const CacheShape& shape, const Topology& topology, const ForwardingHash& hash,
                            std::span<const MessageEnds> messages, const Refill& refill)
{
  MessageStudy study;
  for (const auto& [into, lookups] : lookups_of(topology, hash, messages, refill.ahead)) {
    StudiedPort port(shape);
    BeladyPort farsighted(shape);
    const std::vector<std::size_t> next = refill.knows_future ? next_uses(lookups) : std::vector<std::size_t>();
    for (std::size_t at = 0; at < lookups.size(); ++at) {
      const PortLookup& one   = lookups[at];
      CacheCounters& counters = one.empty ? study.empty : study.messages;
      if (refill.knows_future)
        farsighted.look_up(one.tag, next[at], counters);
      else
        port.look_up(one.tag, one.out, counters);
    }
  }
  return study;
}

std::vector<MessageEnds> alltoall_messages(const Topology& topology, int count)
{
  const int hosts = topology.host_count();
  std::vector<MessageEnds> messages;
  messages.reserve(static_cast<std::size_t>(count));
  for (int message = 0; message < count; ++message) {
    const VertexId from = message % hosts;
    messages.emplace_back(from, (from + 1 + message / hosts % (hosts - 1)) % hosts);
  }
  return messages;
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
