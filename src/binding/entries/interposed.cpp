// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's functions that are not in its registry of algorithms: the non-blocking collectives, and those with a single
 * algorithm. weft interposes on them: SMPI calls weft's definitions if weft's library is loaded before SimGrid's, as
 * `weft run` does with LD_PRELOAD. */
#include "base/recycling_allocator.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/calls/call.hpp"
#include "binding/calls/call_plan.hpp"
#include "binding/calls/host_calls.hpp"
#include "binding/data/descriptions.hpp"
#include "binding/data/handles.hpp"
#include "binding/entries/direct_calls.hpp"
#include "binding/entries/frame/current_run.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <stdexcept>

namespace weft {
namespace {

/** Starts a call that is not offloaded. Out of line, so that offloaded calls need no stack for it. */
template <class Function, class Parts, class... Arguments>
[[gnu::noinline]] int start_on_hosts(const std::shared_ptr<StartedCall>& call, Function next_definition,
                                     MPI_Request* request, int external, MPI_Comm comm, Parts&& make_parts,
                                     Arguments... arguments)
{
  const CollectiveScope inside;
  const auto parts = make_parts();
  if (call->scheduled([&]() -> const auto& { return parts; })) {
    if (parts.has_data())
      parts.come(*call, false);
    *request = StartedCall::start_schedule(call, parts.host_shape());
    return MPI_SUCCESS;
  }
  if constexpr (std::tuple_size_v<decltype(parts.arguments)> != 0) {
    if (parts.wanted(false)) {
      parts.come(*call, false);
      return std::apply([&](auto... placeholders) { return next_definition(placeholders..., comm, request, external); },
                        parts.arguments);
    }
  }
  return next_definition(address(arguments)..., comm, request, external);
}

/** Makes the plan of a persistent collective, whose first start is @p first. Out of line: most calls have no plan. */
template <class Function, class Parts, class... Arguments>
[[gnu::noinline]] void make_plan(CallPlan& plan, const StartedCall& first, Function next_definition, MPI_Comm comm,
                                 MPI_Op operation, const RankBuffers& buffers, Parts make_parts, Arguments... arguments)
{
  plan.make([=, kept = first.kept()](MPI_Request* request) {
    const auto call = std::allocate_shared<StartedCall>(RecyclingAllocator<StartedCall>(), current_run(), kept);
    if (call->offloaded()) {
      *request = StartedCall::start_offload(call, buffers, true, operation);
      return static_cast<int>(MPI_SUCCESS);
    }
    return start_on_hosts(call, next_definition, request, 1, comm, make_parts, arguments...);
  });
}

/** Executes a non-blocking call, offloaded or as in SMPI. @p describe returns a CallDescriptor, @p buffers a
 * RankBuffers and @p parts a call of host_calls.hpp; each is called only if needed. @p arguments are the call's
 * arguments before the communicator. */
template <class Function, class Describe, class Buffers, class Parts, class... Arguments>
int start(Function next_definition, MPI_Request* request, int external, MPI_Comm comm, MPI_Op operation,
          Describe&& describe, Buffers&& buffers, Parts&& make_parts, Arguments... arguments)
{
  const bool stay = buffers_stay();
  if (external == 0 || not is_own_call(comm))
    return next_definition(address(arguments)..., comm, request, external);
  const auto call = std::allocate_shared<StartedCall>(RecyclingAllocator<StartedCall>(), current_run(), describe, comm);
  if (CallPlan* const plan = PlanScope::plan_of(comm); plan && not call->alone()) [[unlikely]]
    make_plan(*plan, *call, next_definition, comm, operation, buffers(), make_parts, arguments...);
  if (call->offloaded()) {
    *request = StartedCall::start_offload(call, buffers(), stay, operation);
    return MPI_SUCCESS;
  }
  return start_on_hosts(call, next_definition, request, external, comm, make_parts, arguments...);
}

/** Executes a non-blocking call that is never offloaded. */
template <class Function, class Describe, class Parts, class... Arguments>
int start_on_host(Function next_definition, MPI_Request* request, int external, MPI_Comm comm, Describe&& describe,
                  Parts&& parts, Arguments... arguments)
{
  return start(
      next_definition, request, external, comm, MPI_OP_NULL, describe, [] { return RankBuffers(); }, parts,
      arguments...);
}

/** Returns the number of ranks on each host; 0 if hosts differ. */
int ranks_on_each_host(MPI_Comm comm)
{
  if (comm->get_leaders_comm() == MPI_COMM_NULL)
    comm->init_smp();
  return comm->is_uniform() ? comm->get_intra_comm()->size() : 0;
}

/** Executes a blocking call that is never offloaded. */
template <class Function, class Describe, class Parts, class... Arguments>
int on_host(Function next_definition, MPI_Comm comm, Describe&& describe, Parts&& parts, Arguments... arguments)
{
  if (not is_own_call(comm))
    return next_definition(address(arguments)..., comm);
  Call call(current_run(), describe, comm);
  const CollectiveScope inside;
  return run_on_hosts(
      call, comm, parts, [&](auto... placeholders) { return next_definition(placeholders...); }, address(arguments)...,
      comm);
}

} // namespace
} // namespace weft

namespace simgrid::smpi {

/** SMPI's ring Allreduce, which its selector `ompi` chooses where Open MPI would. For vectors with
 * fewer elements than ranks, Open MPI's ring uses recursive doubling
 * (ompi_coll_base_allreduce_intra_ring in its ompi/mca/coll/base/coll_base_allreduce.c), SMPI's uses a Reduce and a
 * Bcast, which take many times as long. */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int allreduce__lr(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm)
{
  static const auto THEIRS   = weft::original(&allreduce__lr);
  static const bool OPEN_MPI = weft::current_run().algorithms.at("allreduce") == "ompi";
  return OPEN_MPI && count < comm->size() ? allreduce__rdb(send, receive, count, type, op, comm)
                                          : THEIRS(send, receive, count, type, op, comm);
}

// Some SMPI algorithms fail for some calls, also where SMPI's selector `impi` chooses them. The definitions below
// refuse such calls, as SMPI's other algorithms do (Entry::run in collectives.cpp).

/** SMPI's pipelined Bcast sends every segment twice to the next rank if each host has one rank (num_core in
 * bcast-SMP-linear.cpp); later receives would match the second copies. */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int bcast__SMP_linear(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  static const auto THEIRS = weft::original(&bcast__SMP_linear);
  if (weft::ranks_on_each_host(comm) == 1)
    throw std::invalid_argument("SMP_linear needs several ranks per host");
  return THEIRS(buffer, count, type, root, comm);
}

/** Within a host, SMPI's binomial Allreduce waits for ranks that do not exist (allreduce-smp-binomial.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int allreduce__smp_binomial(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                            MPI_Comm comm)
{
  static const auto THEIRS = weft::original(&allreduce__smp_binomial);
  if (const int ranks = weft::ranks_on_each_host(comm); std::popcount(static_cast<unsigned>(ranks)) > 1)
    throw std::invalid_argument("smp_binomial needs a power of two of ranks per host");
  return THEIRS(send, receive, count, type, op, comm);
}

/** SMPI's Reduce by reduce-scatter and gather truncates if the number of ranks is not a power of two, does not reduce
 * in rank order, and writes into the receive buffers of all ranks, although MPI makes only the root's significant
 * (reduce-scatter-gather.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int reduce__scatter_gather(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                           int root, MPI_Comm comm)
{
  static const auto THEIRS = weft::original(&reduce__scatter_gather);
  if (not std::has_single_bit(static_cast<unsigned>(comm->size())) || not weft::commutes(op))
    throw std::invalid_argument("scatter_gather needs a power of two of ranks, and an operation that commutes");
  return THEIRS(send, comm->rank() == root ? receive : nullptr, count, type, op, root, comm);
}

/** SMPI's Reduce_scatter for operations that do not commute asserts a power of two of ranks with equal parts
 * (reduce_scatter-mpich.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int reduce_scatter__mpich_noncomm(const void* send, void* receive, const int* counts, MPI_Datatype type,
                                                  MPI_Op op, MPI_Comm comm)
{
  static const auto THEIRS = weft::original(&reduce_scatter__mpich_noncomm);
  const std::span parts(counts, static_cast<std::size_t>(comm->size()));
  if (not std::has_single_bit(parts.size()) || std::ranges::count(parts, parts.front()) != comm->size())
    throw std::invalid_argument("mpich_noncomm needs a power of two of ranks, and equal parts");
  return THEIRS(send, receive, counts, type, op, comm);
}

// SMPI's pairwise exchanges, which its selector `ompi` chooses where Open MPI would, support only powers of two. Open
// MPI's exchanges support any number of ranks: in step i, rank r sends to r + i and
// receives from r - i (ompi_coll_base_alltoall_intra_pairwise in its
// ompi/mca/coll/base/coll_base_alltoall.c), which SMPI calls a ring.

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int alltoall__pair(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                                   MPI_Datatype type, MPI_Comm comm)
{
  static const auto THEIRS   = weft::original(&alltoall__pair);
  static const bool OPEN_MPI = weft::current_run().algorithms.at("alltoall") == "ompi";
  const bool any_number      = OPEN_MPI && not std::has_single_bit(static_cast<unsigned>(comm->size()));
  return (any_number ? &alltoall__ring : THEIRS)(send, send_count, send_type, receive, count, type, comm);
}

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int alltoallv__pair(const void* send, const int* send_counts, const int* send_displacements,
                                    MPI_Datatype send_type, void* receive, const int* counts, const int* displacements,
                                    MPI_Datatype type, MPI_Comm comm)
{
  static const auto THEIRS   = weft::original(&alltoallv__pair);
  static const bool OPEN_MPI = weft::current_run().algorithms.at("alltoallv") == "ompi";
  const bool any_number      = OPEN_MPI && not std::has_single_bit(static_cast<unsigned>(comm->size()));
  return (any_number ? &alltoallv__ring : THEIRS)(send, send_counts, send_displacements, send_type, receive, counts,
                                                  displacements, type, comm);
}

/** SMPI's linear non-blocking Scatter, which `ompi` chooses for large blocks: a root other than
 * rank 0 sends to rank 0 alone (scatter-ompi.cpp interprets its first value of `err` as an error), and
 * the other ranks wait forever. SMPI's basic linear Scatter sends the same messages. */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
WEFT_INTERPOSED int scatter__ompi_linear_nb(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                                            int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  static const auto THEIRS = weft::original(&scatter__ompi_linear_nb);
  return (root == 0 ? THEIRS : &scatter__ompi_basic_linear)(send, send_count, send_type, receive, count, type, root,
                                                            comm);
}

} // namespace simgrid::smpi

// SMPI's names, declared in its private smpi_coll.hpp. The last argument of the non-blocking
// functions is 0 if SMPI itself calls them, which shifts a tag.
namespace simgrid::smpi::colls {
using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

WEFT_INTERPOSED int ibarrier(MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&ibarrier);
  return start(
      THEIRS, request, external, comm, MPI_OP_NULL, [&] { return describe_barrier(nonblocking("barrier")); },
      [&] { return RankBuffers(); }, [] { return EmptyCall(); });
}

WEFT_INTERPOSED int ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request,
                           int external)
{
  static const auto THEIRS = original(&ibcast);
  return start(
      THEIRS, request, external, comm, MPI_OP_NULL,
      [&] { return describe_bcast(nonblocking("bcast"), count, type, root); },
      [&] { return RankBuffers{buffer, count, type, buffer, count, type}; },
      [=] { return moved_bcast(buffer, count, type, root, comm); }, buffer, count, type, root);
}

WEFT_INTERPOSED int ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                            MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&ireduce);
  return start(
      THEIRS, request, external, comm, op,
      [&] { return describe_reduction(nonblocking("reduce"), count, type, op, root); },
      [&] { return reduction_buffers(send, receive, count, type); },
      [=] { return reduced_reduce(send, receive, count, type, op, root); }, send, receive, count, type, op, root);
}

WEFT_INTERPOSED int iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iallreduce);
  return start(
      THEIRS, request, external, comm, op,
      [&] { return describe_reduction(nonblocking("allreduce"), count, type, op); },
      [&] { return reduction_buffers(send, receive, count, type); },
      [=] { return reduced_allreduce(send, receive, count, type, op); }, send, receive, count, type, op);
}

WEFT_INTERPOSED int ireduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&ireduce_scatter);
  return start(
      THEIRS, request, external, comm, op,
      [&] { return describe_reduce_scatter(nonblocking("reduce_scatter"), counts, type, op, comm); },
      [&] { return reduce_scatter_buffers(send, receive, counts, type, comm); },
      [=] { return reduced_scatter(send, receive, counts, type, op, comm); }, send, receive, counts, type, op);
}

WEFT_INTERPOSED int iallgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                               MPI_Datatype type, MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iallgather);
  return start(
      THEIRS, request, external, comm, MPI_OP_NULL,
      [&] { return describe_allgather(nonblocking("allgather"), count, type); },
      [&] { return RankBuffers{send, send_count, send_type, receive, count, type}; },
      [=] { return moved_allgather(send, send_count, send_type, receive, count, type, comm); }, send, send_count,
      send_type, receive, count, type);
}

WEFT_INTERPOSED int iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                                const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm,
                                MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iallgatherv);
  return start(
      THEIRS, request, external, comm, MPI_OP_NULL,
      [&] { return describe_allgatherv(nonblocking("allgatherv"), counts, type, comm); },
      [&] { return RankBuffers{send, send_count, send_type, receive, 0, type, counts, displacements}; },
      [=] { return moved_allgatherv(send, send_count, send_type, receive, counts, displacements, type, comm); }, send,
      send_count, send_type, receive, counts, displacements, type);
}

WEFT_INTERPOSED int igather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                            MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&igather);
  return start_on_host(
      THEIRS, request, external, comm,
      [&] { return describe_gather(nonblocking("gather"), send_count, send_type, count, type, root, comm); },
      [=] { return moved_gather(send, send_count, send_type, receive, count, type, root, comm); }, send, send_count,
      send_type, receive, count, type, root);
}

WEFT_INTERPOSED int iscatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                             MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iscatter);
  return start_on_host(
      THEIRS, request, external, comm,
      [&] { return describe_gather(nonblocking("scatter"), count, type, send_count, send_type, root, comm); },
      [=] { return moved_scatter(send, send_count, send_type, receive, count, type, root, comm); }, send, send_count,
      send_type, receive, count, type, root);
}

WEFT_INTERPOSED int igatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                             const int* displacements, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request,
                             int external)
{
  static const auto THEIRS = original(&igatherv);
  return start_on_host(
      THEIRS, request, external, comm,
      [&] { return describe_gatherv(nonblocking("gatherv"), send_count, send_type, root); },
      [=] { return moved_gatherv(send, send_count, send_type, receive, counts, displacements, type, root, comm); },
      send, send_count, send_type, receive, counts, displacements, type, root);
}

WEFT_INTERPOSED int iscatterv(const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,
                              void* receive, int count, MPI_Datatype type, int root, MPI_Comm comm,
                              MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iscatterv);
  return start_on_host(
      THEIRS, request, external, comm, [&] { return describe_gatherv(nonblocking("scatterv"), count, type, root); },
      [=] { return moved_scatterv(send, counts, displacements, send_type, receive, count, type, root, comm); }, send,
      counts, displacements, send_type, receive, count, type, root);
}

WEFT_INTERPOSED int ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                              MPI_Datatype type, MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&ialltoall);
  return start(
      THEIRS, request, external, comm, MPI_OP_NULL,
      [&] { return describe_alltoall(nonblocking("alltoall"), count, type, comm); },
      [&] { return RankBuffers{send, send_count, send_type, receive, count, type}; },
      [=] { return moved_alltoall(send, send_count, send_type, receive, count, type, comm); }, send, send_count,
      send_type, receive, count, type);
}

WEFT_INTERPOSED int ialltoallv(const void* send, const int* send_counts, const int* send_displacements,
                               MPI_Datatype send_type, void* receive, const int* counts, const int* displacements,
                               MPI_Datatype type, MPI_Comm comm, MPI_Request* request, int external)
{
  static const auto THEIRS = original(&ialltoallv);
  return start_on_host(
      THEIRS, request, external, comm, [&] { return describe_alltoallv(nonblocking("alltoallv"), counts, type, comm); },
      [=] {
        return moved_alltoallv(send, send_counts, send_displacements, send_type, receive, counts, displacements, type,
                               comm);
      },
      send, send_counts, send_displacements, send_type, receive, counts, displacements, type);
}

WEFT_INTERPOSED int ialltoallw(const void* send, const int* send_counts, const int* send_displacements,
                               const MPI_Datatype* send_types, void* receive, const int* counts,
                               const int* displacements, const MPI_Datatype* types, MPI_Comm comm, MPI_Request* request,
                               int external)
{
  static const auto THEIRS = original(&ialltoallw);
  return start_on_host(
      THEIRS, request, external, comm,
      [&] { return describe_alltoallw(nonblocking("alltoallw"), counts, types, comm); },
      [=] {
        return moved_alltoallw(send, send_counts, send_displacements, send_types, receive, counts, displacements, types,
                               comm);
      },
      send, send_counts, send_displacements, send_types, receive, counts, displacements, types);
}

WEFT_INTERPOSED int iscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iscan);
  return start_on_host(
      THEIRS, request, external, comm, [&] { return describe_reduction(nonblocking("scan"), count, type, op); },
      [=] { return prefix(send, receive, count, type, op, false); }, send, receive, count, type, op);
}

WEFT_INTERPOSED int iexscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                            MPI_Request* request, int external)
{
  static const auto THEIRS = original(&iexscan);
  return start_on_host(
      THEIRS, request, external, comm, [&] { return describe_reduction(nonblocking("exscan"), count, type, op); },
      [=] { return prefix(send, receive, count, type, op, true); }, send, receive, count, type, op);
}

// Blocking collectives for which SMPI has a single algorithm.

WEFT_INTERPOSED int gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                            const int* displacements, MPI_Datatype type, int root, MPI_Comm comm)
{
  static const auto THEIRS = original(&gatherv);
  return on_host(
      THEIRS, comm, [&] { return describe_gatherv(blocking("gatherv"), send_count, send_type, root); },
      [&] { return moved_gatherv(send, send_count, send_type, receive, counts, displacements, type, root, comm); },
      send, send_count, send_type, receive, counts, displacements, type, root);
}

WEFT_INTERPOSED int scatterv(const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,
                             void* receive, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  static const auto THEIRS = original(&scatterv);
  return on_host(
      THEIRS, comm, [&] { return describe_gatherv(blocking("scatterv"), count, type, root); },
      [&] { return moved_scatterv(send, counts, displacements, send_type, receive, count, type, root, comm); }, send,
      counts, displacements, send_type, receive, count, type, root);
}

WEFT_INTERPOSED int scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  static const auto THEIRS = original(&scan);
  return on_host(
      THEIRS, comm, [&] { return describe_reduction(blocking("scan"), count, type, op); },
      [&] { return prefix(send, receive, count, type, op, false); }, send, receive, count, type, op);
}

WEFT_INTERPOSED int exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  static const auto THEIRS = original(&exscan);
  return on_host(
      THEIRS, comm, [&] { return describe_reduction(blocking("exscan"), count, type, op); },
      [&] { return prefix(send, receive, count, type, op, true); }, send, receive, count, type, op);
}

WEFT_INTERPOSED int alltoallw(const void* send, const int* send_counts, const int* send_displacements,
                              const MPI_Datatype* send_types, void* receive, const int* counts,
                              const int* displacements, const MPI_Datatype* types, MPI_Comm comm)
{
  static const auto THEIRS = original(&alltoallw);
  return on_host(
      THEIRS, comm, [&] { return describe_alltoallw(blocking("alltoallw"), counts, types, comm); },
      [&] {
        return moved_alltoallw(send, send_counts, send_displacements, send_types, receive, counts, displacements, types,
                               comm);
      },
      send, send_counts, send_displacements, send_types, receive, counts, displacements, types);
}

} // namespace simgrid::smpi::colls
