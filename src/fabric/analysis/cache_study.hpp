// SPDX-License-Identifier: LGPL-2.1-only
/* Hit rates of forwarding caches for given traffic, without simulating the network. Results are reproducible: all
 * random numbers are seeded.
 */
#pragma once

#include "fabric/topology/forwarding_hash.hpp"
#include "fabric/topology/topology.hpp"
#include "model/forwarding/forwarding_cache.hpp"

#include <span>
#include <utility>
#include <vector>

namespace weft {

/** Simulates one port with uniform traffic to @p destinations hosts, tagged by CRC. Their addresses are contiguous, as
 * for a job in one block, or @p scattered over all addresses. */
CacheCounters study_port(const CacheShape& shape, int destinations, bool scattered, std::int64_t lookups,
                         unsigned seed);

/** Simulates the port of the first of @p hosts under uniform traffic to the remaining hosts, as on all ports of a job's
 * hosts.
 */
CacheCounters study_hosts(const CacheShape& shape, const Topology& topology, const ForwardingHash& hash,
                          std::span<const VertexId> hosts, std::int64_t lookups, unsigned seed);

/** Simulates the ports of a torus of @p size switches in each of @p dimensions, one host per switch, under uniform
 * traffic, tagged by the torus's hash or by CRC. Returns counters by input: from the host, then from each dimension.
 *
 * By symmetry all switches see the same traffic up to a shift of the addresses; only one switch is simulated. */
std::vector<CacheCounters> study_torus(const CacheShape& shape, int size, int dimensions, bool hashed, int messages,
                                       unsigned seed);

using MessageEnds = std::pair<VertexId, VertexId>;

/** Prefetching of cache entries (Hirasawa et al., section VI). */
struct Refill {
  int ahead         = 0;     ///< prefetch distance: number of messages of the same host by which an empty packet
                             ///< precedes each message; 0: no prefetching
  bool knows_future = false; ///< optimal replacement instead of the shape's: evict the entry used farthest in the
                             ///< future (L. Belady, IBM Systems Journal 5(2), 1966)
};

struct MessageStudy {
  CacheCounters messages;
  CacheCounters empty; ///< empty packets sent ahead
};

/** Simulates all ports of a topology while messages are routed one at a time. */
MessageStudy study_messages(const CacheShape& shape, const Topology& topology, const ForwardingHash& hash,
                            std::span<const MessageEnds> messages, const Refill& refill = {});

/** Returns messages between uniformly random pairs of hosts. */
std::vector<MessageEnds> uniform_messages(const Topology& topology, int count, unsigned seed);
/** Returns the messages of repeated all-to-alls: each host sends to its successor, then to the host after that, and so
 * on. */
std::vector<MessageEnds> alltoall_messages(const Topology& topology, int count);

} // namespace weft
