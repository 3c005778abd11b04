// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/fat_tree.hpp"

#include <array>
#include <stdexcept>

namespace weft {

FatTree::FatTree(const FatTreeOptions& options)
    : levels_(static_cast<int>(options.down.size())), down_(options.down), up_(options.up), parallel_(options.cables),
      below_{1}, above_{1}, first_{0}, first_cable_{0}, aggregation_(options.link_aggregation)
{
  if (down_.empty() || up_.size() != down_.size() || parallel_.size() != down_.size())
    throw std::logic_error("a fat tree has as many values of each parameter as levels");
  for (int level = 0; level < levels_; ++level) {
    below_.push_back(below_.back() * down_[index(level)]);
    above_.push_back(above_.back() * up_[index(level)]);
  }
  if (options.hosts < 0 || options.hosts > below_.back())
    throw std::logic_error("a fat tree has no more hosts than places for them");
  first_.push_back(options.hosts > 0 ? options.hosts : below_.back());
  for (int level = 1; level <= levels_; ++level)
    first_.push_back(first_.back() + stride(level, levels_));
  for (int level = 0; level < levels_; ++level)
    first_cable_.push_back(first_cable_.back() + size(level) * up_[index(level)] * parallel_[index(level)]);
}

FatTree::Node FatTree::node(VertexId vertex) const
{
  int level = 0;
  while (vertex >= first_[index(level) + 1])
    ++level;
  return {level, vertex - first_[index(level)]};
}

/** Returns the weight of digit @p digit >= @p level in positions of @p level. */
int FatTree::stride(int level, int digit) const
{
  return above_[index(level)] * (below_[index(digit)] / below_[index(level)]);
}

bool FatTree::is_above(Node upper, Node lower) const
{
  return upper.level > lower.level &&
         upper.position / above_[index(upper.level)] == lower.position / stride(lower.level, upper.level) &&
         upper.position % above_[index(lower.level)] == lower.position % above_[index(lower.level)];
}

/** Returns cable @p number between node @p child of @p level and the parent that has digit @p parent_digit. */
int FatTree::cable(int level, int child, int parent_digit, int number) const
{
  return first_cable_[index(level)] + (child * up_[index(level)] + parent_digit) * parallel_[index(level)] + number;
}

/** Returns the index of the parallel cable above a node of @p level that leads to @p to. */
int FatTree::parallel(int level, Node to) const
{
  const int parent = to.position / above_[index(level)] / up_[index(level)];
  return aggregation_.choice(first_[index(to.level)] + to.position, parent) % parallel_[index(level)];
}

/** Returns the hop to the parent with digit @p digit, over parallel cable @p number. */
Hop FatTree::up(Node from, int digit, int number) const
{
  const int level = from.level;
  const int low   = above_[index(level)];
  const int parent =
      from.position % low + digit * low + from.position / (low * down_[index(level)]) * low * up_[index(level)];
  return {up_link(index(cable(level, from.position, digit, number))), first_[index(level) + 1] + parent};
}

/** Returns the hop to the child above @p to, over parallel cable @p number. */
Hop FatTree::down(Node from, Node to, int number) const
{
  const int level = from.level - 1;
  const int count = up_[index(level)];
  const int low   = above_[index(level)];
  const int digit = to.position / stride(to.level, level) % down_[index(level)];
  const int child = from.position % low + digit * low + from.position / (low * count) * low * down_[index(level)];
  return {down_link(index(cable(level, child, from.position / low % count, number))), first_[index(level)] + child};
}

Hop FatTree::climb(Node from, Node to) const
{
  const int level = from.level;
  if (level == levels_)
    throw std::logic_error("a fat tree has no way from a top switch to a switch that is not below");
  const int digit = to.position / above_[index(level)] % up_[index(level)];
  return up(from, digit, level < to.level ? to.position % parallel_[index(level)] : parallel(level, to));
}

Hop FatTree::descend(Node from, Node to) const
{
  return down(from, to, parallel(from.level - 1, to));
}

void FatTree::equal_hops(VertexId at, VertexId to, std::vector<Hop>& into) const
{
  const Node from   = node(at);
  const Node target = node(to);
  if (is_above(from, target)) {
    for (int number = 0; number < parallel_[index(from.level - 1)]; ++number)
      into.push_back(down(from, target, number));
    return;
  }
  const int count   = up_[index(from.level)];
  const bool bound  = from.level < target.level; // to the switch itself or an ancestor of it
  const int its_own = target.position / above_[index(from.level)] % count;
  for (int digit = bound ? its_own : 0; digit < (bound ? its_own + 1 : count); ++digit)
    for (int number = 0; number < parallel_[index(from.level)]; ++number)
      into.push_back(up(from, digit, number));
}

Hop FatTree::next_hop(VertexId at, VertexId to) const
{
  const Node from   = node(at);
  const Node target = node(to);
  return is_above(from, target) ? descend(from, target) : climb(from, target);
}

std::vector<int> FatTree::spray_pools() const
{
  std::vector<int> pools(2 * index(first_cable_.back()), -1);
  int first = 0;
  for (int level = 0; level < levels_; ++level) {
    const int cables_of_node = up_[index(level)] * parallel_[index(level)];
    const int tops           = above_[index(level)]; // nodes at the top of a subtree
    if (tops * cables_of_node == 1)
      continue;
    for (int node_cable = 0; node_cable < size(level) * cables_of_node; ++node_cable) {
      const int pool                    = first + 2 * (node_cable / cables_of_node / tops);
      const auto cable_id               = index(first_cable_[index(level)] + node_cable);
      pools[index(up_link(cable_id))]   = pool;
      pools[index(down_link(cable_id))] = pool + 1;
    }
    first += 2 * (size(level) / tops);
  }
  return pools;
}

std::vector<Cable> FatTree::cables() const
{
  std::vector<Cable> cables;
  cables.reserve(index(first_cable_.back()));
  for (int level = 0; level < levels_; ++level) {
    const int low = above_[index(level)];
    for (int child = 0; child < size(level); ++child) {
      const int same_parents = child % low + child / (low * down_[index(level)]) * low * up_[index(level)];
      for (int digit = 0; digit < up_[index(level)]; ++digit)
        for (int number = 0; number < parallel_[index(level)]; ++number)
          cables.push_back(
              {first_[index(level)] + child, first_[index(level) + 1] + same_parents + digit * low, number});
    }
  }
  return cables;
}

/** Returns the lowest level, at least 1, at which the hosts have common ancestors. */
int FatTree::shared_level(std::span<const VertexId> hosts) const
{
  int level = 1;
  for (const VertexId host : hosts)
    while (host / below_[index(level)] != hosts.front() / below_[index(level)])
      ++level;
  return level;
}

int FatTree::diameter() const
{
  const std::array<VertexId, 2> ends{0, host_count() - 1};
  return 2 * shared_level(ends);
}

std::vector<VertexId> FatTree::meeting_switches(std::span<const VertexId> hosts) const
{
  const int level = shared_level(hosts);
  const int count = above_[index(level)];
  std::vector<VertexId> switches;
  switches.reserve(index(count));
  for (int digits = 0; digits < count; ++digits)
    switches.push_back(first_[index(level)] + hosts.front() / below_[index(level)] * count + digits);
  return switches;
}

std::unique_ptr<const ForwardingHash> FatTree::forwarding_hash() const
{
  return make_fat_tree_hash({down_, up_, parallel_, 0, std::string(aggregation_.name())});
}

std::string FatTree::switch_name(int index_of_switch) const
{
  const Node found = node(host_count() + index_of_switch);
  return numbered("level" + std::to_string(found.level), found.position, size(found.level));
}

namespace {

const std::vector<Option<FatTreeOptions>>& fat_tree_options()
{
  using M = FatTreeOptions;
  static const std::vector<Option<M>> ROWS{
      {"down", "one value per level, lowest first: hosts per level-1 switch, switches below each level-2 switch, ...",
       &M::down},
      {"up", "one value per level: switches per host, level-2 switches above each level-1 switch, ...", &M::up},
      {"cables", "one value per level: parallel cables to each parent", &M::cables, Need::otherwise("1 each")},
      {"hosts", "number of hosts, if fewer than the tree has room for: the last places stay empty", &M::hosts,
       Need::otherwise("all that the tree has room for")},
      link_aggregation_option<M>(),
  };
  return ROWS;
}

void check_length(const OptionTable& table, const std::string& key, const std::vector<int>& values,
                  const FatTreeOptions& options)
{
  if (values.size() != options.down.size())
    table.fail(key, "found " + std::to_string(values.size()) + " values; allowed: as many as in \"down\", which has " +
                        std::to_string(options.down.size()));
}

/** Checks the parameters level by level, so that no product overflows an int. */
void check_size(const OptionTable& table, const FatTreeOptions& options)
{
  double nodes = 1;
  for (const int children : options.down)
    nodes *= children;
  check_cable_count(table, "down", nodes);
  double cables = 0;
  for (std::size_t level = 0; level < options.down.size(); ++level) {
    cables += nodes * options.up[level] * options.cables[level];
    check_cable_count(table, "up", cables);
    nodes = nodes / options.down[level] * options.up[level];
  }
}

void check_hosts(const OptionTable& table, const FatTreeOptions& options)
{
  double places = 1;
  for (const int children : options.down)
    places *= children;
  if (options.hosts > places)
    table.fail("hosts", "found " + std::to_string(options.hosts) + "; allowed: at most " +
                            std::to_string(static_cast<std::int64_t>(places)) + ", for which \"down\" has room");
}

std::unique_ptr<Topology> build_fat_tree(const OptionTable& table)
{
  FatTreeOptions options;
  const std::set<std::string> given = read_options(table, fat_tree_options(), {"kind"}, options);
  require_options(table, fat_tree_options(), given);
  if (not given.contains("cables"))
    options.cables.assign(options.down.size(), 1);
  check_length(table, "up", options.up, options);
  check_length(table, "cables", options.cables, options);
  check_size(table, options);
  check_hosts(table, options);
  return std::make_unique<FatTree>(options);
}

} // namespace

TopologyKind fat_tree_kind()
{
  return {"fat_tree", "levels of switches with several parents each; up-down routing by destination (D-mod-k)",
          describe_options(fat_tree_options()), build_fat_tree};
}

} // namespace weft
