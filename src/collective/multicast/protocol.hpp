// SPDX-License-Identifier: LGPL-2.1-only
/* The reliable Broadcast over unreliable multicast, and the Allgather made of it (Khalilov et al., SC '24, sections III
 * and IV).
 *
 * One MulticastProtocol is one call of all ranks: events in, actions out; it knows neither time nor data nor network.
 * Each root has a block, cut into chunks with sequence numbers.
 *
 *   barrier     recursive doubling: nobody multicasts before all have posted their receives
 *   multicast   the first root of each chain, then, activated by a message, the next one; a receiver marks what arrives
 *               in a bitmap, in any order, and takes every chunk once
 *   recovery    whoever still misses chunks when its cutoff timer expires asks its left neighbour for the blocks; that
 *               one acknowledges each as soon as it has all of it, having asked its own left neighbour where it must;
 *               then the missing chunks are read from it. A block's root has all of it, so this ends, in the worst case
 *               as a ring Allgather
 *   handshake   whoever has everything tells its left neighbour, and may go once its right one has told it: until then
 *               that one may still read from it
 *
 * What a rank knows of the multicast is its own clock and its bitmap. Its cutoff timer runs for the data's time on its
 * link and the slack alpha. If the bitmap has grown within the last alpha when it expires, because other traffic slows
 * the multicast or roots wait for their turns, it is set again, to expire after an alpha of silence. (The source has
 * the first part alone.) Then all that is missing is fetched, whether it got lost or is still to come; what comes after
 * all finds its bits set.
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

/** What the ranks tell each other beside the data. */
struct MulticastSignal {
  enum class Kind { barrier, activation, request, acknowledgement, final };
  Kind kind = Kind::barrier;
  int round = 0;           ///< of the barrier
  std::vector<int> blocks; ///< of requests and acknowledgements
};

/** Chunks of one block that are read from a neighbour. */
struct MulticastFetch {
  int block = 0;
  std::vector<ChunkRun> runs;
};

/** A root and what it multicasts. */
struct MulticastBlock {
  int root            = 0;
  std::int64_t chunks = 0; ///< one at least
};

struct MulticastShape {
  int ranks = 0;
  std::vector<MulticastBlock> blocks;   ///< at most one a root
  std::vector<std::vector<int>> chains; ///< of blocks; every block in one
};

/** What the protocol has others do. Their answers come later, never from within. */
class MulticastActions {
public:
  virtual ~MulticastActions() = default;

  /** Bring a signal to @p to: MulticastProtocol::signalled(). */
  virtual void send(int from, int to, const MulticastSignal& signal) = 0;
  /** Multicast a block: injected() when the root's last chunk has left it, arrived() for what comes to each rank. */
  virtual void multicast(int block) = 0;
  /** Whether chunks have come to @p rank within the last alpha. */
  virtual bool hears(int rank) const = 0;
  /** Set a rank's cutoff timer, for the time of so many chunks and alpha: expired(), unless it has come to another
   *  phase. */
  virtual void set_timer(int rank, std::int64_t chunks) = 0;
  /** Set it to expire an alpha after the last chunk that has come. */
  virtual void set_timer_after_silence(int rank) = 0;
  /** Put chunks where the rank wants them, out of the memory of rank @p from, which has them all. */
  virtual void store(int rank, int block, ChunkRun run, int from) = 0;
  /** Read chunks from a neighbour: fetched(). */
  virtual void fetch(int rank, int from, const std::vector<MulticastFetch>& what) = 0;
  /** A rank comes to a phase. */
  virtual void enters(int rank, MulticastPhase phase) = 0;
};

struct MulticastCounts {
  std::int64_t requests       = 0; ///< for blocks with missing chunks, from neighbour to neighbour
  std::int64_t fetched        = 0; ///< chunks
  std::int64_t timer_expiries = 0;
  std::int64_t duplicates     = 0; ///< chunks that came by multicast and were fetched as well

  void add(const MulticastCounts& other);
};

class MulticastProtocol {
  struct Rank {
    MulticastPhase phase = MulticastPhase::barrier;
    bool entered         = false;
    std::size_t step     = 0; // of the barrier
    bool sent            = false;
    std::set<int> heard; // rounds of the barrier
    std::vector<bool> complete;
    std::map<int, ChunkBitmap> partial; // blocks of which some chunks are there
    std::int64_t missing = 0;           // chunks
    std::int64_t due     = 0;           // chunks that have not come by multicast
    std::set<int> wanted;               // blocks, by the right neighbour, not yet acknowledged
    int block      = -1;                // its own
    bool activated = false;
    bool started   = false;
    bool injected  = false;
    bool final     = false; // of the right neighbour
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
  /** Chunks that have not come to a rank by multicast: lost, or still on their way. */
  std::int64_t due(int rank) const { return ranks_[static_cast<std::size_t>(rank)].due; }

  /** A rank makes the call. */
  void enter(int rank);
  void signalled(int rank, const MulticastSignal& signal);
  void injected(int block);
  void arrived(int rank, int block, ChunkRun run);
  void expired(int rank);
  void fetched(int rank, const std::vector<MulticastFetch>& what);
};

} // namespace weft
