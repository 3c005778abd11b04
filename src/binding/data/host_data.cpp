// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/host_data.hpp"

#include "binding/abi/smpi/operations.hpp"
#include "binding/data/blocks.hpp"
#include "binding/data/elements.hpp"
#include "binding/data/handles.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weft {
namespace {

/** Returns scratch memory, which is never freed, because data in flight may point to it. From a size of 1 MiB it is a
 * shared allocation: one MiB mapped repeatedly, which SMPI does not copy from or to. */
void* scratch(std::size_t bytes)
{
  constexpr std::size_t SHARED = std::size_t{1} << 20U;
  static std::size_t size      = 0;
  static void* memory          = nullptr;
  if (bytes > size) {
    size   = std::max({bytes, 2 * size, std::size_t{4096}});
    memory = size < SHARED ? std::calloc(size, 1) : smpi_shared_malloc(size, __FILE__, __LINE__);
    if (not memory)
      throw std::bad_alloc();
  }
  return memory;
}

/** Operation for placeholders: has no effect, but cannot be optimized away. */
void reduce_nothing(void*, void*, int*, MPI_Datatype*) {}

MPI_Op ordered_nothing()
{
  static MPI_Op operation = MPI_OP_NULL;
  if (operation == MPI_OP_NULL)
    PMPI_Op_create(&reduce_nothing, 0, &operation);
  return operation;
}

bool fits_an_int(std::size_t number)
{
  return number <= static_cast<std::size_t>(std::numeric_limits<int>::max());
}

} // namespace

struct MovedData::Member {
  KeptSide gives;
  KeptSide gets;
  bool in_place;
  bool with_all = false;                // true if its call ends only after all have entered; its blocks are copied then
  std::vector<std::byte> packed;        // contribution, if its buffer may have changed
  std::vector<std::size_t> begins = {}; // offset of each block in packed; empty: the buffer is unchanged

  Member(const Sides& sides, int ranks, bool blocks)
      : gives(sides.gives, ranks, false), gets(sides.gets, ranks, not blocks), in_place(sides.in_place)
  {
  }

  /** Returns whether the rank sends equal-sized blocks to all ranks and receives one from each. */
  bool exchanges_with_all() const
  {
    return (gives.side.peers == Side::Peers::same || gives.side.peers == Side::Peers::each) &&
           gets.side.peers == Side::Peers::each && not gives.side.counts && not gets.side.counts &&
           block_of(gives.side, 0).bytes() > 0 && block_of(gets.side, 0).bytes() > 0;
  }

  bool gives_to(int rank) const
  {
    const Side& side = gives.side;
    return side.peers == Side::Peers::one ? side.peer == rank : side.peers != Side::Peers::none;
  }

  bool gets_from(int rank) const
  {
    const Side& side = gets.side;
    return side.peers == Side::Peers::one ? side.peer == rank : side.peers != Side::Peers::none;
  }

  void keep(int ranks)
  {
    const bool each  = gives.side.peers == Side::Peers::each;
    const int blocks = each ? ranks : 1;
    begins.assign(1, 0);
    for (int rank = 0; rank < blocks; ++rank)
      begins.push_back(begins.back() + block_of(gives.side, rank).bytes());
    packed.resize(begins.back());
    for (int rank = 0; rank < blocks; ++rank) {
      const Block block = block_of(gives.side, rank);
      pack(block.start, block.count, block.type, packed.data() + begins[static_cast<std::size_t>(rank)]);
    }
  }

  Block for_rank(int rank)
  {
    if (begins.empty())
      return block_of(gives.side, rank);
    const std::size_t at    = gives.side.peers == Side::Peers::each ? static_cast<std::size_t>(rank) : 0;
    const std::size_t bytes = begins[at + 1] - begins[at];
    return {packed.data() + begins[at], static_cast<int>(bytes), MPI_BYTE};
  }
};

MovedData::MovedData(int ranks) : members_(static_cast<std::size_t>(ranks)) {}

MovedData::~MovedData() = default;

void MovedData::move(int from, int to)
{
  Member& giver       = *members_[static_cast<std::size_t>(from)];
  const Member& taker = *members_[static_cast<std::size_t>(to)];
  if (not giver.gives_to(to) || not taker.gets_from(from) || (from == to && taker.in_place))
    return;
  copy(giver.for_rank(to), block_of(taker.gets.side, from));
}

/** Copies all blocks in tiles of ranks, so that the data read and written stays in the cache.
 * @return false, without copying, if blocks differ in size or have gaps */
bool MovedData::move_equal_blocks()
{
  constexpr std::size_t SQUARE = 128; // tile size in ranks
  const std::size_t ranks      = members_.size();
  const std::size_t bytes      = block_of(members_.front()->gets.side, 0).bytes();
  for (const auto& member : members_)
    for (const Side* side : {&member->gives.side, &member->gets.side})
      if (const Block block = block_of(*side, 0); not is_plain(block.type) || block.bytes() != bytes)
        return false;
  for (std::size_t from_square = 0; from_square < ranks; from_square += SQUARE)
    for (std::size_t to_square = 0; to_square < ranks; to_square += SQUARE)
      for (std::size_t to = to_square; to < std::min(ranks, to_square + SQUARE); ++to) {
        const Member& taker    = *members_[to];
        std::byte* const taken = block_of(taker.gets.side, 0).start;
        for (std::size_t from = from_square; from < std::min(ranks, from_square + SQUARE); ++from) {
          if (from == to && taker.in_place)
            continue;
          const Side& gives            = members_[from]->gives.side;
          const std::size_t number     = gives.peers == Side::Peers::each ? to : 0;
          const std::byte* const given = static_cast<const std::byte*>(gives.buffer) + number * bytes;
          if (taken + from * bytes != given)
            std::memcpy(taken + from * bytes, given, bytes);
        }
      }
  return true;
}

void MovedData::move_all()
{
  if (std::cmp_equal(with_all_, members_.size()) && move_equal_blocks())
    return;
  const int ranks = static_cast<int>(members_.size());
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks && members_[static_cast<std::size_t>(from)]->with_all; ++to)
      if (members_[static_cast<std::size_t>(to)]->with_all)
        move(from, to);
}

void MovedData::come(int rank, const Sides& sides, bool blocks)
{
  const int ranks  = static_cast<int>(members_.size());
  auto& member     = members_[static_cast<std::size_t>(rank)];
  member           = std::make_unique<Member>(sides, ranks, blocks);
  const auto other = [&](const Side& side, const auto& visit) {
    for (int peer = 0; peer < ranks && side.peers != Side::Peers::none; ++peer) {
      if (side.peers == Side::Peers::one)
        peer = side.peer;
      if (const auto& its = members_[static_cast<std::size_t>(peer)]; its && not(its->with_all && member->with_all))
        visit(peer);
      if (side.peers == Side::Peers::one)
        return;
    }
  };
  if (weft::is_shared(sides.gives.buffer) || weft::is_shared(sides.gets.buffer)) {
    member->gives.side.peers = Side::Peers::none;
    member->gets.side.peers  = Side::Peers::none;
  }
  member->with_all = blocks && member->exchanges_with_all();
  with_all_ += member->with_all;
  if (with_all_ < ++come_) { // otherwise all ranks that have entered wait for move_all()
    other(member->gets.side, [&](int peer) { move(peer, rank); });
    other(member->gives.side, [&](int peer) {
      if (peer != rank)
        move(rank, peer);
    });
  }
  if (come_ == ranks && with_all_ > 0)
    move_all();
  if (not blocks)
    keep(rank);
}

// The rank has received all non-empty blocks.
void MovedData::leave(int rank)
{
  members_[static_cast<std::size_t>(rank)]->gets.side.peers = Side::Peers::none;
  keep(rank);
}

void MovedData::keep(int rank)
{
  Member& member         = *members_[static_cast<std::size_t>(rank)];
  const Side& side       = member.gives.side;
  const bool one         = side.peers == Side::Peers::one;
  const bool none_to_get = std::cmp_equal(come_, members_.size()) || side.peers == Side::Peers::none ||
                           (one && members_[static_cast<std::size_t>(side.peer)]);
  if (none_to_get)
    member.gives.side.peers = Side::Peers::none;
  else
    member.keep(static_cast<int>(members_.size()));
}

ReducedData::ReducedData(const ExchangeShape& shape) : exchange_(Exchange::create(shape)), shape_(shape)
{
  for (int rank = 0; rank < shape.ranks; ++rank)
    all_get_ &= gets(rank);
}

bool ReducedData::gets(int rank) const
{
  if (shape_.movement.receivers == Participants::root)
    return rank == shape_.root;
  return shape_.movement.gets != Share::part || shape_.parts.empty() ||
         shape_.parts[static_cast<std::size_t>(rank)] > 0;
}

void ReducedData::come(int rank, const RankBuffers& buffers, MPI_Op operation, bool blocks)
{
  exchange_->give(rank, buffers, blocks && all_get_ ? MayChange::nothing : MayChange::all);
  if (++come_ < shape_.ranks)
    return;
  exchange_->combine(operation);
  for (int other = 0; not blocks && other < shape_.ranks; ++other)
    exchange_->deliver(other);
  for (; waiting_ > 0; --waiting_)
    all_come_->release();
}

void ReducedData::leave(int rank)
{
  if (come_ < shape_.ranks && gets(rank)) {
    if (not all_come_)
      all_come_ = simgrid::s4u::Semaphore::create(0);
    ++waiting_;
    all_come_->acquire();
  }
  exchange_->deliver(rank);
}

PrefixData::PrefixData(int ranks, bool exclusive) : ranks_(static_cast<std::size_t>(ranks)), exclusive_(exclusive) {}

void PrefixData::come(int rank, const RankBuffers& buffers, MPI_Op operation)
{
  Rank& own   = ranks_[static_cast<std::size_t>(rank)];
  own.come    = true;
  own.receive = buffers.receive;
  data_ &= not weft::is_shared(buffers.send) && not weft::is_shared(buffers.receive);
  if (data_)
    own.sum = Values(buffers.send, buffers.send_count, buffers.send_type);
  own.beginning = beginning_of(buffers.send_type);
  // All ranks before next_ have their sums. The last rank to enter provides the types, since other ranks may have freed
  // theirs.
  const auto seen = [&](const Rank& its, const void* address) { return moved(address, its.beginning - own.beginning); };
  for (; next_ < ranks_.size() && ranks_[next_].come; ++next_) {
    if (not data_ || buffers.send_count == 0)
      continue;
    Rank& next         = ranks_[next_];
    const Rank& before = ranks_[next_ > 0 ? next_ - 1 : 0];
    if (next_ > 0)
      operation->apply(seen(before, before.sum.data()), seen(next, next.sum.data()), &buffers.send_count,
                       buffers.send_type);
    if (not exclusive_ || next_ > 0)
      copy_elements(seen(exclusive_ ? before : next, (exclusive_ ? before : next).sum.data()), seen(next, next.receive),
                    buffers.send_count, buffers.send_type);
  }
}

bool needs_own_data(MPI_Datatype type, MPI_Op operation)
{
  // A replayed trace has neither operations nor data.
  return operation != MPI_OP_NULL && not(is_predefined(type) && is_predefined(operation));
}

PlaceholderBuffer placeholder(int count, MPI_Datatype type, int blocks)
{
  const std::size_t bytes = count == 0 ? 0 : static_cast<std::size_t>(count) * element_size(type);
  void* memory            = scratch(std::max<std::size_t>(1, bytes * static_cast<std::size_t>(blocks)));
  if (not fits_an_int(bytes))
    return {memory, count, type};
  return {memory, static_cast<int>(bytes), MPI_BYTE};
}

ReductionStandIn placeholder(int count, MPI_Datatype type, MPI_Op operation)
{
  if (operation == MPI_OP_NULL)
    return {};
  const std::size_t size  = element_size(type);
  const std::size_t bytes = static_cast<std::size_t>(count) * size;
  const std::size_t unit  = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : 1;
  if (not fits_an_int(bytes / unit))
    throw std::length_error("a reduction of more elements than SMPI can count");
  return {{scratch(std::max<std::size_t>(1, bytes)), static_cast<int>(bytes / unit),
           unit == 8   ? MPI_UINT64_T
           : unit == 4 ? MPI_UINT32_T
                       : MPI_BYTE},
          commutes(operation) ? MPI_BOR : ordered_nothing()};
}

PlaceholderBuffers placeholders(const int* counts, MPI_Datatype type, int ranks)
{
  return placeholders(counts, std::vector<MPI_Datatype>(static_cast<std::size_t>(ranks), type).data(), ranks);
}

PlaceholderBuffers placeholders(const int* counts, const MPI_Datatype* types, int ranks)
{
  PlaceholderBuffers all;
  all.types.assign(static_cast<std::size_t>(ranks), MPI_BYTE);
  std::size_t next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::size_t bytes =
        counts[rank] == 0 ? 0 : static_cast<std::size_t>(counts[rank]) * element_size(types[rank]);
    if (not fits_an_int(next + bytes)) // the displacement would overflow; the block is never read
      next = 0;
    all.counts.push_back(static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max())));
    all.displacements.push_back(static_cast<int>(next));
    next += bytes;
    all.count = std::max(all.count, static_cast<int>(next));
  }
  all.memory = scratch(std::max<std::size_t>(1, static_cast<std::size_t>(all.count)));
  return all;
}

} // namespace weft
