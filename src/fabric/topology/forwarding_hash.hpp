// SPDX-License-Identifier: LGPL-2.1-only
/* Switchable hash of the packet forwarding cache (Hirasawa et al., section IV): maps a destination to the tag that a
 * switch looks up.
 *
 * A packet carries the address of its destination, at most 24 bits, which the hash maps to a tag. On regular topologies
 * all destinations behind a port share a tag, so a switch has at most as many tags as ports, and its cache misses once
 * per tag. On other topologies the tag is the CRC of the destination, one per destination. Invariant, proven by
 * prove(): destinations with equal tags leave by the same port.
 *
 * Tags of regular topologies are consecutive from zero at each switch, hosts first.
 *
 * A hash expresses its topology's routing in coordinates, and is part of the topology (Topology::forwarding_hash).
 * Where the paper's listings are imprecise, the hashes differ from them as described in docs/forwarding.md.
 */
#pragma once

#include "fabric/topology/graph.hpp"
#include "fabric/topology/link_aggregation.hpp"
#include "model/forwarding/forwarding_cache.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {

class Topology;
struct DragonflyOptions;
struct FatTreeOptions;

/** Address of the destination, as a packet carries it. */
using ForwardingAddress = std::uint32_t;

/** "Routing information is set to 24 bits" (Hirasawa et al., CLUSTER 2021, section V.B). */
constexpr int ADDRESS_BITS = 24;

/** Error thrown if a hash does not fit the topology; what() gives the reason and the alternatives. */
class HashError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class ForwardingHash {
public:
  virtual ~ForwardingHash() = default;

  /** Returns the value of the key `hash`. */
  virtual std::string name() const                                                 = 0;
  virtual ForwardingAddress address(VertexId host) const                           = 0;
  virtual ForwardingTag tag(int switch_index, ForwardingAddress destination) const = 0;
  /** Returns the exclusive upper bound on tags at every switch; nothing if each destination has its own tag, the same
   * at every switch. */
  virtual std::optional<int> tags() const = 0;
};

/** Creates the hash called @p name (see forwarding_hashes()) for a topology. Throws HashError. */
std::unique_ptr<const ForwardingHash> make_forwarding_hash(const std::string& name, const Topology& topology);

/** Returns the CRC-24 of RFC 4880, section 6.1, of an address, highest byte first; a bijection on 24 bits. */
std::uint32_t crc24(ForwardingAddress address);

// ---- Hashes of regular topologies, by their parameters

/** Meshes and tori (Hirasawa et al., CLUSTER 2021, algorithm 1). */
struct CubeShape {
  struct Dimension {
    int size;
    bool wraps;
  };
  std::vector<Dimension> dimensions;
  int hosts_per_switch;
  int cables; ///< between neighbouring switches
  LinkAggregation aggregation;
};
std::unique_ptr<const ForwardingHash> make_cube_hash(const CubeShape& shape);
/** Fat trees (Hirasawa et al., CLUSTER 2021, algorithm 2). */
std::unique_ptr<const ForwardingHash> make_fat_tree_hash(const FatTreeOptions& options);
/** Dragonflies, which Hirasawa et al. (CLUSTER 2021) reduce to fat trees. */
std::unique_ptr<const ForwardingHash> make_dragonfly_hash(const DragonflyOptions& options);

/** Result of prove(). */
struct HashProof {
  std::int64_t pairs        = 0; ///< pairs of a switch and a host checked
  int most_tags             = 0; ///< maximum number of tags at a switch
  ForwardingTag highest_tag = 0;
  /** Two hosts with the same tag at a switch but different ports: a violation of the invariant. */
  struct Misroute {
    int switch_index;
    VertexId one;
    VertexId other;
  };
  std::optional<Misroute> misroute;
  /** Switch with more tags than ports, if there is one. */
  std::optional<int> crowded;
};

/** Checks the hash at @p switches for every host. */
HashProof prove(const ForwardingHash& hash, const Topology& topology, std::span<const int> switches);
/** Checks one in @p step switches. */
HashProof prove(const ForwardingHash& hash, const Topology& topology, int step = 1);
/** Checks the first, the middle and the last switch of a @p size -ary @p dimensions -cube (torus or mesh, one host per
 *  switch) for every host, without building the fabric; by symmetry this suffices for a torus. Throws HashError. */
HashProof prove_cube(int size, int dimensions, bool wraps);

} // namespace weft
