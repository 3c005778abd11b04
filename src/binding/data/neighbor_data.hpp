// SPDX-License-Identifier: LGPL-2.1-only
/* Data of a neighbourhood collective. As in MovedData, a block is copied as soon as both its ranks are in the call, and
 * a rank that leaves before a receiver enters leaves a copy behind. */
#pragma once

#include "binding/data/host_data.hpp"
#include "binding/data/neighborhood.hpp"

#include <memory>
#include <vector>

namespace weft {

/** Data of a neighbourhood collective, or of one on an intercommunicator. */
class NeighborData : public HostData {
  struct Member;
  std::shared_ptr<const Neighborhood> neighborhood_;
  std::vector<std::unique_ptr<Member>> members_; // by rank; null until it enters

  void keep(Member& member) const;

public:
  NeighborData(std::shared_ptr<const Neighborhood> neighborhood, int ranks);
  NeighborData(const NeighborData&)            = delete;
  NeighborData& operator=(const NeighborData&) = delete;
  ~NeighborData() override;

  /** Enters rank @p rank. If it @p blocks, its buffers remain unchanged until it leaves; otherwise only its receive
   * buffer does. */
  void come(int rank, const Sides& sides, bool blocks);
  /** Enters a rank with the given edges. */
  void come(int rank, Neighborhood::Edges received, Neighborhood::Edges sent, const Sides& sides, bool blocks);
  void leave(int rank) override;
};

} // namespace weft
