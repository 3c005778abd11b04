// SPDX-License-Identifier: LGPL-2.1-only
/* The switchable hash of the packet forwarding cache (Hirasawa et al., section IV): what a switch looks a packet up by.
 *
 * A packet carries the address of its destination, at most 24 bits; the hash makes the tag of it. On regular topologies
 * a tag stands for all destinations that leave a switch by the same port, so that a switch has no more tags than ports
 * and its cache misses each once. Elsewhere every destination has a tag of its own, its CRC. What always holds, and
 * prove() proves: two destinations of the same tag leave by the same port.
 *
 * Tags of regular topologies count from zero at each switch, hosts first.
 *
 * What the hashes are is the topologies' routing said in coordinates, so each belongs to its topology
 * (Topology::forwarding_hash). They differ from the paper's listings where those are loose; docs/forwarding.md says
 * how.
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

/** What a packet carries of its destination. */
using ForwardingAddress = std::uint32_t;

/** "Routing information is set to 24 bits" (Hirasawa et al., CLUSTER 2021, section V.B). */
constexpr int ADDRESS_BITS = 24;

/** A hash that does not go with a topology; what() says why and what would. */
class HashError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class ForwardingHash {
public:
  virtual ~ForwardingHash() = default;

  /** As the key `hash` calls it. */
  virtual std::string name() const                                                 = 0;
  virtual ForwardingAddress address(VertexId host) const                           = 0;
  virtual ForwardingTag tag(int switch_index, ForwardingAddress destination) const = 0;
  /** All tags are below that number, at every switch; nothing where a tag stands for one destination, and is the same
   *  at every switch. */
  virtual std::optional<int> tags() const = 0;
};

/** The hash of a name of forwarding_hashes() for a topology. Throws HashError. */
std::unique_ptr<const ForwardingHash> make_forwarding_hash(const std::string& name, const Topology& topology);

/** CRC-24 of RFC 4880, section 6.1, of the bytes of an address, highest first. It maps 24 bits one to one. */
std::uint32_t crc24(ForwardingAddress address);

// ---- The hashes of regular topologies, each by its parameters

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
/** Dragonflies, which Hirasawa et al. (CLUSTER 2021) lead back to fat trees. */
std::unique_ptr<const ForwardingHash> make_dragonfly_hash(const DragonflyOptions& options);

/** What was proven of a hash on a topology. */
struct HashProof {
  std::int64_t pairs        = 0; ///< of a switch and a host
  int most_tags             = 0; ///< at a switch
  ForwardingTag highest_tag = 0;
  /** Two hosts with the same tag at a switch that leave it by different ports, where there are such. */
  struct Misroute {
    int switch_index;
    VertexId one;
    VertexId other;
  };
  std::optional<Misroute> misroute;
  /** A switch with more tags than ports, where there is one. */
  std::optional<int> crowded;
};

/** Hold switches against every host. */
HashProof prove(const ForwardingHash& hash, const Topology& topology, std::span<const int> switches);
/** Every @p step th of them. */
HashProof prove(const ForwardingHash& hash, const Topology& topology, int step = 1);
/** Hold the first, the middle and the last switch of a @p size -ary @p dimensions -cube (torus or mesh, a host each)
 *  against every host, without building the fabric: a torus looks the same from everywhere. Throws HashError. */
HashProof prove_cube(int size, int dimensions, bool wraps);

} // namespace weft
