// SPDX-License-Identifier: LGPL-2.1-only
/* The data of calls that the hosts execute.
 *
 * SMPI's algorithms are there for the time that a call takes. What they do to data is often wrong: with types whose
 * elements have gaps, bounds below zero or addresses of their own, with blocks out of order, with operations that do
 * not commute. So weft moves the data of these calls itself, and SMPI's algorithm runs on memory that nobody looks at,
 * with as many bytes. Only reductions of MPI's own types by MPI's own operations are left to it, with their rounding.
 *
 * A block goes from one rank's buffer to the other's as soon as both are in the call: no rank may look at its buffers
 * before its call ends, and it ends only when it has heard from all that give it something. A rank that leaves before
 * another comes leaves a copy. Where every rank gets something from every other, so that none can leave before all have
 * come, all blocks move then, in an order that memory likes.
 */
#pragma once

#include "binding/data/elements.hpp"
#include "binding/data/exchange.hpp"

#include <simgrid/s4u/Semaphore.hpp>
#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

/** What one rank gives in a call, or what it gets. */
struct Side {
  enum class Peers {
    none,
    one,  ///< the rank that is named
    same, ///< all: each is given the same block
    each  ///< all: each has a block of its own
  };
  Peers peers               = Peers::none;
  int peer                  = -1; ///< of one
  void* buffer              = nullptr;
  int count                 = 0; ///< of a block, where there are no counts
  MPI_Datatype type         = MPI_DATATYPE_NULL;
  const int* counts         = nullptr; ///< by rank
  const int* displacements  = nullptr; ///< by rank, in extents of the type; in bytes where there are types
  const MPI_Datatype* types = nullptr; ///< by rank
};

/** What a rank brings to a call that only moves data. */
struct Sides {
  Side gives;
  Side gets;
  bool in_place = false; ///< what the rank would give itself is in its place already
};

class HostData {
public:
  virtual ~HostData() = default;
  /** Rank @p rank's part of the call has ended. */
  virtual void leave(int rank) = 0;
};

/** Calls that only move data. */
class MovedData : public HostData {
  struct Member;
  std::vector<std::unique_ptr<Member>> members_; // by rank; none before they come
  int come_     = 0;
  int with_all_ = 0; // ranks that get something from every rank, and give something to each

  void move(int from, int to);
  /** Between all that exchange with all. */
  void move_all();
  bool move_equal_blocks();
  /** What a rank gives is kept for those who have not come: its buffer may change. */
  void keep(int rank);

public:
  explicit MovedData(int ranks);
  MovedData(const MovedData&)            = delete;
  MovedData& operator=(const MovedData&) = delete;
  ~MovedData() override;
  /** Rank @p rank comes. Where @p blocks, its buffers stay as they are until it leaves; else only what it gets. */
  void come(int rank, const Sides& sides, bool blocks);
  void leave(int rank) override;
};

/** Reductions: everybody's result in the order of ranks. */
class ReducedData : public HostData {
  std::unique_ptr<Exchange> exchange_;
  ExchangeShape shape_;
  bool all_get_ = true; // so that none leaves before all have come
  int come_     = 0;
  int waiting_  = 0;                    // ranks that SMPI's algorithm lets go before all have come
  simgrid::s4u::SemaphorePtr all_come_; // where there are such

  bool gets(int rank) const;

public:
  explicit ReducedData(const ExchangeShape& shape);
  void come(int rank, const RankBuffers& buffers, MPI_Op operation, bool blocks);
  /** Some of SMPI's algorithms let a rank go before it can have its result: it waits for the last to come. */
  void leave(int rank) override;
};

/** MPI_Scan and MPI_Exscan. */
class PrefixData : public HostData {
  struct Rank {
    bool come = false;
    Values sum;             ///< what it gives, and then with all before
    MPI_Aint beginning = 0; ///< of its elements, from their address
    void* receive      = nullptr;
  };
  std::vector<Rank> ranks_;
  std::size_t next_ = 0; ///< the first whose sum is not there yet
  bool exclusive_;
  bool data_ = true;

public:
  PrefixData(int ranks, bool exclusive);
  void come(int rank, const RankBuffers& buffers, MPI_Op operation);
  void leave(int) override {}
};

/** Whether weft has to work out a reduction itself. The same at all ranks: MPI has its own operations only for its own
 *  types. */
bool needs_own_data(MPI_Datatype type, MPI_Op operation);

/** What an algorithm of SMPI's gets in the place of a buffer: memory that all calls share and nobody reads. */
struct StandIn {
  void* memory      = nullptr;
  int count         = 0;
  MPI_Datatype type = MPI_BYTE;
};
/** For @p blocks times @p count elements, as bytes: all ranks of a call must have the same type, since some algorithms
 *  cut messages in two by their elements. */
StandIn stand_in(int count, MPI_Datatype type, int blocks = 1);
/** For a reduction; its type and operation are such as SMPI's algorithms can deal with. */
struct ReductionStandIn : StandIn {
  MPI_Op operation = MPI_OP_NULL;
};
ReductionStandIn stand_in(int count, MPI_Datatype type, MPI_Op operation);

/** For blocks of different sizes: one after the other. */
struct StandIns : StandIn {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<MPI_Datatype> types;
};
StandIns stand_ins(const int* counts, MPI_Datatype type, int ranks);
/** For blocks of different types, as bytes. */
StandIns stand_ins(const int* counts, const MPI_Datatype* types, int ranks);

} // namespace weft
