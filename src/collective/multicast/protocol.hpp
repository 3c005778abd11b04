// SPDX-License-Identifier: LGPL-2.1-only
/* Protocol of the reliable Broadcast over unreliable multicast, and of the Allgather made of it (Khalilov et al., SC
 * '24, sections III and IV).
 *
 * A MulticastProtocol is one call of all ranks: events in, actions out, independent of time, data and network. Each
 * root has a block, divided into chunks with sequence numbers.
 *
 *   barrier     recursive doubling: no root multicasts before all ranks have posted their receives
 *   multicast   the first root of each chain, then the next one, activated by a message; receivers record chunks in a
 *               bitmap, in any order, and store each once
 *   recovery    a rank that misses chunks when its cutoff timer expires requests the blocks from its left neighbour,
 *               which acknowledges each block once it is complete there, after a recovery of its own if necessary; then
 *               the missing chunks are read from it. The root has its whole block, so that recovery terminates, in the
 *               worst case as a ring Allgather
 *   handshake   a complete rank notifies its left neighbour, and leaves once its right neighbour, which may still read
 *               from it, has notified it
 *
 * A rank knows of the multicast only its own clock and its bitmap. Its cutoff timer runs for the transfer time of the
 * data on its link plus the slack alpha. If a chunk has arrived within the last alpha when it expires, because other
 * traffic slows the multicast or roots wait for their turn, it is restarted, to expire after an alpha of silence. (The
 * paper has the first part only.) Then all missing chunks are fetched, lost or late; late chunks find their bits set.
 */
#pragma once

#include "collective/multicast/chunks.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace weft {

enum class MulticastPhase { barrier, multicast, recovery, handshake, over };

/** Control message between ranks. */
struct MulticastSignal {
  enum class Kind { barrier, activation, request, acknowledgement, final };
  Kind kind = Kind::barrier;
  int round = 0;           ///< round of the barrier
  std::vector<int> blocks; ///< blocks that are requested or acknowledged
};

/** Chunks of one block to read from a neighbour. */
struct MulticastFetch {
  int block = 0;
  std::vector<ChunkRun> runs;
};

/** Root and the number of chunks it multicasts. */
struct MulticastBlock {
  int root            = 0;
  std::int64_t chunks = 0; ///< at least one
};

struct MulticastShape {
  int ranks = 0;
  std::vector<MulticastBlock> blocks;   ///< at most one per root
  std::vector<std::vector<int>> chains; ///< blocks of each chain; every block is in one
};

/** Actions that the protocol requests. Their completion is reported later, never from within the call. */
class MulticastActions {
public:
  virtual ~MulticastActions() = default;

  /** Delivers a signal to @p to; then MulticastProtocol::signalled(). */
  virtual void send(int from, int to, const MulticastSignal& signal) = 0;
  /** Multicasts a block; injected() once the root's last chunk has left, arrived() for chunks at each rank. */
  virtual void multicast(int block) = 0;
  /** Returns true if chunks have arrived at @p rank within the last alpha. */
  virtual bool hears(int rank) const = 0;
  /** Starts a rank's cutoff timer for the transfer time of @p chunks plus alpha; then expired(), unless the rank has
   *  entered another phase. */
  virtual void set_timer(int rank, std::int64_t chunks) = 0;
  /** Restarts the timer to expire an alpha after the last arrival. */
  virtual void set_timer_after_silence(int rank) = 0;
  /** Copies chunks to the rank's buffer from the memory of rank @p from, which has all of them. */
  virtual void store(int rank, int block, ChunkRun run, int from) = 0;
  /** Reads chunks from a neighbour; then fetched(). */
  virtual void fetch(int rank, int from, const std::vector<MulticastFetch>& what) = 0;
  /** Reports that a rank enters a phase. */
  virtual void enters(int rank, MulticastPhase phase) = 0;
};

struct MulticastCounts {
  std::int64_t requests       = 0; ///< block requests to neighbours
  std::int64_t fetched        = 0; ///< chunks
  std::int64_t timer_expiries = 0;
  std::int64_t duplicates     = 0; ///< chunks received by multicast and fetched as well

  void add(const MulticastCounts& other);
};

class MulticastProtocol {
  struct Rank {
    MulticastPhase phase = MulticastPhase::barrier;
    bool entered         = false;
    std::size_t step     = 0; // step of the barrier
    bool sent            = false;
    std::set<int> heard; // rounds of the barrier
    std::vector<bool> complete;
    std::map<int, ChunkBitmap> partial; // incomplete blocks
    std::int64_t missing = 0;           // chunks
    std::int64_t due     = 0;           // chunks not received by multicast
    std::set<int> wanted;               // blocks requested by the right neighbour, not yet acknowledged
    int block      = -1;                // its own block
    bool activated = false;
    bool started   = false;
    bool injected  = false;
    bool final     = false; // received from the right neighbour
    MulticastCounts counts;
  };
  const MulticastShape shape_;
  MulticastActions& actions_;
  std::vector<Rank> ranks_;
  std::vector<int> next_in_chain_; // by block; -1: none
  int over_ = 0;

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  int left(int rank) const { return (rank + shape_.ranks - 1) % shape_.ranks; }
  void enter_phase(int rank, MulticastPhase phase);
  void go_on_with_barrier(int rank);
  void start_if_it_is_its_turn(int rank);
  void add(int rank, int block, ChunkRun run, int from);
  std::vector<ChunkRun> missing(int rank, int block) const;
  void complete(int rank, int block);
  void acknowledge(int rank, const std::vector<int>& blocks);
  void read(int rank, const std::vector<int>& blocks);
  void finish_if_all_is_there(int rank);
  void leave_if_done(int rank);

public:
  MulticastProtocol(MulticastShape shape, MulticastActions& actions);

  const MulticastShape& shape() const { return shape_; }
  const MulticastCounts& counts(int rank) const { return ranks_[static_cast<std::size_t>(rank)].counts; }
  bool all_over() const { return over_ == shape_.ranks; }
  /** Returns the number of chunks that a rank has not received by multicast: lost or in flight. */
  std::int64_t due(int rank) const { return ranks_[static_cast<std::size_t>(rank)].due; }

  /** Enters the call of a rank. */
  void enter(int rank);
  void signalled(int rank, const MulticastSignal& signal);
  void injected(int block);
  void arrived(int rank, int block, ChunkRun run);
  void expired(int rank);
  void fetched(int rank, const std::vector<MulticastFetch>& what);
};

} // namespace weft
