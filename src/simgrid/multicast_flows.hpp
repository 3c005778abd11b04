// SPDX-License-Identifier: LGPL-2.1-only
/* What one call of the multicast protocol moves over links: messages between hosts, and blocks over the trees; and what
 * of those gets lost. */
#pragma once

#include "simgrid/flow_result.hpp"
#include "simgrid/multicast_call.hpp"
#include "simgrid/simulation.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weft {

/** Who hears what comes of blocks on their way. */
class MulticastListener {
public:
  virtual ~MulticastListener() = default;
  /** The last chunk has left the block's root. */
  virtual void block_left(int block) = 0;
  /** Chunks have come to a rank. */
  virtual void chunks_came(int rank, int block, ChunkRun run) = 0;
  /** What waits for a flow of the call: see OffloadedCall::arrival(). */
  virtual FlowEnd when_arrived(std::function<void()> next) = 0;
  /** @p action, in @p delay: at once where there is none. The call lives until then. */
  virtual void after(Seconds delay, std::function<void()> action) = 0;
  /** @p action, when all has happened that happens now. The call lives until then. */
  virtual void later(std::function<void()> action) = 0;
};

class MulticastFlows {
  /** Roots that start at the same time: one set of flows. */
  struct Departure {
    std::vector<int> blocks;
    MulticastPlan plan;
    std::size_t flows = 0; // that have not ended
    double start      = 0;
  };
  /** A block that is on its way, and what of it gets lost. */
  struct Flight {
    bool started   = false;
    bool in_flight = false;
    double landed  = 0;
    std::vector<std::vector<ChunkRun>> losses; // by rank; none where nothing is lost
  };
  Simulation& simulation_;
  const MulticastCall& call_;
  MulticastListener& listener_;
  std::vector<Flight> flights_;   // by block
  std::vector<int> last_started_; // block, by chain; -1: none
  std::vector<int> leaving_;      // blocks whose roots start now
  MulticastStatistics moved_;

  simgrid::s4u::Host* host(int rank) const { return call_.communicator->hosts[static_cast<std::size_t>(rank)]; }
  bool seen(int rank, int block) const;
  void depart();
  void take_off(int block);
  void has_left(const std::shared_ptr<Departure>& departure);
  void land(const Departure& departure);
  void land_at(int rank, int block);
  void add_events(const Departure& departure);

public:
  /** All must outlive it. */
  MulticastFlows(Simulation& simulation, const MulticastCall& call, MulticastListener& listener);

  /** A message as MPI sends them. */
  void message(int from, int to, Bytes payload, std::function<void()> arrived);
  /** Send a block off. Those that are sent at the same time are one set of flows. */
  void multicast(int block);
  /** Whether chunks of @p block are on their way to @p rank, or its root's turn has not come. */
  bool arriving(int rank, int block) const;
  /** What blocks have put on links, and lost. */
  const MulticastStatistics& moved() const { return moved_; }
};

} // namespace weft
