// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/analysis/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace weft {
namespace {

/** Maximum flow by Dinic's algorithm (Y. Dinitz, 1970), in whole bytes per second. */
class MaximumFlow {
  struct Edge {
    int to;
    std::int64_t left;
  };
  std::vector<Edge> edges_; // an edge and its reverse are adjacent
  std::vector<std::vector<int>> out_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;

  bool find_levels(int from, int to)
  {
    std::ranges::fill(level_, -1);
    level_[at(from)] = 0;
    std::vector<int> reached{from};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const int edge : out_[at(reached[i])])
        if (const Edge& one = edges_[at(edge)]; one.left > 0 && level_[at(one.to)] < 0) {
          level_[at(one.to)] = level_[at(reached[i])] + 1;
          reached.push_back(one.to);
        }
    return level_[at(to)] >= 0;
  }

  /** Sends flow along one path of the level graph; returns 0 if there is none. Paths are short, so recursion is
   * shallow. */
  std::int64_t push(int from, int to, std::int64_t most) // NOLINT(misc-no-recursion)
  {
    if (from == to)
      return most;
    for (std::size_t& i = next_[at(from)]; i < out_[at(from)].size(); ++i) {
      const int edge = out_[at(from)][i];
      Edge& one      = edges_[at(edge)];
      if (one.left == 0 || level_[at(one.to)] != level_[at(from)] + 1)
        continue;
      if (const std::int64_t sent = push(one.to, to, std::min(most, one.left)); sent > 0) {
        one.left -= sent;
        edges_[at(edge % 2 == 0 ? edge + 1 : edge - 1)].left += sent;
        return sent;
      }
    }
    return 0;
  }

  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

public:
  static constexpr std::int64_t UNLIMITED = std::numeric_limits<std::int64_t>::max() / 4;

  explicit MaximumFlow(int vertices) : out_(at(vertices)), level_(at(vertices)), next_(at(vertices)) {}

  void add(int from, int to, std::int64_t capacity)
  {
    out_[at(from)].push_back(static_cast<int>(edges_.size()));
    edges_.push_back({to, capacity});
    out_[at(to)].push_back(static_cast<int>(edges_.size()));
    edges_.push_back({from, 0});
  }

  std::int64_t between(int from, int to)
  {
    std::int64_t all = 0;
    while (find_levels(from, to)) {
      std::ranges::fill(next_, std::size_t{0});
      while (const std::int64_t sent = push(from, to, UNLIMITED))
        all += sent;
    }
    return all;
  }
};

} // namespace

BytesPerSecond bisection_bandwidth(const Fabric& fabric)
{
  const int hosts = fabric.host_count();
  if (hosts < 2)
    throw std::logic_error("the bisection of a single host");
  const int vertices = hosts + fabric.switch_count();
  const int from     = vertices;
  const int to       = vertices + 1;
  MaximumFlow flow(vertices + 2);
  for (const Link& link : fabric.links())
    flow.add(link.from, link.to, std::llround(link.bandwidth.value()));
  for (int host = 0; host < hosts / 2; ++host)
    flow.add(from, host, MaximumFlow::UNLIMITED);
  for (int host = hosts / 2; host < hosts; ++host)
    flow.add(host, to, MaximumFlow::UNLIMITED);
  return BytesPerSecond(static_cast<double>(flow.between(from, to)));
}

BytesPerSecond bisection_per_host(const Fabric& fabric)
{
  const int in_half = fabric.host_count() / 2;
  return bisection_bandwidth(fabric) / in_half;
}

} // namespace weft
