// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/forwarding_hash.hpp"

#include "fabric/topology/dragonfly.hpp"
#include "fabric/topology/fat_tree.hpp"
#include "fabric/topology/topology.hpp"
#include "fabric/topology/torus.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace weft {
namespace {

/** Layout of coordinates in the bits of an address; the first coordinate takes the lowest bits. */
class AddressFormat {
  std::vector<unsigned> shifts_;
  std::vector<std::uint32_t> masks_;

public:
  /** @p sizes: number of values of each coordinate. Throws HashError if they exceed ADDRESS_BITS. */
  explicit AddressFormat(const std::vector<int>& sizes)
  {
    unsigned bits = 0;
    for (const int size : sizes) {
      const auto width = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(size - 1)));
      shifts_.push_back(bits);
      masks_.push_back((1U << width) - 1);
      bits += width;
    }
    if (std::cmp_greater(bits, ADDRESS_BITS))
      throw HashError("the coordinates of a host need an address of " + std::to_string(bits) +
                      " bits; allowed: at most " + std::to_string(ADDRESS_BITS) +
                      "; use fewer dimensions, sizes that are powers of two, or hash = \"crc\"");
  }

  ForwardingAddress pack(const std::vector<int>& coordinates) const
  {
    ForwardingAddress address = 0;
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      address |= static_cast<ForwardingAddress>(coordinates[i]) << shifts_[i];
    return address;
  }
  int get(ForwardingAddress address, std::size_t coordinate) const
  {
    return static_cast<int>(address >> shifts_[coordinate] & masks_[coordinate]);
  }
};

/** Returns the mixed-radix digits of @p number, lowest first. */
std::vector<int> digits(int number, const std::vector<int>& sizes)
{
  std::vector<int> result;
  result.reserve(sizes.size());
  for (const int size : sizes) {
    result.push_back(number % size);
    number /= size;
  }
  return result;
}

constexpr std::array<std::uint32_t, 256> crc24_table()
{
  constexpr std::uint32_t POLYNOMIAL = 0x864CFB;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte << 16U;
    for (int bit = 0; bit < 8; ++bit)
      value = (value << 1U ^ ((value & 0x800000U) != 0 ? POLYNOMIAL : 0U)) & 0xFFFFFFU;
    table[byte] = value;
  }
  return table;
}

} // namespace

std::uint32_t crc24(ForwardingAddress address)
{
  static constexpr std::array TABLE = crc24_table();
  std::uint32_t value               = 0xB704CE;
  for (const unsigned shift : {16U, 8U, 0U})
    value = (value << 8U ^ TABLE[(value >> 16U ^ address >> shift) & 0xFFU]) & 0xFFFFFFU;
  return value;
}

namespace {

class CrcHash final : public ForwardingHash {
public:
  explicit CrcHash(int hosts) { AddressFormat({hosts}); }

  std::string name() const override { return "crc"; }
  ForwardingAddress address(VertexId host) const override { return static_cast<ForwardingAddress>(host); }
  ForwardingTag tag(int, ForwardingAddress destination) const override { return crc24(destination); }
  std::optional<int> tags() const override { return std::nullopt; }
};

/** Hash of meshes and tori. Coordinates: the host on its switch, then the switch in each dimension. Tags: the hosts,
 * then the cables up and down each dimension. */
class CubeHash final : public ForwardingHash {
  CubeShape shape_;
  std::vector<int> sizes_;
  AddressFormat format_;
  std::vector<ForwardingAddress> switches_;

  static std::vector<int> sizes(const CubeShape& shape)
  {
    std::vector<int> result{shape.hosts_per_switch};
    for (const CubeShape::Dimension& dimension : shape.dimensions)
      result.push_back(dimension.size);
    return result;
  }

  /** Returns the coordinates starting with @p first, and the host's, as one number; for all coordinates, the host's
   * number. */
  int number(std::size_t first, ForwardingAddress destination) const
  {
    int number = 0;
    for (std::size_t i = shape_.dimensions.size(); i >= first; --i)
      number = number * sizes_[i] + format_.get(destination, i);
    return number * shape_.hosts_per_switch + format_.get(destination, 0);
  }

  /** Returns the choice among parallel cables along the dimension of coordinate @p dimension. */
  int cable(std::size_t dimension, ForwardingAddress destination) const
  {
    if (shape_.cables == 1)
      return 0;
    return shape_.aggregation.choice(number(1, destination), number(dimension, destination)) % shape_.cables;
  }

  /** Returns true if a packet moves to higher coordinates: the shorter direction of a ring, up on a tie. */
  static bool goes_up(const CubeShape::Dimension& dimension, int offset)
  {
    if (not dimension.wraps)
      return offset > 0;
    return offset > 0 ? 2 * offset <= dimension.size : -2 * offset >= dimension.size;
  }

public:
  explicit CubeHash(const CubeShape& shape) : shape_(shape), sizes_(sizes(shape)), format_(sizes_)
  {
    const int count = std::accumulate(sizes_.begin(), sizes_.end(), 1, std::multiplies<>()) / shape.hosts_per_switch;
    for (int index = 0; index < count; ++index)
      switches_.push_back(format_.pack(digits(index * shape.hosts_per_switch, sizes_)));
  }

  std::string name() const override { return "cube"; }
  std::optional<int> tags() const override
  {
    return shape_.hosts_per_switch + 2 * static_cast<int>(shape_.dimensions.size()) * shape_.cables;
  }
  ForwardingAddress address(VertexId host) const override { return format_.pack(digits(host, sizes_)); }

  ForwardingTag tag(int switch_index, ForwardingAddress destination) const override
  {
    const ForwardingAddress here = switches_[static_cast<std::size_t>(switch_index)];
    for (std::size_t i = 0; i < shape_.dimensions.size(); ++i) {
      const int offset = format_.get(destination, i + 1) - format_.get(here, i + 1);
      if (offset == 0)
        continue;
      const int direction = 2 * static_cast<int>(i) + (goes_up(shape_.dimensions[i], offset) ? 0 : 1);
      return static_cast<ForwardingTag>(shape_.hosts_per_switch + direction * shape_.cables +
                                        cable(i + 1, destination));
    }
    return static_cast<ForwardingTag>(format_.get(destination, 0));
  }
};

/** Hash of fat trees. The address is the host's position, its digits are the coordinates. Tags: the cables down, then
 * the cables up. */
class FatTreeHash final : public ForwardingHash {
  struct Place {
    int level;
    int subtree; ///< index of this switch's group of hosts below it, among the groups of its level
  };
  FatTreeOptions options_;
  LinkAggregation aggregation_;
  std::vector<int> below_{1}; // by level: hosts below a switch
  std::vector<int> above_{1}; // by level: switches above a host
  std::vector<Place> places_;

  /** Returns the choice among parallel cables above a node of @p level. */
  int parallel(std::size_t level, int host) const
  {
    return aggregation_.choice(host, host / above_[level] / options_.up[level]) % options_.cables[level];
  }
  ForwardingTag down(int level, int host) const
  {
    const auto at   = static_cast<std::size_t>(level - 1);
    const int digit = host / below_[at] % options_.down[at];
    return static_cast<ForwardingTag>(digit * options_.cables[at] + parallel(at, host));
  }
  ForwardingTag up(int level, int host) const
  {
    const auto at    = static_cast<std::size_t>(level);
    const int digit  = host / above_[at] % options_.up[at];
    const int others = options_.down[at - 1] * options_.cables[at - 1];
    return static_cast<ForwardingTag>(others + digit * options_.cables[at] + parallel(at, host));
  }

public:
  explicit FatTreeHash(const FatTreeOptions& options) : options_(options), aggregation_(options.link_aggregation)
  {
    for (std::size_t level = 0; level < options.down.size(); ++level) {
      below_.push_back(below_.back() * options.down[level]);
      above_.push_back(above_.back() * options.up[level]);
    }
    for (std::size_t level = 1; level < below_.size(); ++level)
      for (int position = 0; position < above_[level] * (below_.back() / below_[level]); ++position)
        places_.push_back({static_cast<int>(level), position / above_[level]});
    AddressFormat({below_.back()});
  }

  std::string name() const override { return "fat_tree"; }
  std::optional<int> tags() const override
  {
    int most = 0;
    for (std::size_t level = 0; level < options_.down.size(); ++level) {
      const int up = level + 1 < options_.up.size() ? options_.up[level + 1] * options_.cables[level + 1] : 0;
      most         = std::max(most, options_.down[level] * options_.cables[level] + up);
    }
    return most;
  }
  ForwardingAddress address(VertexId host) const override { return static_cast<ForwardingAddress>(host); }

  ForwardingTag tag(int switch_index, ForwardingAddress destination) const override
  {
    const Place here = places_[static_cast<std::size_t>(switch_index)];
    const auto host  = static_cast<int>(destination);
    const bool below = here.subtree == host / below_[static_cast<std::size_t>(here.level)];
    return below ? down(here.level, host) : up(here.level, host);
  }
};

/** Hash of Dragonflies. Coordinates: host, router, chassis, group. Tags: the hosts, then the cables to routers of the
 * chassis, to other chassis, and to other groups. */
class DragonflyHash final : public ForwardingHash {
  struct Place {
    int router;
    int chassis;
    int group;
  };
  DragonflyOptions options_;
  LinkAggregation aggregation_;
  std::vector<int> sizes_;
  AddressFormat format_;
  std::vector<Place> places_;

  int first_black() const { return options_.hosts + options_.routers * options_.router_cables; }
  int first_blue() const { return first_black() + options_.chassis * options_.chassis_cables; }

  int approach(const Place& here, int router, int chassis, int spread) const
  {
    if (here.router != router)
      return options_.hosts + router * options_.router_cables + spread % options_.router_cables;
    return first_black() + chassis * options_.chassis_cables + spread % options_.chassis_cables;
  }
  int cross(const Place& here, int group, int spread) const
  {
    const int gateway = group % (options_.routers * options_.chassis);
    const int router  = gateway % options_.routers;
    const int chassis = gateway / options_.routers;
    if (here.router != router || here.chassis != chassis)
      return approach(here, router, chassis, spread);
    return first_blue() + group / (options_.routers * options_.chassis) * options_.global_cables +
           spread % options_.global_cables;
  }

public:
  explicit DragonflyHash(const DragonflyOptions& options)
      : options_(options), aggregation_(options.link_aggregation),
        sizes_{options.hosts, options.routers, options.chassis, options.groups}, format_(sizes_)
  {
    for (int group = 0; group < options.groups; ++group)
      for (int chassis = 0; chassis < options.chassis; ++chassis)
        for (int router = 0; router < options.routers; ++router)
          places_.push_back({router, chassis, group});
  }

  std::string name() const override { return "dragonfly"; }
  std::optional<int> tags() const override
  {
    const int routers = options_.routers * options_.chassis;
    return first_blue() + (options_.groups + routers - 1) / routers * options_.global_cables;
  }
  ForwardingAddress address(VertexId host) const override { return format_.pack(digits(host, sizes_)); }

  ForwardingTag tag(int switch_index, ForwardingAddress destination) const override
  {
    const Place& here = places_[static_cast<std::size_t>(switch_index)];
    const int host    = format_.get(destination, 0);
    const Place there{format_.get(destination, 1), format_.get(destination, 2), format_.get(destination, 3)};
    const int number =
        ((there.group * options_.chassis + there.chassis) * options_.routers + there.router) * options_.hosts + host;
    const int spread = aggregation_.choice(number, there.group + there.chassis + there.router + host);
    if (here.group != there.group)
      return static_cast<ForwardingTag>(cross(here, there.group, spread));
    if (here.router != there.router || here.chassis != there.chassis)
      return static_cast<ForwardingTag>(approach(here, there.router, there.chassis, spread));
    return static_cast<ForwardingTag>(host);
  }
};

} // namespace

std::unique_ptr<const ForwardingHash> make_cube_hash(const CubeShape& shape)
{
  return std::make_unique<CubeHash>(shape);
}

std::unique_ptr<const ForwardingHash> make_fat_tree_hash(const FatTreeOptions& options)
{
  return std::make_unique<FatTreeHash>(options);
}

std::unique_ptr<const ForwardingHash> make_dragonfly_hash(const DragonflyOptions& options)
{
  return std::make_unique<DragonflyHash>(options);
}

std::unique_ptr<const ForwardingHash> make_forwarding_hash(const std::string& name, const Topology& topology)
{
  if (name != "crc")
    if (auto own = topology.forwarding_hash(); own && (name == "auto" || name == own->name()))
      return own;
  if (name == "auto" || name == "crc")
    return std::make_unique<CrcHash>(topology.host_count());
  const auto own = topology.forwarding_hash();
  throw HashError("found \"" + name + "\", which is not the hash of the fabric's topology; allowed: auto, crc" +
                  (own ? ", " + own->name() : ""));
}

namespace {

/** Checks switches against all hosts. */
class HashProver {
  const ForwardingHash& hash_;
  const Topology& topology_;
  std::vector<ForwardingAddress> addresses_;
  std::unordered_map<ForwardingTag, std::pair<LinkId, VertexId>> seen_; // by tag: the port, and a host with the tag

public:
  HashProof proof;

  HashProver(const ForwardingHash& hash, const Topology& topology) : hash_(hash), topology_(topology)
  {
    addresses_.reserve(static_cast<std::size_t>(topology.host_count()));
    for (VertexId host = 0; host < topology.host_count(); ++host)
      addresses_.push_back(hash.address(host));
  }

  void hold(int index, int ports)
  {
    seen_.clear();
    for (VertexId host = 0; host < topology_.host_count(); ++host) {
      const LinkId port       = topology_.next_hop(topology_.host_count() + index, host).link;
      const ForwardingTag tag = hash_.tag(index, addresses_[static_cast<std::size_t>(host)]);
      const auto found        = seen_.try_emplace(tag, port, host).first;
      if (found->second.first != port && not proof.misroute)
        proof.misroute = {index, found->second.second, host};
      proof.highest_tag = std::max(proof.highest_tag, tag);
      ++proof.pairs;
    }
    proof.most_tags = std::max(proof.most_tags, static_cast<int>(seen_.size()));
    if (std::cmp_greater(seen_.size(), ports) && not proof.crowded)
      proof.crowded = index;
  }
};

} // namespace

HashProof prove(const ForwardingHash& hash, const Topology& topology, std::span<const int> switches)
{
  std::vector<int> ports(static_cast<std::size_t>(topology.switch_count()));
  for (const Cable& cable : topology.cables())
    for (const VertexId end : {cable.lower, cable.upper})
      if (not topology.is_host(end))
        ++ports[static_cast<std::size_t>(end - topology.host_count())];
  HashProver prover(hash, topology);
  for (const int index : switches)
    prover.hold(index, ports[static_cast<std::size_t>(index)]);
  return prover.proof;
}

HashProof prove(const ForwardingHash& hash, const Topology& topology, int step)
{
  std::vector<int> switches;
  for (int index = 0; index < topology.switch_count(); index += step)
    switches.push_back(index);
  return prove(hash, topology, switches);
}

HashProof prove_cube(int size, int dimensions, bool wraps)
{
  constexpr std::int64_t MOST = 16777216; // maximum number of addresses
  std::int64_t hosts          = 1;
  for (int dimension = 0; dimension < dimensions && hosts <= MOST; ++dimension)
    hosts *= size;
  if (hosts > MOST)
    throw HashError("found a " + std::to_string(size) + "-ary " + std::to_string(dimensions) +
                    "-cube; allowed: at most " + std::to_string(MOST) + " hosts, which addresses of " +
                    std::to_string(ADDRESS_BITS) + " bits tell apart");
  const Torus cube({std::vector<int>(static_cast<std::size_t>(dimensions), size), 1, 1},
                   wraps ? Torus::Edges::wrapped : Torus::Edges::open);
  const auto hash = cube.forwarding_hash();
  const auto last = static_cast<int>(hosts - 1);
  HashProver prover(*hash, cube);
  for (const int index : {0, last / 2, last})
    prover.hold(index, 1 + (size == 2 ? 1 : 2) * dimensions);
  return prover.proof;
}

} // namespace weft
