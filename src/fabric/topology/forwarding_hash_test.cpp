// SPDX-License-Identifier: LGPL-2.1-only
/* Tests of the hash on every topology: equal tags have equal ports, and there are at most as many tags as ports. Also
 * the examples of Hirasawa et al., and the effect of a failed link on caches (figure 12 there). */
#include "fabric/topology/forwarding_hash.hpp"

#include "base/share.hpp"
#include "base/test_file.hpp"
#include "fabric/fabric.hpp"
#include "fabric/topology/topology_test.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace weft {
namespace {

void expect_holds(const ForwardingHash& hash, const Topology& topology, const std::string& what, int step = 1)
{
  const HashProof proof = prove(hash, topology, step);
  EXPECT_FALSE(proof.misroute) << what << ": " << topology.switch_name(proof.misroute->switch_index) << " to "
                               << topology.host_name(proof.misroute->one) << " and "
                               << topology.host_name(proof.misroute->other);
  EXPECT_FALSE(proof.crowded) << what << ": " << topology.switch_name(*proof.crowded);
  EXPECT_GT(proof.pairs, 0);
  EXPECT_LT(proof.highest_tag, static_cast<ForwardingTag>(hash.tags().value_or(1 << ADDRESS_BITS))) << what;
}

// Checking all pairs of the largest fabric takes half a minute; the tests of `weft cache` do that.
TEST(ForwardingHash, HoldsOnAllShippedFabrics)
{
  for (const std::string& name : list_shared("fabrics")) {
    const Fabric fabric = Fabric::load(name);
    if (fabric.switch_count() == 0) // two hosts and one cable
      continue;
    if (fabric.topology_kind() == "gpu_cluster") // one tag per destination
      continue;
    expect_holds(*make_forwarding_hash("auto", fabric.topology()), fabric.topology(), name,
                 fabric.host_count() > 4096 ? 199 : 1);
  }
}

std::string list(std::mt19937& random, std::size_t length, int least, int most)
{
  std::string text;
  for (std::size_t i = 0; i < length; ++i)
    text.append(i == 0 ? "[" : ", ").append(std::to_string(least + static_cast<int>(random() % (most - least + 1))));
  return text + "]";
}

/** Returns a key of [topology] with a random value from 1 to @p most. */
std::string some(std::mt19937& random, const std::string& key, int most)
{
  return key + " = " + std::to_string(1 + static_cast<int>(random() % static_cast<unsigned>(most))) + "\n";
}

/** Returns a random link aggregation. */
std::string some_aggregation(std::mt19937& random)
{
  return std::string("link_aggregation = \"") + (random() % 2 == 0 ? "crc" : "coordinates") + "\"\n";
}

TEST(ForwardingHash, HoldsOnRandomGrids)
{
  std::mt19937 random(1);
  for (int attempt = 0; attempt < 60; ++attempt) {
    const std::string text = std::string("kind = \"") + (attempt % 2 == 0 ? "torus" : "mesh") +
                             "\"\ndimensions = " + list(random, 1 + random() % 4, 2, 5) + "\n" +
                             some(random, "hosts_per_switch", 3) + some(random, "cables", 4) + some_aggregation(random);
    const auto topology    = topology_of(text);
    expect_holds(*make_forwarding_hash("cube", *topology), *topology, text);
  }
}

TEST(ForwardingHash, HoldsOnRandomFatTrees)
{
  std::mt19937 random(2);
  for (int attempt = 0; attempt < 60; ++attempt) {
    const std::size_t levels = 1 + random() % 3;
    const std::string text   = "kind = \"fat_tree\"\ndown = " + list(random, levels, 1, 5) +
                               "\nup = " + list(random, levels, 1, 3) + "\ncables = " + list(random, levels, 1, 4) +
                               "\n" + some_aggregation(random);
    const auto topology      = topology_of(text);
    expect_holds(*make_forwarding_hash("fat_tree", *topology), *topology, text);
  }
}

TEST(ForwardingHash, HoldsOnRandomDragonflies)
{
  std::mt19937 random(3);
  for (int attempt = 0; attempt < 60; ++attempt) {
    const std::string text = "kind = \"dragonfly\"\n" + some(random, "groups", 9) + some(random, "chassis", 3) +
                             some(random, "routers", 4) + some(random, "hosts", 3) + some(random, "global_cables", 4) +
                             some(random, "chassis_cables", 4) + some(random, "router_cables", 4) +
                             some_aggregation(random);
    const auto topology    = topology_of(text);
    expect_holds(*make_forwarding_hash("dragonfly", *topology), *topology, text);
  }
}

TEST(ForwardingHash, CrcHoldsToo)
{
  const auto custom     = topology_of(R"(kind = "custom"
hosts = ["a", "b", "c"]
switches = ["s", "t"]
cables = [{between = ["a", "s"]}, {between = ["b", "s"]}, {between = ["c", "t"]},
          {between = ["s", "t"], count = 3}])");
  const HashProof proof = prove(*make_forwarding_hash("auto", *custom), *custom);
  EXPECT_FALSE(proof.misroute);
  EXPECT_EQ(proof.most_tags, custom->host_count()); // one per destination
}

TEST(ForwardingHash, CrcIsABijection)
{
  std::vector<bool> seen(1U << ADDRESS_BITS);
  for (ForwardingAddress address = 0; address < seen.size(); ++address)
    seen[crc24(address)] = true;
  EXPECT_EQ(std::ranges::count(seen, true), static_cast<std::ptrdiff_t>(seen.size()));
}

std::string hash_failure(const std::string& name, const std::string& topology)
{
  try {
    make_forwarding_hash(name, *topology_of(topology));
    return "";
  } catch (const HashError& error) {
    return error.what();
  }
}

TEST(ForwardingHash, IsRefusedOnAnotherTopology)
{
  EXPECT_EQ(hash_failure("cube", "kind = \"star\"\nhosts = 4"),
            "found \"cube\", which is not the hash of the fabric's topology; allowed: auto, crc, fat_tree");
  EXPECT_EQ(hash_failure("fat_tree", "kind = \"mesh\"\ndimensions = [4]"),
            "found \"fat_tree\", which is not the hash of the fabric's topology; allowed: auto, crc, cube");
  EXPECT_EQ(hash_failure("dragonfly", R"(kind = "custom"
hosts = ["a", "b"]
switches = ["s"]
cables = [{between = ["a", "s"]}, {between = ["b", "s"]}])"),
            "found \"dragonfly\", which is not the hash of the fabric's topology; allowed: auto, crc");
}

TEST(ForwardingHash, IsRefusedBeyond24Bits)
{
  // 3 bits per dimension, and one bit for the host.
  const std::string text = "kind = \"torus\"\ndimensions = [5, 5, 5, 5, 5, 5, 5, 5]\nhosts_per_switch = 2";
  EXPECT_EQ(hash_failure("auto", text), "the coordinates of a host need an address of 25 bits; allowed: at most 24; "
                                        "use fewer dimensions, sizes that are powers of two, or hash = \"crc\"");
  EXPECT_EQ(hash_failure("crc", text), "");
}

TEST(ForwardingHash, IsCheckedWhenAFabricIsRead)
{
  const auto message = [](const std::string& hash) {
    const std::string text = "[fabric]\nname = \"x\"\n[topology]\nkind = \"star\"\nhosts = 4\n[host]\npreset = "
                             "\"xeon-8360\"\n[nic]\npreset = \"connectx-6-dx\"\n[link]\nbandwidth = \"1Gbps\"\n"
                             "latency = \"1us\"\n[switch]\npreset = \"cache\"\n[switch.forwarding]\nhash = \"";
    return message_about(text + hash + "\"\n", [](const std::string& path) { Fabric::load(path); });
  };
  EXPECT_EQ(message("fat_tree"), "");
  EXPECT_EQ(message("cube"), "FILE: [switch.forwarding] hash: found \"cube\", which is not the hash of the fabric's "
                             "topology; allowed: auto, crc, fat_tree");
}

// ---- The examples of Hirasawa et al. (CLUSTER 2021)

/** Returns the tags of all hosts at a switch. */
std::vector<ForwardingTag> tags_at(const ForwardingHash& hash, int switch_index, int hosts)
{
  std::vector<ForwardingTag> tags;
  for (VertexId host = 0; host < hosts; ++host)
    tags.push_back(hash.tag(switch_index, hash.address(host)));
  return tags;
}

// "The packet destinations (0,2), (1,2), and (2,2) share the same table entry (X0,+) at the switch (1,1)" of a 3-ary
// 2-mesh (section IV.C and figure 9); coordinates are (X1, X0) there, and dimension 0 is routed first.
TEST(ForwardingHash, EqualsThePapersOnAMesh)
{
  const auto mesh = topology_of("kind = \"mesh\"\ndimensions = [3, 3]");
  const auto hash = make_forwarding_hash("cube", *mesh);
  enum Tag : ForwardingTag { LOCAL, RIGHT, LEFT, ABOVE, BELOW };
  EXPECT_EQ(tags_at(*hash, 4, 9),
            (std::vector<ForwardingTag>{LEFT, BELOW, RIGHT, LEFT, LOCAL, RIGHT, LEFT, ABOVE, RIGHT}));
}

// The paper prints a threshold of k/2 rounded up, which takes 3 of 5 steps instead of 2 in the opposite direction.
TEST(ForwardingHash, TakesTheShorterDirectionOfAnOddRing)
{
  const auto ring = topology_of("kind = \"torus\"\ndimensions = [5]");
  enum Tag : ForwardingTag { LOCAL, UP, DOWN };
  EXPECT_EQ(tags_at(*make_forwarding_hash("cube", *ring), 0, 5),
            (std::vector<ForwardingTag>{LOCAL, UP, UP, DOWN, DOWN}));
  EXPECT_EQ(tags_at(*make_forwarding_hash("cube", *ring), 4, 5),
            (std::vector<ForwardingTag>{UP, UP, DOWN, DOWN, LOCAL}));
}

// ---- Figure 12: a 5-ary 1-cube loses the link from one node to the next.

/** Returns a ring of five switches with one host each, without the cable between 1 and 2 if @p failed. */
std::unique_ptr<Topology> five_ring(bool failed)
{
  std::string text = "kind = \"custom\"\nhosts = [\"h-0\", \"h-1\", \"h-2\", \"h-3\", \"h-4\"]\n"
                     "switches = [\"s-0\", \"s-1\", \"s-2\", \"s-3\", \"s-4\"]\n";
  const auto cable = [&text](const std::string& one, const std::string& other) {
    text.append("[[topology.cables]]\nbetween = [\"").append(one).append("\", \"").append(other).append("\"]\n");
  };
  for (int i = 0; i < 5; ++i) {
    cable(numbered("h", i, 5), numbered("s", i, 5));
    if (i != 1 || not failed)
      cable(numbered("s", i, 5), numbered("s", (i + 1) % 5, 5));
  }
  return topology_of(text);
}

/** Caches of the ring's switches, filled by packets for all hosts. */
class Ring {
  const ForwardingHash& hash_;
  std::vector<ForwardingCache> caches_{5, ForwardingCache({2048, 4, Replacement::lru})};

public:
  explicit Ring(const ForwardingHash& hash) : hash_(hash) {}

  /** Returns the next hop from @p at according to the cache or, on a miss, to the TCAM with the routes of @p topology.
   */
  VertexId forward(int at, VertexId host, const Topology& topology)
  {
    ForwardingCache& cache          = caches_[static_cast<std::size_t>(at)];
    const ForwardingTag tag         = hash_.tag(at, hash_.address(host));
    const std::optional<int> cached = cache.lookup(tag);
    if (cached)
      return *cached;
    const VertexId next = topology.next_hop(topology.host_count() + at, host).to;
    cache.fill(tag, next);
    return next;
  }

  /** Returns the switch-host pairs for which caches and the routes of @p topology disagree. */
  std::set<std::pair<int, VertexId>> stale(const Topology& topology)
  {
    std::set<std::pair<int, VertexId>> found;
    for (int at = 0; at < 5; ++at)
      for (VertexId host = 0; host < 5; ++host)
        if (forward(at, host, topology) != topology.next_hop(topology.host_count() + at, host).to)
          found.emplace(at, host);
    return found;
  }
  void flush()
  {
    for (ForwardingCache& cache : caches_)
      cache.flush();
  }
};

TEST(LinkFailure, LeavesNoStaleEntryOnceTheCachesAreFlushed)
{
  const auto before = five_ring(false);
  const auto after  = five_ring(true);
  const auto crc    = make_forwarding_hash("crc", *before);
  Ring ring(*crc);
  EXPECT_TRUE(ring.stale(*before).empty());
  const auto stale = ring.stale(*after); // routes have changed, caches have not been flushed
  EXPECT_TRUE(stale.contains({1, 2}));   // over the failed link
  EXPECT_TRUE(stale.contains({0, 2}));   // to the node at the failed link
  ring.flush();
  EXPECT_TRUE(ring.stale(*after).empty());
  EXPECT_TRUE(ring.stale(*after).empty()); // refilled in the meantime
}

// The paper's example: at node 11 (switch 1 here) all destinations behind X0,+ move to X0,-, so tags remain valid.
TEST(LinkFailure, ChangesOneEntryAtTheFailedLink)
{
  const auto after = five_ring(true);
  const auto hash  = make_forwarding_hash("cube", *topology_of("kind = \"torus\"\ndimensions = [5]"));
  Ring ring(*hash);
  for (const VertexId host : {2, 3})
    EXPECT_EQ(ring.forward(1, host, *after), after->host_count());
}

// At the neighbouring switch, the hash of the whole ring would send packets back: hosts 1 and 2 share a tag but no
// longer a port. The remaining topology is a line; with its addresses the invariant holds again.
TEST(LinkFailure, NeedsTheAddressesOfTheRemainingTopology)
{
  const auto after = five_ring(true);
  const auto ring  = make_forwarding_hash("cube", *topology_of("kind = \"torus\"\ndimensions = [5]"));
  EXPECT_TRUE(prove(*ring, *after).misroute);

  class LineHash final : public ForwardingHash { // positions 2, 3, 4, 0, 1
    std::unique_ptr<const ForwardingHash> line_ =
        make_forwarding_hash("cube", *topology_of("kind = \"mesh\"\ndimensions = [5]"));

  public:
    std::string name() const override { return line_->name(); }
    ForwardingAddress address(VertexId host) const override { return line_->address((host + 3) % 5); }
    ForwardingTag tag(int at, ForwardingAddress to) const override { return line_->tag((at + 3) % 5, to); }
    std::optional<int> tags() const override { return std::nullopt; }
  };
  expect_holds(LineHash(), *after, "the line");
}

} // namespace
} // namespace weft
