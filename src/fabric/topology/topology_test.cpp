// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/topology_test.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

namespace weft {

TopologyCheck::TopologyCheck(const Topology& topology)
    : topology_(topology), cables_(topology.cables()), neighbours_(static_cast<std::size_t>(vertices()))
{
  check_cables();
  for (const Cable& cable : cables_) {
    neighbours_[static_cast<std::size_t>(cable.lower)].push_back(cable.upper);
    neighbours_[static_cast<std::size_t>(cable.upper)].push_back(cable.lower);
  }
}

/** Checks that ends exist and differ, that hosts are below switches and below hosts with higher numbers, and that
 * parallel cables are numbered from zero. */
void TopologyCheck::check_cables()
{
  std::map<std::pair<VertexId, VertexId>, int> numbers;
  for (const Cable& cable : cables_) {
    ASSERT_GE(cable.lower, 0);
    ASSERT_TRUE(cable.upper >= topology_.host_count() || cable.lower < cable.upper);
    ASSERT_LT(std::max(cable.lower, cable.upper), vertices());
    ASSERT_NE(cable.lower, cable.upper);
    EXPECT_EQ(cable.number, numbers[std::minmax(cable.lower, cable.upper)]++);
  }
}

int TopologyCheck::cables_between(VertexId one, VertexId other) const
{
  const std::vector<VertexId>& found = neighbours_[static_cast<std::size_t>(one)];
  return static_cast<int>(std::ranges::count(found, other));
}

std::vector<int> TopologyCheck::distances(VertexId from) const
{
  std::vector<int> distances(static_cast<std::size_t>(vertices()), -1);
  std::queue<VertexId> reached({from});
  distances[static_cast<std::size_t>(from)] = 0;
  for (; not reached.empty(); reached.pop()) {
    const VertexId at = reached.front();
    if (topology_.is_host(at) && at != from)
      continue;
    for (const VertexId next : neighbours_[static_cast<std::size_t>(at)]) {
      int& distance = distances[static_cast<std::size_t>(next)];
      if (distance >= 0)
        continue;
      distance = distances[static_cast<std::size_t>(at)] + 1;
      reached.push(next);
    }
  }
  return distances;
}

const std::vector<LinkId>& TopologyCheck::walk(VertexId from, VertexId to)
{
  route_.clear();
  topology_.route(from, to, route_);
  check_steps(from, to);
  return route_.links;
}

void TopologyCheck::check_steps(VertexId from, VertexId to) const
{
  const std::string way = topology_.vertex_name(from) + " to " + topology_.vertex_name(to);
  std::set<VertexId> visited{from};
  VertexId at = from;
  for (const LinkId link : route_.links) {
    ASSERT_GE(link, 0) << way;
    ASSERT_LT(link, 2 * static_cast<LinkId>(cables_.size())) << way;
    const Cable& cable = cables_[static_cast<std::size_t>(link / 2)];
    ASSERT_EQ(at, link % 2 == 0 ? cable.lower : cable.upper) << way;
    at = link % 2 == 0 ? cable.upper : cable.lower;
    ASSERT_TRUE(visited.insert(at).second) << way << " visits " << topology_.vertex_name(at) << " twice";
    ASSERT_TRUE(at == to || not topology_.is_host(at)) << way << " goes through " << topology_.vertex_name(at);
  }
  ASSERT_EQ(at, to) << way;
  ASSERT_EQ(route_.through.size() + 1, route_.links.size()) << way;
}

void TopologyCheck::check_all()
{
  std::size_t longest = 0;
  for (VertexId host = 0; host < topology_.host_count(); ++host)
    for (VertexId other = 0; other < vertices() && not ::testing::Test::HasFatalFailure(); ++other) {
      if (host == other)
        continue;
      const std::size_t there = walk(host, other).size();
      if (topology_.is_host(other))
        longest = std::max(longest, there);
      else
        walk(other, host);
    }
  if (topology_.host_count() > 1) {
    EXPECT_EQ(longest, topology_.diameter());
  }
}

void TopologyCheck::check_sample(unsigned seed, int count)
{
  std::mt19937 random(seed);
  const auto below = [&random](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int pair = 0; pair < count && not ::testing::Test::HasFatalFailure(); ++pair) {
    const VertexId host  = below(topology_.host_count());
    const VertexId other = below(topology_.host_count());
    if (host != other) {
      EXPECT_LE(walk(host, other).size(), topology_.diameter());
    }
    const VertexId passed = topology_.host_count() + below(topology_.switch_count());
    walk(host, passed);
    walk(passed, host);
  }
}

void TopologyCheck::check_minimal()
{
  for (VertexId host = 0; host < topology_.host_count(); ++host) {
    const std::vector<int> shortest = distances(host);
    for (VertexId other = 0; other < topology_.host_count(); ++other) {
      if (other == host)
        continue;
      ASSERT_EQ(walk(host, other).size(), shortest[static_cast<std::size_t>(other)])
          << topology_.vertex_name(host) << " to " << topology_.vertex_name(other);
    }
  }
}

void TopologyCheck::check_equal_hops(VertexId at, VertexId to, const std::vector<int>* distances) const
{
  const std::string way = topology_.vertex_name(at) + " to " + topology_.vertex_name(to);
  const auto length     = [this, to](VertexId from) {
    Route route;
    if (from != to)
      topology_.route(from, to, route);
    return route.links.size();
  };
  std::vector<Hop> hops;
  topology_.equal_hops(at, to, hops);
  const Hop usual = topology_.next_hop(at, to);
  std::set<LinkId> links;
  for (const Hop& hop : hops) {
    const Cable& cable = cables_[static_cast<std::size_t>(hop.link / 2)];
    ASSERT_EQ(at, hop.link % 2 == 0 ? cable.lower : cable.upper) << way;
    ASSERT_EQ(hop.to, hop.link % 2 == 0 ? cable.upper : cable.lower) << way;
    ASSERT_TRUE(links.insert(hop.link).second) << way;
    ASSERT_TRUE(hop.to == to || not topology_.is_host(hop.to)) << way;
    ASSERT_EQ(length(hop.to) + 1, length(at)) << way << " by " << topology_.vertex_name(hop.to);
  }
  ASSERT_TRUE(links.contains(usual.link)) << way;
  if (not distances)
    return;
  std::size_t nearer = 0;
  for (const Cable& cable : cables_)
    for (const auto& [here, there] : {std::pair(cable.lower, cable.upper), std::pair(cable.upper, cable.lower)})
      nearer += here == at && (there == to || not topology_.is_host(there)) &&
                        (*distances)[static_cast<std::size_t>(there)] + 1 == (*distances)[static_cast<std::size_t>(at)]
                    ? 1
                    : 0;
  ASSERT_EQ(hops.size(), nearer) << way;
}

void TopologyCheck::check_equal_hops(bool all)
{
  for (VertexId to = 0; to < topology_.host_count(); ++to) {
    const std::vector<int> links = distances(to);
    for (VertexId at = 0; at < vertices() && not ::testing::Test::HasFatalFailure(); ++at)
      if (at != to)
        check_equal_hops(at, to, all ? &links : nullptr);
  }
}

int TopologyCheck::busiest_link(int shift)
{
  std::vector<int> ways(2 * cables_.size());
  for (VertexId host = 0; host < topology_.host_count(); ++host)
    for (const LinkId link : walk(host, (host + shift) % topology_.host_count()))
      ++ways[static_cast<std::size_t>(link)];
  return *std::ranges::max_element(ways);
}

namespace {

/** Temporary file, deleted with the object. */
class TemporaryFile {
  std::string path_;

public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("weft-topology-" + std::to_string(getpid()) + ".toml"))
  {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&)            = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
};

} // namespace

std::unique_ptr<Topology> topology_of(const std::string& text)
{
  const TemporaryFile file("[topology]\n" + text);
  std::string kind;
  return read_topology(OptionTable::read_file(file.path()).table("topology"), kind);
}

std::string failure_of(const std::string& text)
{
  try {
    topology_of(text);
    return "";
  } catch (const UserError& error) {
    const std::string message = error.what();
    return message.substr(message.find('['));
  }
}

namespace {

TEST(Topology, random_bits_select_all_numbers_but_two)
{
  std::map<int, int> seen;
  for (std::uint32_t step = 0; step < 100; ++step)
    ++seen[scaled_without(step * 42949672 + 1000, 7, 5, 2)];
  EXPECT_EQ(seen, (std::map<int, int>{{0, 20}, {1, 20}, {3, 20}, {4, 20}, {6, 20}}));
}

TEST(Topology, names_are_padded_to_sort_by_number)
{
  EXPECT_EQ(numbered("host", 7, 100), "host-07");
  EXPECT_EQ(numbered("host", 7, 10), "host-7");
}

TEST(Topology, star)
{
  const auto star = topology_of("kind = \"star\"\nhosts = 5");
  TopologyCheck check(*star);
  check.check_all();
  check.check_minimal();
}

TEST(Topology, unknown_kind_is_refused_with_the_known_ones)
{
  std::string message = "[topology] kind: found \"ring\"; allowed:";
  for (const TopologyKind& row : topology_kinds())
    message += (row.name == "star" ? " " : ", ") + row.name;
  EXPECT_EQ(failure_of("kind = \"ring\""), message);
}

TEST(Topology, fewer_hosts_than_one_are_refused)
{
  EXPECT_EQ(failure_of("kind = \"star\"\nhosts = 0"), "[topology] hosts: found 0; allowed: more than zero");
}

} // namespace

} // namespace weft
