// SPDX-License-Identifier: LGPL-2.1-only
/* Calls that the hosts execute: their data, and the placeholder arguments passed to SMPI's algorithm (host_data.hpp).
 * One function per collective, shared by the blocking and the non-blocking form. */
#pragma once

#include "binding/abi/smpi/communicators.hpp"
#include "binding/calls/call.hpp"
#include "binding/data/descriptions.hpp"
#include "binding/data/handles.hpp"
#include "binding/data/host_data.hpp"
#include "mpi/names.hpp"

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

/** Call whose data weft moves; SMPI's algorithm gets @p arguments and the communicator. */
template <class... Arguments> struct MovedCall {
  Sides sides;
  std::tuple<Arguments...> arguments;
  std::vector<PlaceholderBuffers> kept = {}; ///< arrays to which the arguments point
  bool uneven      = false;   ///< block sizes may differ between ranks although this rank passes no counts
  const int* parts = nullptr; ///< Allgatherv: elements of each rank's block

  static bool wanted(bool) { return true; }
  static bool has_data() { return true; }
  HostShape host_shape() const
  {
    const Side& known = sides.gives.peers != Side::Peers::none ? sides.gives : sides.gets;
    HostShape all;
    all.sides  = &sides;
    all.parts  = parts;
    all.uneven = sides.gives.counts || sides.gets.counts || uneven;
    if (parts) {
      all.element = Bytes(static_cast<double>(element_size(sides.gets.type)));
    } else if (not all.uneven) {
      all.count   = known.count;
      all.element = Bytes(static_cast<double>(element_size(known.type)));
    }
    return all;
  }
  void come(Call& call, bool blocks) const
  {
    call.host_data<MovedData>([&](int ranks) { return std::make_shared<MovedData>(ranks); })
        .come(call.rank, sides, blocks);
  }
};

inline HostShape reduction_shape(int count, MPI_Datatype type)
{
  HostShape shape;
  shape.count   = count;
  shape.element = Bytes(static_cast<double>(size_of(1, type)));
  return shape;
}

/** Reduction; weft computes the result where SMPI cannot. */
template <class... Arguments> struct ReducedCall {
  RankBuffers buffers;
  MPI_Datatype type;
  MPI_Op operation;
  ExchangeShape shape; ///< come() sets the number of ranks
  std::tuple<Arguments...> arguments;
  std::vector<PlaceholderBuffers> kept = {};
  const int* parts                     = nullptr; ///< Reduce_scatter: elements of each rank's part

  // SMPI frees its copies for MPI_IN_PLACE before a non-blocking call has ended.
  bool wanted(bool blocks) const
  {
    // SMPI's recursive-halving and butterfly algorithms for Reduce_scatter compute wrong sums if parts differ in size.
    const bool parted = shape.movement == Movement::reduce_scatter;
    return operation != MPI_OP_NULL && (not blocks || needs_own_data(type, operation) || parted);
  }
  bool has_data() const { return operation != MPI_OP_NULL; }
  HostShape host_shape() const
  {
    HostShape all = reduction_shape(buffers.send_count, type);
    all.parts     = parts;
    return all;
  }
  void come(Call& call, bool blocks) const
  {
    call.host_data<ReducedData>([&](int ranks) {
          ExchangeShape all = shape;
          all.ranks         = ranks;
          return std::make_shared<ReducedData>(all);
        })
        .come(call.rank, buffers, operation, blocks);
  }
};

/** MPI_Scan and MPI_Exscan. */
template <class... Arguments> struct PrefixCall {
  RankBuffers buffers;
  MPI_Datatype type;
  MPI_Op operation;
  bool exclusive;
  std::tuple<Arguments...> arguments;

  // SMPI's algorithms are correct only for commutative operations whose identity element is zero.
  bool wanted(bool) const { return operation != MPI_OP_NULL; }
  bool has_data() const { return operation != MPI_OP_NULL; }
  HostShape host_shape() const { return reduction_shape(buffers.send_count, type); }
  void come(Call& call, bool) const
  {
    call.host_data<PrefixData>([&](int ranks) { return std::make_shared<PrefixData>(ranks, exclusive); })
        .come(call.rank, buffers, operation);
  }
};

/** Call without data. */
struct EmptyCall {
  std::tuple<> arguments = {};
  static bool wanted(bool) { return false; }
  static bool has_data() { return false; }
  static HostShape host_shape() { return {}; }
  static void come(Call&, bool) {}
};

/** Joins a scheduled call. @return true if it has data */
// Out of line, like the next two functions: calls that take another path need no stack for them.
template <class MakeParts>
[[gnu::noinline]] bool join_scheduled(Call& call, const MakeParts& make_parts, Sleep& until_end)
{
  const auto parts = make_parts();
  if (parts.has_data())
    parts.come(call, true);
  call.join_schedule(parts.host_shape(), until_end);
  return parts.has_data();
}

/** Joins a scheduled call and waits for its end. Out of line, as above. */
template <class MakeParts> [[gnu::noinline]] int run_scheduled(Call& call, const MakeParts& make_parts)
{
  Sleep until_end;
  const bool has_data = join_scheduled(call, make_parts, until_end);
  call.wait_for_schedule(until_end);
  if (has_data)
    call.leave_host_data();
  return MPI_SUCCESS;
}

/** Result of an SMPI algorithm that cannot execute the call. All ranks get it before any has sent a message. */
constexpr int REFUSED_BY_SMPI = -1;

/** Waits for the end of a schedule that executes a call instead of SMPI's algorithm. Out of line, as above. */
[[gnu::noinline]] inline void run_instead(Call& call, const HostShape& shape)
{
  Sleep until_end;
  call.schedule_instead(shape);
  call.join_schedule(shape, until_end);
  call.wait_for_schedule(until_end);
}

/** Runs a blocking call with SMPI's algorithm; weft moves the data if needed. Out of line, as above. If the algorithm
 * refuses the call, a schedule executes it. */
template <class MakeParts, class Algorithm, class... Arguments>
[[gnu::noinline]] int run_theirs(Call& call, MPI_Comm comm, const MakeParts& make_parts, const Algorithm& algorithm,
                                 Arguments... arguments)
{
  const auto parts = make_parts();
  if constexpr (std::tuple_size_v<decltype(parts.arguments)> == 0) {
    const int status = algorithm(arguments...);
    if (status != REFUSED_BY_SMPI)
      return status;
    run_instead(call, parts.host_shape());
    return MPI_SUCCESS;
  } else {
    const bool wanted = parts.wanted(true);
    if (wanted)
      parts.come(call, true);
    const auto run = [&] {
      return wanted
                 ? std::apply([&](auto... placeholders) { return algorithm(placeholders..., comm); }, parts.arguments)
                 : algorithm(arguments...);
    };
    int status = wanted && call.alone() ? static_cast<int>(MPI_SUCCESS) : run();
    bool data  = wanted;
    if (status == REFUSED_BY_SMPI) {
      data = parts.has_data();
      if (data && not wanted)
        parts.come(call, true);
      run_instead(call, parts.host_shape());
      status = MPI_SUCCESS;
    }
    if (data)
      call.leave_host_data();
    return status;
  }
}

/** Executes a blocking call on the hosts, by a schedule or by SMPI's @p algorithm; weft moves the data if needed. The
 * last of @p arguments, the call's own, is the communicator. Only one result of @p make_parts is on the rank's
 * stack. */
template <class MakeParts, class Algorithm, class... Arguments>
int run_on_hosts(Call& call, MPI_Comm comm, const MakeParts& make_parts, const Algorithm& algorithm,
                 Arguments... arguments)
{
  return call.scheduled(make_parts) ? run_scheduled(call, make_parts)
                                    : run_theirs(call, comm, make_parts, algorithm, arguments...);
}

inline Side from_one(int peer, void* buffer, int count, MPI_Datatype type)
{
  return {Side::Peers::one, peer, buffer, count, type};
}
inline Side to_one(int peer, const void* buffer, int count, MPI_Datatype type)
{
  return from_one(peer, const_cast<void*>(buffer), count, type); // NOLINT(cppcoreguidelines-pro-type-const-cast)
}
inline Side of_each(void* buffer, int count, MPI_Datatype type, const int* counts = nullptr,
                    const int* displacements = nullptr, const MPI_Datatype* types = nullptr)
{
  return {Side::Peers::each, -1, buffer, count, type, counts, displacements, types};
}
inline Side to_each(const void* buffer, int count, MPI_Datatype type, const int* counts = nullptr,
                    const int* displacements = nullptr, const MPI_Datatype* types = nullptr)
{
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  return of_each(const_cast<void*>(buffer), count, type, counts, displacements, types);
}

inline auto moved_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  const PlaceholderBuffer bytes = placeholder(count, type);
  Sides sides;
  if (comm->rank() == root) {
    sides.gives       = to_one(-1, buffer, count, type);
    sides.gives.peers = Side::Peers::same;
  } else {
    sides.gets = from_one(root, buffer, count, type);
  }
  return MovedCall<void*, int, MPI_Datatype, int>{sides, {bytes.memory, bytes.count, bytes.type, root}};
}

inline auto moved_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                            MPI_Datatype type, MPI_Comm comm)
{
  const PlaceholderBuffer all = placeholder(count, type, comm->size());
  const PlaceholderBuffer own = placeholder(send_count, send_type);
  Sides sides{to_one(-1, send, send_count, send_type), of_each(receive, count, type)};
  sides.gives.peers = Side::Peers::same;
  return MovedCall<const void*, int, MPI_Datatype, void*, int, MPI_Datatype>{
      sides, {own.memory, own.count, own.type, all.memory, all.count, all.type}};
}

inline auto moved_allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                             const int* displacements, MPI_Datatype type, MPI_Comm comm)
{
  const PlaceholderBuffer own = placeholder(send_count, send_type);
  Sides sides{to_one(-1, send, send_count, send_type), of_each(receive, 0, type, counts, displacements)};
  sides.gives.peers = Side::Peers::same;
  MovedCall<const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype> call{sides, {}};
  call.parts                    = counts;
  const PlaceholderBuffers& all = call.kept.emplace_back(placeholders(counts, type, comm->size()));
  call.arguments = {own.memory, own.count, own.type, all.memory, all.counts.data(), all.displacements.data(), all.type};
  return call;
}

/** With MPI_IN_PLACE the root contributes no block to itself; SMPI's algorithm copies the placeholder as usual. */
inline auto moved_gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                         MPI_Datatype type, int root, MPI_Comm comm)
{
  const bool is_root          = comm->rank() == root;
  const bool in_place         = is_root && send == MPI_IN_PLACE;
  const PlaceholderBuffer all = is_root ? placeholder(count, type, comm->size()) : placeholder(send_count, send_type);
  const PlaceholderBuffer own = in_place ? all : placeholder(send_count, send_type);
  Sides sides;
  if (not in_place)
    sides.gives = to_one(root, send, send_count, send_type);
  if (is_root)
    sides.gets = of_each(receive, count, type);
  return MovedCall<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int>{
      sides, {own.memory, own.count, own.type, all.memory, all.count, all.type, root}};
}

inline auto moved_scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                          MPI_Datatype type, int root, MPI_Comm comm)
{
  const bool is_root          = comm->rank() == root;
  const bool in_place         = is_root && receive == MPI_IN_PLACE;
  const PlaceholderBuffer all = is_root ? placeholder(send_count, send_type, comm->size()) : placeholder(count, type);
  const PlaceholderBuffer own = in_place ? all : placeholder(count, type);
  Sides sides;
  if (not in_place)
    sides.gets = from_one(root, receive, count, type);
  if (is_root)
    sides.gives = to_each(send, send_count, send_type);
  return MovedCall<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int>{
      sides, {all.memory, all.count, all.type, own.memory, own.count, own.type, root}};
}

inline auto moved_gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                          const int* displacements, MPI_Datatype type, int root, MPI_Comm comm)
{
  const int rank              = comm->rank();
  const bool is_root          = rank == root;
  const bool in_place         = is_root && send == MPI_IN_PLACE;
  const PlaceholderBuffer own = in_place ? placeholder(counts[rank], type) : placeholder(send_count, send_type);
  MovedCall<const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, int> call;
  if (not in_place)
    call.sides.gives = to_one(root, send, send_count, send_type);
  if (is_root)
    call.sides.gets = of_each(receive, 0, type, counts, displacements);
  call.uneven = true;
  const PlaceholderBuffers& all =
      call.kept.emplace_back(is_root ? placeholders(counts, type, comm->size()) : PlaceholderBuffers());
  call.arguments = {own.memory, own.count, own.type, all.memory, all.counts.data(), all.displacements.data(),
                    all.type,   root};
  return call;
}

inline auto moved_scatterv(const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,
                           void* receive, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  const int rank              = comm->rank();
  const bool is_root          = rank == root;
  const bool in_place         = is_root && receive == MPI_IN_PLACE;
  const PlaceholderBuffer own = in_place ? placeholder(counts[rank], send_type) : placeholder(count, type);
  MovedCall<const void*, const int*, const int*, MPI_Datatype, void*, int, MPI_Datatype, int> call;
  if (not in_place)
    call.sides.gets = from_one(root, receive, count, type);
  if (is_root)
    call.sides.gives = to_each(send, 0, send_type, counts, displacements);
  call.uneven = true;
  const PlaceholderBuffers& all =
      call.kept.emplace_back(is_root ? placeholders(counts, send_type, comm->size()) : PlaceholderBuffers());
  call.arguments = {all.memory, all.counts.data(), all.displacements.data(), all.type, own.memory, own.count, own.type,
                    root};
  return call;
}

inline auto moved_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                           MPI_Datatype type, MPI_Comm comm)
{
  const PlaceholderBuffer to   = placeholder(send_count, send_type, comm->size());
  const PlaceholderBuffer from = placeholder(count, type, comm->size());
  return MovedCall<const void*, int, MPI_Datatype, void*, int, MPI_Datatype>{
      {to_each(send, send_count, send_type), of_each(receive, count, type)},
      {to.memory, to.count, to.type, from.memory, from.count, from.type}};
}

inline auto moved_alltoallv(const void* send, const int* send_counts, const int* send_displacements,
                            MPI_Datatype send_type, void* receive, const int* counts, const int* displacements,
                            MPI_Datatype type, MPI_Comm comm)
{
  MovedCall<const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype> call;
  call.sides = {to_each(send, 0, send_type, send_counts, send_displacements),
                of_each(receive, 0, type, counts, displacements)};
  call.kept.push_back(placeholders(send_counts, send_type, comm->size()));
  call.kept.push_back(placeholders(counts, type, comm->size()));
  const PlaceholderBuffers& to   = call.kept[0];
  const PlaceholderBuffers& from = call.kept[1];
  call.arguments                 = {to.memory,   to.counts.data(),   to.displacements.data(),   to.type,
                                    from.memory, from.counts.data(), from.displacements.data(), from.type};
  return call;
}

inline auto moved_alltoallw(const void* send, const int* send_counts, const int* send_displacements,
                            const MPI_Datatype* send_types, void* receive, const int* counts, const int* displacements,
                            const MPI_Datatype* types, MPI_Comm comm)
{
  const int ranks = comm->size();
  MovedCall<const void*, const int*, const int*, const MPI_Datatype*, void*, const int*, const int*,
            const MPI_Datatype*>
      call;
  call.sides = {to_each(send, 0, MPI_DATATYPE_NULL, send_counts, send_displacements, send_types),
                of_each(receive, 0, MPI_DATATYPE_NULL, counts, displacements, types)};
  call.kept.push_back(placeholders(send_counts, send_types, ranks));
  call.kept.push_back(placeholders(counts, types, ranks));
  const PlaceholderBuffers& to   = call.kept[0];
  const PlaceholderBuffers& from = call.kept[1];
  call.arguments                 = {to.memory,   to.counts.data(),   to.displacements.data(),   to.types.data(),
                                    from.memory, from.counts.data(), from.displacements.data(), from.types.data()};
  return call;
}

inline auto reduced_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op)
{
  const ReductionStandIn in = placeholder(count, type, op);
  return ReducedCall<const void*, void*, int, MPI_Datatype, MPI_Op>{
      reduction_buffers(send, receive, count, type),
      type,
      op,
      {Movement::allreduce, 0, -1, {}, 0},
      {in.memory, in.memory, in.count, in.type, in.operation}};
}

inline auto reduced_reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root)
{
  const ReductionStandIn in = placeholder(count, type, op);
  return ReducedCall<const void*, void*, int, MPI_Datatype, MPI_Op, int>{
      reduction_buffers(send, receive, count, type),
      type,
      op,
      {Movement::reduce, 0, root, {}, 0},
      {in.memory, in.memory, in.count, in.type, in.operation, root}};
}

inline auto reduced_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm)
{
  ReducedCall<const void*, void*, const int*, MPI_Datatype, MPI_Op> call{
      reduce_scatter_buffers(send, receive, counts, type, comm),
      type,
      op,
      {Movement::reduce_scatter, 0, -1, {}, 0},
      {}};
  const ReductionStandIn in = placeholder(call.buffers.send_count, type, op);
  PlaceholderBuffers parts{{in.memory, in.count, in.type}, {}, {}, {}};
  const std::int64_t unit = size_of(1, in.type);
  for (int rank = 0; rank < comm->size(); ++rank)
    parts.counts.push_back(static_cast<int>(size_of(counts[rank], type) / unit));
  call.kept.push_back(std::move(parts));
  call.parts     = counts;
  call.arguments = {in.memory, in.memory, call.kept.front().counts.data(), in.type, in.operation};
  return call;
}

inline auto prefix(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, bool exclusive)
{
  const ReductionStandIn in = placeholder(count, type, op);
  return PrefixCall<const void*, void*, int, MPI_Datatype, MPI_Op>{
      reduction_buffers(send, receive, count, type),
      type,
      op,
      exclusive,
      {in.memory, in.memory, in.count, in.type, in.operation}};
}

} // namespace weft
