// SPDX-License-Identifier: LGPL-2.1-only
/* Equal-cost next hops among which switches choose for each packet, without those that routing knows to lead nowhere.
 *
 * Hops are taken in turn for each link by which packets come in. So each input spreads its packets evenly, and n inputs
 * of a non-blocking switch with n outputs load each output no more than its rate. In trees of three levels, inputs that
 * take turns may load one output at the same time, which random hops avoid. */
#pragma once

#include "fabric/fabric.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace weft {

class LoadBalancer {
  const Topology& topology_;
  const bool random_;
  const std::uint32_t seed_;
  std::vector<std::uint32_t> turns_;                // by incoming link
  std::vector<bool> down_;                          // by link, as routing knows; empty: all are up
  std::unordered_map<std::uint64_t, bool> reaches_; // by vertex and destination, if links are down
  std::vector<Hop> hops_;                           // reused to avoid allocations

public:
  /** @p fabric must outlive the balancer. */
  explicit LoadBalancer(const Fabric& fabric);

  /** Sets the links that are down as far as routing knows. */
  void set_down(std::vector<bool> down);
  /** Returns whether an equal-cost route leads from @p at to host @p to. */
  bool reaches(VertexId at, VertexId to);
  /** Returns the number of links from @p at to host @p to. */
  int distance(VertexId at, VertexId to) const;
  /** Returns the next hops from @p at to host @p to, which are valid until the next call; empty if there are none. */
  std::span<const Hop> next_hops(VertexId at, VertexId to);
  /** Returns the index of the hop whose turn it is, or of a random one, among @p count ones, for packets that have come
   * over @p link. */
  std::size_t turn(LinkId link, std::size_t count)
  {
    const std::uint32_t turn = turns_[static_cast<std::size_t>(link)]++;
    return random_ ? draw(link, turn, count) : turn % count;
  }

private:
  std::size_t draw(LinkId link, std::uint32_t turn, std::size_t count) const;
};

} // namespace weft
