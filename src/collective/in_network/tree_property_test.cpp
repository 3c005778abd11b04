// SPDX-License-Identifier: LGPL-2.1-only
/* Reduction trees compared with a simulation of single packets, on random fabrics and
 * communicators.
 *
 * The simulation uses next_hop() and the set of smart switches, but no trees: each rank sends a packet that lists its
 * contributors, smart switches hold packets until no more can arrive, and results return over the cables on which the
 * packets came. Latencies are multiples of a power of
 * two, so that sums are exact in any order.
 */
#include "collective/in_network/reduction_tree.hpp"

#include "collective/in_network/traffic.hpp"

#include "fabric/topology/custom.hpp"
#include "fabric/topology/dragonfly.hpp"
#include "fabric/topology/fat_tree.hpp"
#include "fabric/topology/star.hpp"
#include "fabric/topology/torus.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Random = std::mt19937;

Random seeded(unsigned seed)
{
  return Random(seed);
}

int below(Random& random, int limit)
{
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

std::size_t at(int index)
{
  return static_cast<std::size_t>(index);
}

template <class T> int count_of(const std::vector<T>& items)
{
  return static_cast<int>(items.size());
}

// ---- Fabrics ----

Seconds random_latency(Random& random)
{
  return Seconds(below(random, 1024) / 1048576.0);
}

SwitchModel random_switch(Random& random, bool smart)
{
  SwitchModel model;
  model.forwarding_latency = random_latency(random);
  model.processing_latency = random_latency(random);
  if (smart)
    model.capabilities.push_back({{"allreduce"}, {"MPI_INT"}, {"MPI_SUM"}});
  return model;
}

/** Returns a fabric on a topology; @p smart decides from a switch's name whether it is smart. */
template <class Smart> Fabric fabric_over(std::unique_ptr<const Topology> topology, Random& random, const Smart& smart)
{
  FabricParts parts;
  for (int index = 0; index < topology->switch_count(); ++index)
    parts.switches.push_back(random_switch(random, smart(topology->switch_name(index))));
  for (const Cable& cable : topology->cables()) {
    parts.links.push_back({"", cable.lower, cable.upper, BytesPerSecond(1e9), random_latency(random)});
    parts.links.push_back({"", cable.upper, cable.lower, BytesPerSecond(1e9), random_latency(random)});
  }
  parts.topology = std::move(topology);
  return Fabric(std::move(parts));
}

std::unique_ptr<Topology> random_fat_tree(Random& random)
{
  FatTreeOptions options;
  for (int level = 1 + below(random, 3); level > 0; --level) {
    options.down.push_back(2 + below(random, 3));
    options.up.push_back(1 + below(random, 3));
    options.cables.push_back(1 + below(random, 2));
  }
  return std::make_unique<FatTree>(options);
}

std::unique_ptr<Topology> random_torus(Random& random)
{
  TorusOptions options{{}, 1 + below(random, 2), 1 + below(random, 2)};
  for (int dimension = 1 + below(random, 3); dimension > 0; --dimension)
    options.dimensions.push_back(2 + below(random, 4));
  return std::make_unique<Torus>(options, below(random, 2) ? Torus::Edges::wrapped : Torus::Edges::open);
}

std::unique_ptr<Topology> random_dragonfly(Random& random)
{
  const auto some = [&random](int limit) { return 1 + below(random, limit); };
  return std::make_unique<Dragonfly>(DragonflyOptions{some(4), some(3), some(4), some(2), some(2), some(2), some(2)});
}

/** Returns a chain of branches that reaches all switches, some additional cables, and hosts with one or two cables. */
std::unique_ptr<Topology> random_custom(Random& random)
{
  const int hosts    = 2 + below(random, 20);
  const int switches = 1 + below(random, 10);
  Custom::Graph graph;
  for (int host = 0; host < hosts; ++host)
    graph.hosts.push_back(numbered("host", host, hosts));
  for (int index = 0; index < switches; ++index)
    graph.switches.push_back(numbered("switch", index, switches));
  std::map<std::pair<VertexId, VertexId>, int> numbers;
  const auto add = [&](VertexId lower, VertexId upper) {
    graph.cables.push_back({lower, upper, numbers[std::minmax(lower, upper)]++});
  };
  for (int index = 1; index < switches; ++index)
    add(hosts + below(random, index), hosts + index);
  for (int more = below(random, switches); more > 0; --more)
    if (const int one = below(random, switches), other = below(random, switches); one != other)
      add(hosts + one, hosts + other);
  for (VertexId host = 0; host < hosts; ++host)
    for (int nic = below(random, 2); nic >= 0; --nic)
      add(host, hosts + below(random, switches));
  return std::make_unique<Custom>(std::move(graph));
}

/** Returns members on some of the hosts, in random order, with several on some hosts. */
std::vector<VertexId> random_members(const Fabric& fabric, Random& random)
{
  std::vector<VertexId> members;
  const int density = 1 + below(random, 4);
  const int most    = 1 + below(random, 3);
  for (VertexId host = 0; host < fabric.host_count(); ++host)
    if (below(random, 4) < density)
      members.insert(members.end(), at(1 + below(random, most)), host);
  if (members.empty())
    members.push_back(0);
  std::ranges::shuffle(members, random);
  return members;
}

// ---- Simulation of packets ----

struct Packet {
  std::multiset<int> ranks; ///< contributors
  Seconds time;             ///< departure time from its current vertex
};

struct Walk {
  std::vector<Packet> results;          ///< results of the root
  std::map<LinkId, std::int64_t> sent;  ///< packets by link, upwards
  std::map<VertexId, int> combined;     ///< packets received by a smart switch
  std::map<VertexId, Seconds> returned; ///< departure of a result from a vertex, relative to the root
};

class Walker {
  const Fabric& fabric_;
  VertexId root_;
  std::map<VertexId, std::vector<Packet>> held_;
  Walk walk_;

  int hops(VertexId from) const
  {
    int count = 0;
    for (; from != root_; ++count)
      from = next(from).to;
    return count;
  }

  bool is_smart(VertexId vertex) const
  {
    return not fabric_.topology().is_host(vertex) && fabric_.model_at(vertex).smart();
  }

  /** Forwards or combines the packets that arrive at a switch. */
  void pass_switch(VertexId vertex, std::vector<Packet>& packets)
  {
    const SwitchModel& model = fabric_.model_at(vertex);
    if (not model.smart()) {
      for (Packet& packet : packets)
        packet.time += model.forwarding_latency;
      return;
    }
    Packet all;
    for (const Packet& packet : packets) {
      all.ranks.insert(packet.ranks.begin(), packet.ranks.end());
      all.time = std::max(all.time, packet.time);
    }
    all.time += model.processing_latency;
    walk_.combined[vertex] = static_cast<int>(packets.size());
    packets.assign(1, all);
  }

  /** Computes the time at which the result passes a vertex below the root whose next hop it has already passed. */
  void come_back(VertexId vertex)
  {
    const Hop hop = next(vertex);
    Seconds time  = walk_.returned[hop.to] + fabric_.link(reverse(hop.link)).latency;
    if (not fabric_.topology().is_host(vertex))
      time += fabric_.model_at(vertex).forwarding_latency;
    walk_.returned[vertex] = time;
  }

public:
  Walker(const Fabric& fabric, VertexId root) : fabric_(fabric), root_(root) {}

  Hop next(VertexId from) const { return fabric_.topology().next_hop(from, root_); }

  /** Returns the first smart switch on the route from @p vertex. */
  VertexId first_smart(VertexId vertex) const
  {
    do
      vertex = next(vertex).to;
    while (not is_smart(vertex));
    return vertex;
  }

  Walk run(const std::vector<VertexId>& members) &&
  {
    std::set<std::pair<int, VertexId>> waiting; // by hops to the root
    for (int rank = 0; rank < count_of(members); ++rank) {
      held_[members[at(rank)]].push_back({{rank}, {}});
      waiting.emplace(hops(members[at(rank)]), members[at(rank)]);
    }
    std::vector<VertexId> order;
    while (not waiting.empty()) { // no more packets can arrive at the farthest vertex
      const auto farthest   = std::prev(waiting.end());
      const VertexId vertex = farthest->second;
      waiting.erase(farthest);
      order.push_back(vertex);
      std::vector<Packet>& packets = held_[vertex];
      if (not fabric_.topology().is_host(vertex))
        pass_switch(vertex, packets);
      if (vertex == root_)
        break;
      const Hop hop = next(vertex);
      waiting.emplace(hops(hop.to), hop.to);
      walk_.sent[hop.link] += static_cast<std::int64_t>(packets.size());
      for (Packet& packet : packets)
        packet.time += fabric_.link(hop.link).latency;
      std::ranges::copy(packets, std::back_inserter(held_[hop.to]));
    }
    walk_.results = held_[root_];
    for (auto vertex = std::next(order.rbegin()); vertex != order.rend(); ++vertex)
      come_back(*vertex);
    return std::move(walk_);
  }
};

// ---- Invariants of a tree ----

class TreeCheck {
  const Fabric& fabric_;
  const std::vector<VertexId>& members_;
  const ReductionTree& tree_;
  VertexId root_;
  Walker walker_;
  Walk walk_;

  VertexId vertex(int position) const { return fabric_.host_count() + tree_.switches[at(position)].index; }

  void check_switches() const
  {
    ASSERT_TRUE(fabric_.model_at(root_).smart());
    ASSERT_EQ(tree_.switches.front().parent, -1);
    std::map<VertexId, int> combined;
    for (int position = 0; position < count_of(tree_.switches); ++position) {
      const TreeSwitch& node = tree_.switches[at(position)];
      combined[vertex(position)] += static_cast<int>(node.contributions);
      if (position == 0)
        continue;
      ASSERT_GE(node.parent, 0);
      ASSERT_LT(node.parent, position);
      EXPECT_EQ(vertex(node.parent), walker_.first_smart(vertex(position)));
    }
    EXPECT_EQ(combined, walk_.combined);
    EXPECT_EQ(combined.size(), tree_.switches.size());
  }

  /** Every contribution enters exactly one switch, and every switch except the root adds one. */
  void check_conservation() const
  {
    ASSERT_EQ(walk_.results.size(), 1);
    std::multiset<int> everyone;
    for (int rank = 0; rank < count_of(members_); ++rank)
      everyone.insert(rank);
    EXPECT_EQ(walk_.results.front().ranks, everyone);
    std::int64_t contributions = 0;
    for (const TreeSwitch& node : tree_.switches)
      contributions += node.contributions;
    EXPECT_EQ(contributions, static_cast<std::int64_t>(members_.size() + tree_.switches.size()) - 1);
  }

  void check_links() const
  {
    std::map<LinkId, std::int64_t> messages;
    for (int position = 0; position < count_of(tree_.switches); ++position)
      for (const TreeLink& link : tree_.switches[at(position)].links) {
        EXPECT_TRUE(messages.emplace(link.up, link.messages).second) << "link " << link.up << " has two owners";
        EXPECT_EQ(walker_.first_smart(fabric_.link(link.up).from), vertex(position));
      }
    EXPECT_EQ(messages, walk_.sent);
    for (const auto& [link, count] : messages)
      EXPECT_FALSE(messages.contains(reverse(link))) << "link " << link << " goes up and down";
  }

  /** Returns a member's route to the root: vertices and links. */
  std::vector<Hop> way(int member) const
  {
    std::vector<Hop> hops;
    for (VertexId at = members_[static_cast<std::size_t>(member)]; at != root_; at = hops.back().to)
      hops.push_back(walker_.next(at));
    return hops;
  }

  /** Returns the loads of an Alltoall, block by block: each block climbs to the first smart switch above its receiver,
   * and descends over the cables by which the receiver's own blocks climb. */
  std::map<LinkId, double> walk_of_blocks(double block) const
  {
    std::vector<std::vector<Hop>> ways;
    for (int member = 0; member < count_of(members_); ++member)
      ways.push_back(way(member));
    std::map<LinkId, double> carried;
    for (std::size_t from = 0; from < ways.size(); ++from)
      for (std::size_t to = 0; to < ways.size(); ++to)
        for (const Hop& hop : ways[from]) {
          if (from == to)
            break;
          carried[hop.link] += block;
          const auto turn = std::ranges::find(ways[to], hop.to, &Hop::to);
          if (turn == ways[to].end() || not fabric_.model_at(hop.to).smart())
            continue;
          for (auto back = ways[to].begin(); back <= turn; ++back)
            carried[reverse(back->link)] += block;
          break;
        }
    return carried;
  }

  /** Checks that the tree's links carry exactly the blocks of walk_of_blocks(). For few members only, since the number
   * of pairs is quadratic. */
  void check_blocks() const
  {
    constexpr double BLOCK     = 300;
    constexpr std::size_t MOST = 16;
    if (members_.size() > MOST)
      return;
    const double gives = BLOCK * static_cast<double>(members_.size());
    const TreeCall call{Movement::alltoall, Bytes(gives), -1, std::vector<double>(members_.size(), gives)};
    const Traffic traffic(tree_, call);
    SwitchModel packets;
    packets.payload         = Bytes(100);
    packets.packet_overhead = Bytes(10);
    std::map<LinkId, double> found;
    for (std::size_t position = 0; position < tree_.switches.size(); ++position)
      for (const TreeLink& link : tree_.switches[position].links) {
        const Loads loads       = traffic.loads(packets, position, link);
        found[link.up]          = loads.up.payload.value();
        found[reverse(link.up)] = loads.down.payload.value();
        EXPECT_EQ(loads.up.messages, link.messages);
        EXPECT_NEAR(loads.up.packets, 3 * loads.up.payload.value() / BLOCK, 1e-6);
        EXPECT_NEAR(loads.up.wire.value(), loads.up.payload.value() + 10 * loads.up.packets, 1e-6);
      }
    const std::map<LinkId, double> carried = walk_of_blocks(BLOCK);
    ASSERT_EQ(found.size(), carried.size());
    for (const auto& [link, bytes] : carried)
      EXPECT_NEAR(found[link], bytes, 1e-6) << "link " << link;
  }

  void check_ranks() const
  {
    std::map<VertexId, std::int64_t> ranks_at;
    ASSERT_EQ(tree_.entry.size(), members_.size());
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      EXPECT_EQ(vertex(tree_.entry[rank]), walker_.first_smart(members_[rank]));
      ++ranks_at[members_[rank]];
    }
    const auto more = [](const auto& one, const auto& other) { return one.second < other.second; };
    EXPECT_EQ(tree_.members_a_nic, std::ranges::max_element(ranks_at, more)->second);
  }

  /** Returns the round-trip time of a message between a host and a switch above it, with forwarding only. */
  Seconds round_trip(VertexId from, VertexId goal) const
  {
    Seconds trip;
    while (from != goal) {
      const Hop hop = walker_.next(from);
      trip += fabric_.link(hop.link).latency + fabric_.link(reverse(hop.link)).latency;
      if (hop.to != goal)
        trip += fabric_.model_at(hop.to).forwarding_latency * 2.0;
      from = hop.to;
    }
    return trip;
  }

  void check_latencies() const
  {
    Seconds down;
    Seconds forwarding;
    Seconds shortest(1e9);
    for (const VertexId host : members_) {
      down                 = std::max(down, walk_.returned.at(host));
      forwarding           = std::max(forwarding, round_trip(host, root_) + fabric_.model_at(root_).forwarding_latency);
      const VertexId first = walker_.first_smart(host);
      shortest             = std::min(shortest, round_trip(host, first) + fabric_.model_at(first).processing_latency);
    }
    EXPECT_EQ(tree_.longest.up_combined, walk_.results.front().time);
    EXPECT_EQ(tree_.longest.down_forwarded, down);
    EXPECT_EQ(tree_.forwarding, forwarding);
    EXPECT_EQ(tree_.beyond_first, tree_.longest.up_combined + tree_.longest.down_forwarded - shortest);
  }

public:
  TreeCheck(const Fabric& fabric, const std::vector<VertexId>& members, const ReductionTree& tree)
      : fabric_(fabric), members_(members), tree_(tree), root_(fabric.host_count() + tree.switches.front().index),
        walker_(fabric, root_), walk_(Walker(fabric, root_).run(members))
  {
  }

  void check() const
  {
    check_switches();
    check_conservation();
    check_links();
    check_ranks();
    check_latencies();
    check_blocks();
    for (const auto& [link, count] : walk_.sent)
      EXPECT_LT(count, static_cast<std::int64_t>(members_.size())) << "the tree gains nothing";
  }
};

bool on_one_host(const std::vector<VertexId>& members)
{
  return std::set<VertexId>(members.begin(), members.end()).size() == 1;
}

/** Builds trees for random communicators; returns their number. */
int check_some(const Fabric& fabric, Random& random)
{
  int trees = 0;
  for (int number = 0; number < 5; ++number) {
    const std::vector<VertexId> members = random_members(fabric, random);
    const TreeResult result             = build_reduction_tree(fabric, members, random() % 100);
    EXPECT_EQ(not result.tree && result.obstacle == NoTree::one_host, on_one_host(members));
    if (not result.tree)
      continue;
    TreeCheck(fabric, members, *result.tree).check();
    ++trees;
  }
  return trees;
}

struct Family {
  const char* name;
  std::unique_ptr<Topology> (*make)(Random&);
  bool (*smart)(const std::string& name, Random& random);
  int least_trees; ///< minimum number of trees per thousand communicators
};

bool all(const std::string& /*name*/, Random& /*random*/)
{
  return true;
}

bool half(const std::string& /*name*/, Random& random)
{
  return below(random, 2) == 0;
}

bool few(const std::string& /*name*/, Random& random)
{
  return below(random, 5) == 0;
}

bool leaves(const std::string& name, Random& /*random*/)
{
  return name.starts_with("level1");
}

bool above_leaves(const std::string& name, Random& random)
{
  return not leaves(name, random);
}

class Trees : public ::testing::TestWithParam<Family> {};

TEST_P(Trees, carry_what_packets_would)
{
  int trees = 0;
  for (unsigned seed = 0; seed < 200 && not HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::unique_ptr<Topology> topology = GetParam().make(random);
    const auto smart                   = [&random](const std::string& name) { return GetParam().smart(name, random); };
    const Fabric fabric                = fabric_over(std::move(topology), random, smart);
    trees += check_some(fabric, random);
  }
  EXPECT_GE(trees, GetParam().least_trees) << "these tests test nothing";
}

INSTANTIATE_TEST_SUITE_P(
    All, Trees,
    ::testing::Values(Family{"fat_tree", random_fat_tree, all, 800},
                      Family{"fat_tree_leaves", random_fat_tree, leaves, 800},
                      Family{"fat_tree_above_leaves", random_fat_tree, above_leaves, 400},
                      Family{"fat_tree_half", random_fat_tree, half, 700}, Family{"torus", random_torus, all, 900},
                      Family{"torus_half", random_torus, half, 800}, Family{"torus_few", random_torus, few, 600},
                      Family{"dragonfly", random_dragonfly, all, 900},
                      Family{"dragonfly_half", random_dragonfly, half, 800},
                      Family{"dragonfly_few", random_dragonfly, few, 500}, Family{"custom", random_custom, all, 900},
                      Family{"custom_half", random_custom, half, 700}, Family{"custom_few", random_custom, few, 300}),
    [](const auto& test) { return test.param.name; });

/** On fabrics of smart switches every communicator of two or more hosts has a tree. */
TEST(SmartFabrics, always_have_a_tree)
{
  for (const auto make : {random_fat_tree, random_torus, random_dragonfly, random_custom})
    for (unsigned seed = 0; seed < 200; ++seed) {
      Random random(seed);
      const Fabric fabric                 = fabric_over(make(random), random, [](const std::string&) { return true; });
      const std::vector<VertexId> members = random_members(fabric, random);
      EXPECT_EQ(build_reduction_tree(fabric, members, seed).tree.has_value(), not on_one_host(members)) << seed;
    }
}

// ---- Roots ----

std::vector<VertexId> all_hosts(const Fabric& fabric)
{
  std::vector<VertexId> hosts(at(fabric.host_count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/** Returns the number of communicators, of 0 to @p count - 1 over all hosts, for which each switch is the root. */
std::map<std::string, int> roots(const Fabric& fabric, std::size_t count)
{
  std::map<std::string, int> found;
  for (std::size_t spread = 0; spread < count; ++spread) {
    const TreeResult result = build_reduction_tree(fabric, all_hosts(fabric), spread);
    ++found[result.tree ? fabric.topology().switch_name(result.tree->switches.front().index) : "none"];
  }
  return found;
}

template <class Smart> Fabric fat_tree(std::vector<int> down, std::vector<int> up, const Smart& smart)
{
  Random random = seeded(1);
  const std::vector<int> cables(down.size(), 1);
  return fabric_over(std::make_unique<FatTree>(FatTreeOptions{std::move(down), std::move(up), cables}), random, smart);
}

bool any(const std::string& /*name*/)
{
  return true;
}

bool is_leaf(const std::string& name)
{
  return name.starts_with("level1");
}

bool is_not_leaf(const std::string& name)
{
  return not is_leaf(name);
}

bool none(const std::string& /*name*/)
{
  return false;
}

using Roots = std::map<std::string, int>;

TEST(Roots, of_communicators_one_after_the_other_take_turns)
{
  EXPECT_EQ(roots(fat_tree({2, 3}, {1, 4}, any), 8),
            (Roots{{"level2-0", 2}, {"level2-1", 2}, {"level2-2", 2}, {"level2-3", 2}}));
  EXPECT_EQ(roots(fat_tree({2, 3}, {1, 4}, is_leaf), 6), (Roots{{"level1-0", 2}, {"level1-1", 2}, {"level1-2", 2}}));
  EXPECT_EQ(roots(fat_tree({2, 3}, {1, 4}, [](const std::string& name) { return name == "level2-2"; }), 5),
            (Roots{{"level2-2", 5}}));
  Random random = seeded(1);
  const Fabric torus =
      fabric_over(std::make_unique<Torus>(TorusOptions{{4, 4}, 1, 1}, Torus::Edges::wrapped), random, any);
  const Roots found = roots(torus, 32);
  EXPECT_EQ(found.size(), 16);
  EXPECT_TRUE(std::ranges::all_of(found, [](const auto& root) { return root.second == 2; }));
}

/** A communicator within one pod of a fat tree stays there. */
TEST(Roots, are_the_nearest_above_all_members)
{
  const Fabric fabric = fat_tree({2, 2, 2}, {1, 2, 2}, any);
  const auto tree = [&](const std::vector<VertexId>& hosts) { return *build_reduction_tree(fabric, hosts, 0).tree; };
  EXPECT_EQ(tree({0, 1}).switches.size(), 1);
  EXPECT_EQ(tree({0, 2}).switches.size(), 3);
  EXPECT_EQ(tree({0, 1, 2, 3}).switches.size(), 3);
  EXPECT_EQ(tree({0, 4}).switches.size(), 5);
  EXPECT_EQ(tree(all_hosts(fabric)).switches.size(), 7);
}

// ---- No tree ----

std::string_view obstacle(const Fabric& fabric, const std::vector<VertexId>& members)
{
  const TreeResult result = build_reduction_tree(fabric, members, 0);
  if (result.tree)
    return "none";
  return result.obstacle == NoTree::one_host  ? "one host"
         : result.obstacle == NoTree::no_gain ? "no gain"
                                              : "no switch";
}

TEST(NoTree, on_one_host)
{
  const Fabric fabric = fat_tree({2, 3}, {1, 2}, any);
  EXPECT_EQ(obstacle(fabric, {3, 3, 3}), "one host");
  EXPECT_EQ(obstacle(fabric, {3, 3, 2}), "none");
}

TEST(NoTree, without_a_smart_switch_on_the_way)
{
  EXPECT_EQ(obstacle(fat_tree({2, 3}, {1, 2}, none), {0, 2}), "no switch");
  const Fabric spines = fat_tree({2, 3}, {1, 2}, is_not_leaf);
  EXPECT_EQ(obstacle(spines, {0, 1}), "no switch"); // their routes meet below the spines
  EXPECT_EQ(obstacle(spines, {0, 2}), "none");
}

/** Hosts x and y are on the plain switch "near", y also on "far"; both hosts reach the smart "middle", between the two
 * switches, over "near". */
TEST(NoTree, where_all_contributions_cross_one_link)
{
  Random random = seeded(1);
  const std::vector<Cable> cables{{0, 3, 0}, {1, 3, 0}, {1, 2, 0}, {2, 4, 0}, {3, 4, 0}};
  const auto is_middle = [](const std::string& name) { return name == "middle"; };
  const Fabric fabric  = fabric_over(
      std::make_unique<Custom>(Custom::Graph{{"x", "y"}, {"far", "near", "middle"}, cables}), random, is_middle);
  EXPECT_EQ(obstacle(fabric, {0, 1}), "no gain");
}

/** A plain leaf forwards each host's contribution separately; the tree still gains if contributions are combined
 * elsewhere. */
TEST(NoTree, is_not_said_where_some_contributions_share_a_link)
{
  const Fabric fabric =
      fat_tree({2, 2, 2}, {1, 1, 1}, [](const std::string& name) { return name.starts_with("level3"); });
  EXPECT_EQ(obstacle(fabric, {0, 1, 2}), "no switch");
  EXPECT_EQ(obstacle(fabric, {0, 1, 2, 4}), "none");
}

} // namespace
} // namespace weft
