// SPDX-License-Identifier: LGPL-2.1-only
/* Use of the hosts' progress engines by the multicast calls of a run: memory that communicators hold, and workers that
 * poll for chunks. Fabrics without progress engines have no limits. */
#pragma once

#include "fabric/fabric.hpp"
#include "model/nic/engine_memory.hpp"

#include <cstdint>
#include <map>
#include <span>

namespace weft {

class EngineUse {
  const Fabric& fabric_;
  std::map<VertexId, EngineMemory> memories_;
  std::map<VertexId, int> receiving_;

public:
  /** @p fabric must outlive the object. */
  explicit EngineUse(const Fabric& fabric) : fabric_(fabric) {}

  /** Returns whether the engines have room for a call with receive buffers of @p chunks chunks. @p hosts: by rank of
   * @p communicator, which is identified by a number that is unique within the run. */
  bool has_memory(std::span<const VertexId> hosts, int communicator, std::int64_t chunks) const;
  void take_memory(std::span<const VertexId> hosts, int communicator, std::int64_t chunks);
  /** Frees all memory of a communicator. */
  void release_memory(int communicator);

  /** Adds to the workers of a host that poll for chunks; takes them away if @p workers is negative. */
  void add_receiving(VertexId host, int workers) { receiving_[host] += workers; }
  int receiving(VertexId host) const
  {
    const auto found = receiving_.find(host);
    return found == receiving_.end() ? 0 : found->second;
  }
};

} // namespace weft
