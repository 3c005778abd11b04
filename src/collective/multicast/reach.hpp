// SPDX-License-Identifier: LGPL-2.1-only
/* Reach of multicast blocks over links that fail.
 *
 * No switch repeats a multicast packet: of a block that crosses a link when it fails, the ranks behind the link get the
 * first part, which had crossed it, and later links of the tree carry only that part. The other branches are not
 * affected. A link that comes back carries nothing more of these blocks.
 *
 * Each flow of the plan must be of one link. The blocks on a link advance together: each has crossed it by the same
 * part, or as far as it reaches. */
#pragma once

#include "collective/multicast/plan.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace weft {

/** Returns how many chunks a part of them contains completely. */
std::int64_t whole_chunks(double part, std::int64_t chunks);

class BlockReach {
public:
  /** Block on a link, or its share of a tree. */
  struct Crossing {
    std::size_t root = 0;
    double wire      = 0; ///< bytes
    double part      = 1; ///< part of it that is sent over the link
  };
  /** Chunks of a root's block. */
  struct Loss {
    std::size_t root = 0;
    ChunkRun chunks;
  };
  /** Part of a flow that its link has carried. */
  using Progress = std::function<double(std::size_t flow)>;

  /** @p blocks: sizes by root. All arguments must outlive this object. */
  BlockReach(const MulticastModel& model, const MulticastPlan& plan, const std::vector<Bytes>& blocks, int trees);

  /** The link of @p flow fails once it has carried a part of the flow. */
  void stop(std::size_t flow, double carried);
  bool is_stopped(std::size_t flow) const { return stopped_[flow]; }
  bool any_stopped() const { return any_stopped_; }

  /** Returns the blocks that are sent over the link of @p flow, as far as those before it reach; with @p now, as far as
   * the links before it have carried them. */
  std::vector<Crossing> fed(std::size_t flow, const Progress& now = {}) const;
  /** Returns the part of a flow that its link carries in the end. */
  double total(std::size_t flow) const;
  /** Returns the number of chunks of the whole blocks that cross the link of @p flow. */
  std::int64_t chunks(std::size_t flow) const;
  /** Returns the chunks that the link of @p flow never carries. */
  std::vector<Loss> not_carried(std::size_t flow) const;
  /** Returns the chunks of these blocks that are not sent over the link of @p flow. */
  std::vector<Loss> not_fed(std::size_t flow, const std::vector<Crossing>& fed) const;

private:
  const MulticastModel& model_;
  const MulticastPlan& plan_;
  const std::vector<Bytes>& blocks_;
  int trees_;
  std::vector<double> stops_; // by flow: part of its blocks that had crossed its link when it failed; 1 otherwise
  std::vector<bool> stopped_; // by flow
  bool any_stopped_ = false;

  ChunkRun share(std::size_t root, int tree) const;
};

} // namespace weft
