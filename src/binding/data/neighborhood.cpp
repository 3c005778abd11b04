// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/neighborhood.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace weft {
namespace {

class CartesianNeighborhood : public Neighborhood {
  std::vector<int> sizes_;
  std::vector<bool> periodic_;

  Edges edges(int rank) const
  {
    Edges all(2 * sizes_.size());
    int stride = 1;
    for (std::size_t dimension = sizes_.size(); dimension-- > 0;) {
      const int size     = sizes_[dimension];
      const int position = rank / stride % size;
      const auto move    = [&](int step) {
        const int to = position + step;
        if (not periodic_[dimension] && (to < 0 || to >= size))
          return -1;
        return rank + ((to + size) % size - position) * stride;
      };
      const auto place       = static_cast<int>(2 * dimension);
      all[2 * dimension]     = {move(-1), place + 1};
      all[2 * dimension + 1] = {move(1), place};
      stride *= size;
    }
    return all;
  }

public:
  CartesianNeighborhood(std::vector<int> sizes, std::vector<bool> periodic)
      : sizes_(std::move(sizes)), periodic_(std::move(periodic))
  {
  }
  Edges received(int rank) const override { return edges(rank); }
  Edges sent(int rank) const override { return edges(rank); }
  bool cartesian() const override { return true; }
};

class GraphNeighborhood : public Neighborhood {
  std::vector<Edges> received_; // by rank
  std::vector<Edges> sent_;     // by rank
  bool undirected_;

  static std::vector<Edges> edges_to(const std::vector<std::vector<int>>& peers)
  {
    std::vector<Edges> all(peers.size());
    for (std::size_t rank = 0; rank < peers.size(); ++rank)
      for (const int peer : peers[rank])
        all[rank].push_back({peer});
    return all;
  }

  /** Returns the indices of each rank's edges, ordered by peer. */
  static std::vector<std::vector<std::size_t>> by_peer(const std::vector<Edges>& edges)
  {
    std::vector<std::vector<std::size_t>> all(edges.size());
    for (std::size_t rank = 0; rank < edges.size(); ++rank) {
      all[rank].resize(edges[rank].size());
      std::iota(all[rank].begin(), all[rank].end(), std::size_t{0});
      std::ranges::stable_sort(all[rank], {}, [&](std::size_t place) { return edges[rank][place].peer; });
    }
    return all;
  }

  /** Finds the index of each edge at its peer. Receivers' edges are ordered by sender, so the next edge of each is
   * found without a search. */
  void pair_up()
  {
    const auto senders   = by_peer(received_);
    const auto receivers = by_peer(sent_);
    std::vector<std::size_t> next(received_.size());
    for (std::size_t rank = 0; rank < sent_.size(); ++rank)
      for (const std::size_t place : receivers[rank]) {
        NeighborEdge& edge = sent_[rank][place];
        const auto to      = static_cast<std::size_t>(edge.peer);
        auto& at           = next[to];
        const auto& order  = senders[to];
        while (at < order.size() && std::cmp_less(received_[to][order[at]].peer, rank))
          ++at;
        if (at == order.size() || not std::cmp_equal(received_[to][order[at]].peer, rank))
          continue;
        edge.place                     = static_cast<int>(order[at]);
        received_[to][order[at]].place = static_cast<int>(place);
        ++at;
      }
  }

public:
  GraphNeighborhood(const std::vector<std::vector<int>>& sources, const std::vector<std::vector<int>>& destinations,
                    bool undirected)
      : received_(edges_to(sources)), sent_(edges_to(destinations)), undirected_(undirected)
  {
    pair_up();
  }
  Edges received(int rank) const override { return received_[static_cast<std::size_t>(rank)]; }
  Edges sent(int rank) const override { return sent_[static_cast<std::size_t>(rank)]; }
  bool undirected() const override { return undirected_; }
};

} // namespace

std::shared_ptr<const Neighborhood> cartesian_neighborhood(std::vector<int> sizes, std::vector<bool> periodic)
{
  return std::make_shared<CartesianNeighborhood>(std::move(sizes), std::move(periodic));
}

std::shared_ptr<const Neighborhood> graph_neighborhood(const std::vector<std::vector<int>>& sources,
                                                       const std::vector<std::vector<int>>& destinations,
                                                       bool undirected)
{
  return std::make_shared<GraphNeighborhood>(sources, destinations, undirected);
}

} // namespace weft
