// SPDX-License-Identifier: LGPL-2.1-only
/* Surroundings of multicast calls: time and network, engines of the hosts, faults; and who has made the call. */
#pragma once

#include "collective/in_network/call_carrier.hpp"
#include "collective/multicast/chunks.hpp"
#include "collective/multicast/execution/engine_use.hpp"
#include "fabric/fabric_state.hpp"
#include "faults/call_recovery.hpp"

#include <functional>
#include <memory>

namespace weft {

/** All referents outlive the calls. */
struct MulticastService {
  CallCarrier& carrier;
  const Fabric& fabric;
  const FabricState& state; ///< routes of the roots' blocks
  EngineUse& engines;
  CallRecovery* recovery; ///< null in runs without faults
};

/** Ranks of a multicast call: their cores, their data, and whoever counts traffic. */
class MulticastOwner {
public:
  MulticastOwner()                                 = default;
  MulticastOwner(const MulticastOwner&)            = delete;
  MulticastOwner& operator=(const MulticastOwner&) = delete;
  virtual ~MulticastOwner()                        = default;

  /** Returns the time that a rank's core needs for @p work that starts now, with OS noise. */
  virtual Seconds with_os_noise(int rank, Seconds work) = 0;
  /** Copies chunks to the buffer of @p rank from the memory of rank @p from, which has all of them. */
  virtual void store(int rank, int block, ChunkRun run, int from) = 0;
  /** Counts payload that starts to cross a link, without headers. */
  virtual void count_on_link(LinkId link, Bytes payload) = 0;
  /** The switches of all trees have forwarded blocks of this size, whose roots started together at @p start. */
  virtual void forwarded(Bytes blocks, Seconds start) = 0;
  /** Returns the callback of a flow's end: it runs @p next if the flow has arrived, and keeps the owner until then. */
  virtual FlowEnd when_arrived(std::function<void()> next) = 0;
  /** Returns a reference that keeps the owner. */
  virtual std::shared_ptr<void> keep() = 0;
  /** A rank has left the call. */
  virtual void rank_ended(int rank) = 0;
};

} // namespace weft
