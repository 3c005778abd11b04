// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/exchange.hpp"

#include "base/prefetch.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/smpi/operations.hpp"
#include "binding/data/elements.hpp"
#include "model/switch/fixed_point.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

using simgrid::smpi::Datatype;

namespace weft {
namespace {

/** Returns whether a rank's buffers are shared, so that the call carries no data. */
bool is_shared(const RankBuffers& buffers)
{
  return weft::is_shared(buffers.send) || weft::is_shared(buffers.receive);
}

/** Copy of a rank's buffer arguments, kept until its result is delivered. Only arguments that may change are copied,
 * because there is one object per rank and call. */
class KeptBuffers {
  struct Copied {
    std::vector<int> counts;
    std::vector<int> displacements;
    bool type_referenced = false;
  };
  std::unique_ptr<Copied> copied_;

public:
  RankBuffers buffers;

  KeptBuffers() = default;
  KeptBuffers(const RankBuffers& given, int ranks, MayChange changing) : buffers(given)
  {
    if (changing == MayChange::nothing)
      return;
    const bool own_type = buffers.receive_type != MPI_DATATYPE_NULL && not is_predefined(buffers.receive_type);
    if (not own_type && not buffers.counts && not buffers.displacements)
      return;
    copied_ = std::make_unique<Copied>();
    // The arrays may be SMPI's own, and a program may free a type that is still in use (MPI 4.1, section 5.1.9).
    const auto copy = [ranks](const int*& numbers, std::vector<int>& into) {
      if (not numbers)
        return;
      into.assign(numbers, numbers + ranks);
      numbers = into.data();
    };
    copy(buffers.counts, copied_->counts);
    copy(buffers.displacements, copied_->displacements);
    copied_->type_referenced = own_type;
    if (own_type)
      buffers.receive_type->ref();
  }
  void release()
  {
    if (copied_ && std::exchange(copied_->type_referenced, false))
      Datatype::unref(buffers.receive_type);
  }
};

/** Prefetch distance in ranks; results are mostly delivered in rank order. */
constexpr std::size_t RANKS_AHEAD = 2;

/** Exchange without data. */
class NoData : public Exchange {
  void give(int, const RankBuffers&, MayChange) override {}
  void combine(MPI_Op) override {}
  void deliver(int) override {}
};

/** Allreduce, Reduce and Reduce_scatter. */
class Reduction : public Exchange {
  ExchangeShape shape_;
  std::vector<KeptBuffers> ranks_;
  std::vector<Values> copies_;       // contributions of ranks whose buffers may change
  std::vector<MPI_Aint> beginnings_; // offset of each rank's first byte from its elements' address
  int count_          = 0;
  MPI_Datatype type_  = MPI_DATATYPE_NULL; // type of the result
  bool plain_         = false;             // no gaps between its elements
  MPI_Aint beginning_ = 0;                 // offset of the result's first byte from its elements' address
  MPI_Aint extent_    = 0;
  Values result_;

  /** Returns a rank's contribution, at the address that fits the result's type. */
  const void* contribution(std::size_t rank) const
  {
    const bool copied = not copies_.empty() && copies_[rank];
    const void* given = copied ? copies_[rank].data() : ranks_[rank].buffers.send;
    return moved(given, beginnings_[rank] - beginning_);
  }

public:
  explicit Reduction(const ExchangeShape& shape)
      : shape_(shape), ranks_(static_cast<std::size_t>(shape.ranks)), beginnings_(ranks_.size())
  {
  }

  void give(int rank, const RankBuffers& buffers, MayChange changing) override
  {
    const auto at   = static_cast<std::size_t>(rank);
    ranks_[at]      = KeptBuffers(buffers, shape_.ranks, changing);
    beginnings_[at] = buffers.send_type == MPI_DATATYPE_NULL ? 0 : beginning_of(buffers.send_type);
    data_ &= not is_shared(buffers);
    if (changing == MayChange::all && data_) {
      copies_.resize(ranks_.size());
      copies_[at] = Values(buffers.send, buffers.send_count, buffers.send_type);
    }
    // The result is computed with the arguments of the last contributor: other ranks may have freed their types.
    last_ = at;
  }

  void combine(MPI_Op operation) override
  {
    const RankBuffers& buffers = ranks_[last_].buffers;
    count_                     = buffers.send_count;
    type_                      = buffers.send_type;
    plain_                     = is_predefined(type_);
    extent_                    = span_of(type_).extent;
    beginning_                 = beginnings_[last_];
    if (not data_ || operation == MPI_OP_NULL || count_ == 0) // a replayed trace has neither operations nor data
      return;
    if (shape_.fixed_point_block > 0)
      add_as_switches_do();
    else
      add_in_order(operation);
    worked_out_ = true;
    copies_.clear();
    if (buffers.counts) {
      begins_.resize(ranks_.size());
      std::exclusive_scan(buffers.counts, buffers.counts + ranks_.size(), begins_.begin(), std::int64_t{0});
    }
  }

  void deliver(int rank) override
  {
    KeptBuffers& kept          = ranks_[static_cast<std::size_t>(rank)];
    const RankBuffers& buffers = kept.buffers;
    if (worked_out_) {
      if (const std::size_t next = static_cast<std::size_t>(rank) + RANKS_AHEAD; next < ranks_.size())
        prefetch(ranks_[next].buffers.receive, bytes_got());
      if (shape_.movement.gets == Share::part) {
        const std::int64_t before = begins_[static_cast<std::size_t>(rank)];
        copy_result(before, buffers.receive, buffers.receive_count, buffers.receive_type);
      } else if (shape_.movement.receivers == Participants::all || rank == shape_.root)
        copy_result(0, buffers.receive, count_, buffers.receive_type);
    }
    kept.release();
  }

private:
  std::size_t last_ = 0;
  bool data_        = true;
  bool worked_out_  = false;
  std::vector<std::int64_t> begins_; // offset of each rank's part in the result, in elements

  std::size_t bytes_given() const { return static_cast<std::size_t>(count_) * static_cast<std::size_t>(extent_); }
  /** Returns the number of bytes to prefetch per receive buffer; for parts, one cache line. */
  std::size_t bytes_got() const { return shape_.movement.gets == Share::part ? 1 : bytes_given(); }

  /** Copies elements of the result, starting with @p first. Ranks mostly pass the common type, which needs no
   * element-wise copy. */
  void copy_result(std::int64_t first, void* to, int count, MPI_Datatype type) const
  {
    const std::byte* from = result_.data() + first * extent_;
    if (plain_ && type == type_ && count > 0)
      std::memcpy(to, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(extent_));
    else
      copy_elements(moved(from, beginning_ - beginning_of(type)), to, count, type);
  }

  /** Reduces in MPI's order for operations that do not commute: rank 0 op (rank 1 op (… op rank P-1)). */
  void add_in_order(MPI_Op operation)
  {
    result_ = Values(contribution(ranks_.size() - 1), count_, type_);
    for (std::size_t rank = ranks_.size() - 1; rank-- > 0;) {
      if (rank >= RANKS_AHEAD)
        prefetch(contribution(rank - RANKS_AHEAD), bytes_given());
      operation->apply(contribution(rank), result_.data(), &count_, type_);
    }
  }

  void add_as_switches_do()
  {
    std::vector<const float*> contributions;
    contributions.reserve(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      contributions.push_back(static_cast<const float*>(contribution(rank)));
    result_ = Values(count_, type_);
    add_fixed_point(contributions, {reinterpret_cast<float*>(result_.data()), static_cast<std::size_t>(count_)},
                    shape_.fixed_point_block);
  }
};

/** Bcast and Allgather: the parts are packed contiguously. */
class Collecting : public Exchange {
  ExchangeShape shape_;
  std::vector<KeptBuffers> ranks_;
  std::vector<std::size_t> begins_; // offset of each rank's part in packed_, and the end
  std::vector<std::byte> packed_;
  std::vector<bool> together_; // by rank: the parts are contiguous in its receive buffer
  bool data_ = true;

public:
  explicit Collecting(const ExchangeShape& shape)
      : shape_(shape), ranks_(static_cast<std::size_t>(shape.ranks)), begins_(ranks_.size() + 1),
        together_(ranks_.size())
  {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      begins_[rank + 1] = begins_[rank] + static_cast<std::size_t>(shape.parts[rank]);
  }

  void give(int rank, const RankBuffers& buffers, MayChange changing) override
  {
    const auto at = static_cast<std::size_t>(rank);
    ranks_[at]    = KeptBuffers(buffers, shape_.ranks, changing);
    data_ &= not is_shared(buffers);
    if (shape_.movement.gives == Share::part)
      together_[at] = lies_together(ranks_[at].buffers); // checked while its arrays are in the cache
    if (not data_ || begins_[at] == begins_[at + 1])
      return;
    packed_.resize(begins_.back());
    pack(buffers.send, buffers.send_count, buffers.send_type, packed_.data() + begins_[at]);
  }

  void combine(MPI_Op) override {}

  void deliver(int rank) override
  {
    KeptBuffers& kept = ranks_[static_cast<std::size_t>(rank)];
    if (packed_.empty() || not data_)
      kept.release();
    else if (shape_.movement.gives == Share::part)
      deliver_parts(kept.buffers, together_[static_cast<std::size_t>(rank)]);
    else if (rank != shape_.root)
      unpack(packed_.data(), kept.buffers.receive, kept.buffers.receive_count, kept.buffers.receive_type);
    kept.release();
  }

  const std::byte* part(int rank) const override
  {
    return data_ && not packed_.empty() ? packed_.data() + begins_[static_cast<std::size_t>(rank)] : nullptr;
  }

private:
  void deliver_parts(const RankBuffers& buffers, bool together)
  {
    const bool predefined = is_predefined(buffers.receive_type);
    if (predefined && together) {
      const std::int64_t first = buffers.displacements ? buffers.displacements[0] : 0;
      const MPI_Aint extent    = span_of(buffers.receive_type).extent;
      std::memcpy(static_cast<std::byte*>(buffers.receive) + first * extent, packed_.data(), packed_.size());
      return;
    }
    const MPI_Aint extent = span_of(buffers.receive_type).extent;
    std::int64_t next     = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const int count           = buffers.counts ? buffers.counts[rank] : buffers.receive_count;
      const std::int64_t offset = buffers.displacements ? buffers.displacements[rank] : next;
      if (count > 0)
        unpack(packed_.data() + begins_[rank], static_cast<std::byte*>(buffers.receive) + offset * extent, count,
               buffers.receive_type);
      next = offset + count;
    }
  }

  /** Returns whether the parts are contiguous in a rank's receive buffer. Memoizes the previous rank's answer, because
   * ranks mostly pass equal arrays. */
  bool lies_together(const RankBuffers& buffers)
  {
    if (not buffers.displacements)
      return true;
    const auto same = [this](const int* numbers, const std::vector<int>& before) {
      return before.size() == ranks_.size() && std::memcmp(numbers, before.data(), before.size() * sizeof(int)) == 0;
    };
    if (same(buffers.displacements, displacements_before_) && same(buffers.counts, counts_before_))
      return together_before_;
    displacements_before_.assign(buffers.displacements, buffers.displacements + ranks_.size());
    counts_before_.assign(buffers.counts, buffers.counts + ranks_.size());
    together_before_ = true;
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
      together_before_ &= displacements_before_[rank] == displacements_before_[rank - 1] + counts_before_[rank - 1];
    return together_before_;
  }

  std::vector<int> displacements_before_;
  std::vector<int> counts_before_;
  bool together_before_ = false;
};

/** Alltoall: each rank's blocks are packed contiguously. */
class Swapping : public Exchange {
  ExchangeShape shape_;
  std::vector<KeptBuffers> ranks_;
  std::vector<std::vector<std::byte>> packed_; // by sending rank
  const std::size_t block_;                    // bytes per block
  bool data_ = true;

public:
  explicit Swapping(const ExchangeShape& shape)
      : shape_(shape), ranks_(static_cast<std::size_t>(shape.ranks)), packed_(ranks_.size()),
        block_(static_cast<std::size_t>(shape.parts.front()) / ranks_.size())
  {
  }

  void give(int rank, const RankBuffers& buffers, MayChange changing) override
  {
    const auto at = static_cast<std::size_t>(rank);
    ranks_[at]    = KeptBuffers(buffers, shape_.ranks, changing);
    data_ &= not is_shared(buffers);
    if (not data_)
      return;
    packed_[at].resize(static_cast<std::size_t>(shape_.parts[at]));
    const MPI_Aint stride = extent_of(buffers.send_type) * buffers.send_count;
    for (std::size_t to = 0; to < ranks_.size(); ++to)
      pack(moved(buffers.send, stride * static_cast<MPI_Aint>(to)), buffers.send_count, buffers.send_type,
           packed_[at].data() + to * block_);
  }

  void combine(MPI_Op) override {}

  void deliver(int rank) override
  {
    KeptBuffers& kept          = ranks_[static_cast<std::size_t>(rank)];
    const RankBuffers& buffers = kept.buffers;
    const MPI_Aint stride      = extent_of(buffers.receive_type) * buffers.receive_count;
    for (std::size_t from = 0; data_ && from < ranks_.size(); ++from)
      unpack(packed_[from].data() + static_cast<std::size_t>(rank) * block_,
             moved(buffers.receive, stride * static_cast<MPI_Aint>(from)), buffers.receive_count, buffers.receive_type);
    kept.release();
  }
};

} // namespace

bool is_shared(const void* buffer)
{
  static std::vector<std::pair<std::size_t, std::size_t>> private_blocks;
  std::size_t offset = 0;
  return buffer && smpi_is_shared(buffer, private_blocks, &offset) != 0 && private_blocks.empty();
}

std::unique_ptr<Exchange> Exchange::create(const ExchangeShape& shape)
{
  if (not shape.movement.carries_data())
    return std::make_unique<NoData>();
  if (shape.movement.combines)
    return std::make_unique<Reduction>(shape);
  if (shape.movement.in_blocks())
    return std::make_unique<Swapping>(shape);
  return std::make_unique<Collecting>(shape);
}

} // namespace weft
