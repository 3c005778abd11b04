// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/libraries/shared_memory.hpp"

#include <algorithm>
#include <vector>

namespace weft {
namespace {

// MPICH: MPIR_CVAR_BCAST_INTRANODE_… and MPIR_CVAR_REDUCE_INTRANODE_… of release_gather.c.
constexpr int CELLS            = 4;             // …_NUM_CELLS of both buffers
constexpr int CELL             = 32768 / CELLS; // bytes: …_BUFFER_TOTAL_SIZE / …_NUM_CELLS
constexpr int BCAST_CELL       = CELL - 2 * 64; // two cache lines are reserved for error checking
constexpr int RELEASE_CHILDREN = 64;            // BCAST_INTRANODE_TREE_KVAL
constexpr int GATHER_CHILDREN  = 4;             // REDUCE_INTRANODE_TREE_KVAL
// Open MPI: coll_sm_component.c.
constexpr int FRAGMENT    = 8192; // coll_sm_fragment_size
constexpr int SET         = 4;    // fragments: comm_num_segments (8) / comm_in_use_flags
constexpr int SETS        = 2;    // comm_in_use_flags
constexpr int SM_CHILDREN = 4;    // tree_degree

/** Parent and children of a rank in a tree that is filled level by level. */
struct Tree {
  int parent = -1;
  std::vector<int> children;

  Tree(int ranks, int rank, int fan_out, int root = 0)
  {
    const int place = (rank - root + ranks) % ranks;
    const auto at   = [=](int its) { return (its + root) % ranks; };
    const int first = place * fan_out + 1;
    parent          = place > 0 ? at((place - 1) / fan_out) : -1;
    for (int child = first; child < std::min(ranks, first + fan_out); ++child)
      children.push_back(at(child));
  }
};

/** Vector in chunks of equal length, except the last. */
struct Chunks {
  Elements count;
  Elements length;
  Elements number;

  /** Splits between elements, or between bytes if one element is larger than @p most. */
  static Chunks of(Bytes vector, Bytes element, int most)
  {
    const Bytes unit  = element > Bytes() && element < Bytes(most) ? element : Bytes(1);
    const auto length = static_cast<Elements>(Bytes(most) / unit);
    const auto count  = static_cast<Elements>(vector / unit);
    return {count, length, (count + length - 1) / length};
  }
  Elements rest() const { return count - (number - 1) * length; }
};

Schedule gather(Tree tree, Bytes chunk)
{
  for (const int child : tree.children) {
    co_yield watch(child);
    if (chunk > Bytes())
      co_yield reduce(chunk);
  }
  if (tree.parent >= 0)
    co_yield raise(tree.parent);
}

Schedule release(Tree tree)
{
  if (tree.parent >= 0)
    co_yield watch(tree.parent);
  for (const int child : tree.children)
    co_yield raise(child);
}

Bytes unit_of(const HostCall& call, int most)
{
  return call.element > Bytes() && call.element < Bytes(most) ? call.element : Bytes(1);
}

} // namespace

Schedule barrier_release_gather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Tree tree(call.ranks, rank, RELEASE_CHILDREN);
  co_yield gather(tree, Bytes());
  co_yield release(tree);
}

// Rank 0 owns the buffer; any other root sends it each chunk. A flag in return frees one of the CELLS cells; flags that
// only the next call would wait for are omitted.
Schedule bcast_release_gather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Tree tree(call.ranks, rank, RELEASE_CHILDREN);
  const Chunks chunks = Chunks::of(call.bytes(call.count), Bytes(1), BCAST_CELL);
  for (Elements index = 0; index < chunks.number; ++index) {
    const Bytes chunk(static_cast<double>(index == 0 ? chunks.rest() : chunks.length));
    if (rank == call.root && rank != 0)
      co_yield send(0, chunk);
    if (rank == 0)
      co_yield call.root == 0 ? copy(chunk) : recv(call.root, chunk);
    co_yield release(tree);
    if (rank != call.root)
      co_yield copy(chunk);
    if (index >= CELLS - 1)
      for (const int child : tree.children)
        co_yield watch(child);
    if (tree.parent >= 0 && index + CELLS - 1 < chunks.number)
      co_yield raise(tree.parent);
  }
}

// Each rank copies a chunk into its own buffer, which its parent adds to its own; rank 0 ends with the sum.
Schedule reduce_release_gather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Tree tree(call.ranks, rank, GATHER_CHILDREN);
  const Bytes unit    = unit_of(call, CELL);
  const Chunks chunks = Chunks::of(call.bytes(call.count), unit, CELL);
  for (Elements index = 0; index < chunks.number; ++index) {
    const Bytes chunk = unit * static_cast<double>(index == 0 ? chunks.rest() : chunks.length);
    if (tree.parent >= 0 && index >= CELLS - 1)
      co_yield watch(tree.parent);
    if (index + CELLS - 1 < chunks.number)
      for (const int child : tree.children)
        co_yield raise(child);
    co_yield copy(chunk);
    co_yield gather(tree, chunk);
    if (call.root != 0 && rank == 0)
      co_yield send(call.root, chunk);
    if (call.root != 0 && rank == call.root)
      co_yield recv(0, chunk);
  }
}

Schedule allreduce_release_gather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Tree up(call.ranks, rank, GATHER_CHILDREN);
  const Tree down(call.ranks, rank, RELEASE_CHILDREN);
  const Bytes unit    = unit_of(call, CELL);
  const Chunks chunks = Chunks::of(call.bytes(call.count), unit, CELL);
  for (Elements index = 0; index < chunks.number; ++index) {
    const Bytes chunk = unit * static_cast<double>(index == 0 ? chunks.rest() : chunks.length);
    co_yield copy(chunk);
    co_yield gather(up, chunk);
    co_yield release(down);
    co_yield copy(chunk); // out of rank 0's buffer
  }
}

Schedule barrier_sm(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Tree tree(call.ranks, rank, SM_CHILDREN);
  co_yield gather(tree, Bytes());
  co_yield release(tree);
}

// A rank with children copies each fragment into its own buffer for them, and from there to its receive buffer. The
// root refills a set of fragments once all ranks have released it.
Schedule bcast_sm(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Tree tree(call.ranks, rank, SM_CHILDREN, call.root);
  const Chunks chunks = Chunks::of(call.bytes(call.count), Bytes(1), FRAGMENT);
  const Elements sets = (chunks.number + SET - 1) / SET;
  for (Elements index = 0; index < chunks.number; ++index) {
    const Elements set = index / SET;
    const Bytes chunk(static_cast<double>(index + 1 == chunks.number ? chunks.rest() : chunks.length));
    if (rank == call.root && index % SET == 0 && set >= SETS)
      for (int other = 0; other < call.ranks; ++other)
        if (other != rank)
          co_yield watch(other);
    if (tree.parent >= 0)
      co_yield watch(tree.parent);
    if (not tree.children.empty())
      co_yield copy(chunk);
    for (const int child : tree.children)
      co_yield raise(child);
    if (rank != call.root)
      co_yield copy(chunk);
    const bool set_ends = index % SET == SET - 1;
    if (rank != call.root && set_ends && set + SETS < sets)
      co_yield raise(call.root);
  }
}

// Only the root adds up, from the last rank to the first; the other ranks may fill a set of fragments once the root has
// begun it.
Schedule reduce_sm(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes unit    = unit_of(call, FRAGMENT);
  const Chunks chunks = Chunks::of(call.bytes(call.count), unit, FRAGMENT);
  const bool is_root  = rank == call.root;
  if (is_root && rank == call.ranks - 1)
    co_yield copy(call.bytes(call.count));
  for (Elements index = 0; index < chunks.number; ++index) {
    const Bytes chunk = unit * static_cast<double>(index + 1 == chunks.number ? chunks.rest() : chunks.length);
    if (index % SET == 0 && is_root)
      for (int other = 0; other < call.ranks; ++other)
        if (other != rank)
          co_yield raise(other);
    if (index % SET == 0 && not is_root)
      co_yield watch(call.root);
    if (not is_root) {
      co_yield copy(chunk);
      co_yield raise(call.root);
      continue;
    }
    for (int peer = call.ranks - 1; peer >= 0; --peer) {
      if (peer != rank)
        co_yield watch(peer);
      if (peer < call.ranks - 1)
        co_yield reduce(chunk);
      else if (peer != rank)
        co_yield copy(chunk);
    }
  }
}

Schedule allreduce_sm(const HostCall& call, int rank, Tuning tuning)
{
  HostCall from_zero = call;
  from_zero.root     = 0;
  co_yield reduce_sm(from_zero, rank, tuning);
  co_yield bcast_sm(from_zero, rank, tuning);
}

} // namespace weft
