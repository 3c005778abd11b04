// SPDX-License-Identifier: LGPL-2.1-only
/* Data of calls that the hosts execute.
 *
 * SMPI's algorithms only time these calls. They often corrupt the data: with types whose elements have gaps, negative
 * lower bounds or absolute addresses, with blocks out of order, and with operations that do not commute. weft therefore
 * moves the data itself, and SMPI's algorithm runs on scratch memory of the same size that is never read. Only
 * reductions of predefined types by predefined operations are left to SMPI, with its rounding.
 *
 * A block is copied from the send buffer to the receive buffer as soon as both ranks are in the call: no rank may read
 * its buffers before its call ends, and the call ends only after the messages of all its senders have arrived. A rank
 * that leaves before a receiver enters leaves a copy behind. If every rank receives from every other, none can leave
 * before all have entered; all blocks are then copied at once, in a cache-friendly order. */
#pragma once

#include "binding/data/elements.hpp"
#include "binding/data/exchange.hpp"
#include "binding/data/sides.hpp"

#include <simgrid/s4u/Semaphore.hpp>
#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class HostData {
public:
  virtual ~HostData() = default;
  /** Ends rank @p rank's part in the call. */
  virtual void leave(int rank) = 0;
};

/** Data of calls without a reduction. */
class MovedData : public HostData {
  struct Member;
  std::vector<std::unique_ptr<Member>> members_; // by rank; null until it enters
  int come_     = 0;
  int with_all_ = 0; // ranks that exchange blocks with every rank

  void move(int from, int to);
  /** Copies the blocks between the ranks that exchange with all ranks. */
  void move_all();
  bool move_equal_blocks();
  /** Copies a rank's data for ranks that have not entered, since its buffer may change. */
  void keep(int rank);

public:
  explicit MovedData(int ranks);
  MovedData(const MovedData&)            = delete;
  MovedData& operator=(const MovedData&) = delete;
  ~MovedData() override;
  /** Enters rank @p rank. If it @p blocks, its buffers remain unchanged until it leaves; otherwise only its receive
   * buffer does. */
  void come(int rank, const Sides& sides, bool blocks);
  void leave(int rank) override;
};

/** Data of reductions, combined in rank order. */
class ReducedData : public HostData {
  std::unique_ptr<Exchange> exchange_;
  ExchangeShape shape_;
  bool all_get_ = true; // every rank gets a result, so none leaves before all have entered
  int come_     = 0;
  int waiting_  = 0;                    // ranks that SMPI's algorithm releases before all have entered
  simgrid::s4u::SemaphorePtr all_come_; // created when a rank must wait

  bool gets(int rank) const;

public:
  explicit ReducedData(const ExchangeShape& shape);
  void come(int rank, const RankBuffers& buffers, MPI_Op operation, bool blocks);
  /** Delivers the result. Some SMPI algorithms release a rank before its result exists; the rank then waits for the
   * last rank to enter. */
  void leave(int rank) override;
};

/** Data of MPI_Scan and MPI_Exscan. */
class PrefixData : public HostData {
  struct Rank {
    bool come = false;
    Values sum;             ///< its contribution, later combined with those of all preceding ranks
    MPI_Aint beginning = 0; ///< offset of the first byte from its elements' address
    void* receive      = nullptr;
  };
  std::vector<Rank> ranks_;
  std::size_t next_ = 0; ///< first rank whose sum is incomplete
  bool exclusive_;
  bool data_ = true;

public:
  PrefixData(int ranks, bool exclusive);
  void come(int rank, const RankBuffers& buffers, MPI_Op operation);
  void leave(int) override {}
};

/** Returns whether weft must compute a reduction itself. All ranks get the same answer, because MPI's predefined
 * operations apply only to predefined types. */
bool needs_own_data(MPI_Datatype type, MPI_Op operation);

/** Buffer argument for SMPI's algorithm: scratch memory that all calls share and that is never read. */
struct PlaceholderBuffer {
  void* memory      = nullptr;
  int count         = 0;
  MPI_Datatype type = MPI_BYTE;
};
/** Returns a placeholder for @p blocks times @p count elements, as bytes: all ranks of a call must pass the same type,
 * since some algorithms split messages by elements. */
PlaceholderBuffer placeholder(int count, MPI_Datatype type, int blocks = 1);
/** Placeholder for a reduction, with a type and operation that SMPI's algorithms can handle. */
struct ReductionStandIn : PlaceholderBuffer {
  MPI_Op operation = MPI_OP_NULL;
};
ReductionStandIn placeholder(int count, MPI_Datatype type, MPI_Op operation);

/** Placeholder for contiguous blocks of different sizes. */
struct PlaceholderBuffers : PlaceholderBuffer {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<MPI_Datatype> types;
};
PlaceholderBuffers placeholders(const int* counts, MPI_Datatype type, int ranks);
/** Returns a placeholder for blocks of different types, as bytes. */
PlaceholderBuffers placeholders(const int* counts, const MPI_Datatype* types, int ranks);

} // namespace weft
