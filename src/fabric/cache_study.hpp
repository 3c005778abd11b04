// SPDX-License-Identifier: LGPL-2.1-only
/* What forwarding caches do with traffic that is given, without a simulation: how often they hit, and why not.
 *
 * Everything is seeded and so the same each time.
 */
#pragma once

#include "fabric/topology/forwarding_hash.hpp"
#include "fabric/topology/topology.hpp"
#include "model/forwarding/forwarding_cache.hpp"

#include <span>
#include <utility>
#include <vector>

namespace weft {

/** One port with packets for @p destinations hosts, all equally often, by CRC: hosts of neighbouring addresses, as a
 * job in one block has them, or @p scattered over all. */
CacheCounters study_port(const CacheShape& shape, int destinations, bool scattered, std::int64_t lookups,
                         unsigned seed);

/** The ports of a torus of @p size switches along each of @p dimensions, a host each, while hosts send to others, all
 *  equally often; with the torus's hash or by CRC. By where packets arrive: from the host, then along each dimension.
 *
 *  All switches see the same traffic, but for a shift of the addresses: one switch stands for all. */
std::vector<CacheCounters> study_torus(const CacheShape& shape, int size, int dimensions, bool hashed, int messages,
                                       unsigned seed);

using MessageEnds = std::pair<VertexId, VertexId>;

/** Ways to have the entries there that will be used (Hirasawa et al., section VI). */
struct Refill {
  int ahead         = 0;     ///< an empty packet goes so many messages of its host before each message; 0: none does
  bool knows_future = false; ///< a full set gives up the entry that is used last, as nobody can do better who knows all
                             ///< communication to come (L. Belady, IBM Systems Journal 5(2), 1966); not the shape's
};

struct MessageStudy {
  CacheCounters messages;
  CacheCounters empty; ///< packets, sent ahead
};

/** All ports of a topology while messages are routed one after the other. */
MessageStudy study_messages(const CacheShape& shape, const Topology& topology, const ForwardingHash& hash,
                            std::span<const MessageEnds> messages, const Refill& refill = {});

/** Messages between hosts, all pairs equally often. */
std::vector<MessageEnds> uniform_messages(const Topology& topology, int count, unsigned seed);
/** The messages of all-to-alls, one after the other: each host to the next, then each to the next but one. */
std::vector<MessageEnds> alltoall_messages(const Topology& topology, int count);

} // namespace weft
