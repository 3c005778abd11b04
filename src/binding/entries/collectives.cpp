// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/collectives.hpp"

#include "base/error.hpp"
#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/calls/call.hpp"
#include "binding/calls/host_calls.hpp"
#include "binding/data/descriptions.hpp"
#include "binding/entries/direct_calls.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "model/collective/call_descriptor.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <xbt/config.hpp>

namespace weft {
namespace {

/** Collective with its fallback algorithm. SMPI uses the same collective names. */
template <class Function> struct Entry {
  CallDescriptor called; ///< without arguments
  Function selected = nullptr;
  Function simplest = nullptr; ///< SMPI's "default": not every algorithm supports a communicator of one rank

  Function fallback(MPI_Comm comm) const { return comm->size() == 1 ? simplest : selected; }

  /** Executes a call. @p describe fills the call's descriptor, @p buffers returns a RankBuffers and @p parts a call of
   * host_calls.hpp; each is called only if needed. */
  template <class Describe, class Buffers, class Parts, class... Arguments>
  int carry_out(MPI_Comm comm, MPI_Op operation, Describe&& describe, Buffers&& buffers, Parts&& parts,
                Arguments... arguments) const
  {
    if (not is_own_call(comm))
      return run_within(comm, address(arguments)...);
    Call call(current_run(), [&] { return describe(called); }, comm);
    if (call.offloaded()) {
      call.offload(buffers(), operation);
      return MPI_SUCCESS;
    }
    return run_on_host(call, comm, parts, address(arguments)...);
  }

  /** Executes a call that is not offloaded. Out of line, so that offloaded calls need no stack for it. */
  template <class Parts, class... Arguments>
  [[gnu::noinline]] int run_on_host(Call& call, MPI_Comm comm, const Parts& parts, Arguments... arguments) const
  {
    const CollectiveScope inside;
    if (call.empty())
      return MPI_SUCCESS;
    bool refused = false;
    return run_on_hosts(
        call, comm, parts,
        [&](auto... placeholders) {
          const int status = run(refused ? simplest : fallback(comm), placeholders...);
          refused          = status == REFUSED_BY_SMPI;
          return status;
        },
        arguments...);
  }

  /** Runs SMPI's algorithm, which may refuse a call before its first message: most do for some numbers of ranks. */
  template <class... Arguments> static int run(Function algorithm, Arguments... arguments)
  {
    try {
      const int status = algorithm(arguments...);
      return status == MPI_ERR_OTHER ? REFUSED_BY_SMPI : status;
    } catch (const std::invalid_argument&) {
      return REFUSED_BY_SMPI;
    }
  }

  /** Executes a call made by another collective or by the creation of a communicator. Out of line. */
  template <class... Arguments> [[gnu::noinline]] int run_within(MPI_Comm comm, Arguments... arguments) const
  {
    const int status = run(fallback(comm), arguments...);
    return status == REFUSED_BY_SMPI ? simplest(arguments...) : status;
  }

  /** Executes a call that is never offloaded. */
  template <class Describe, class Parts, class... Arguments>
  int on_host(MPI_Comm comm, Describe&& describe, Parts&& parts, Arguments... arguments) const
  {
    return carry_out(comm, MPI_OP_NULL, describe, [] { return RankBuffers(); }, parts, arguments...);
  }
};

using AllreduceFunction     = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
using ReduceFunction        = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
using ReduceScatterFunction = int (*)(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
using BarrierFunction       = int (*)(MPI_Comm);
using BcastFunction         = int (*)(void*, int, MPI_Datatype, int, MPI_Comm);
using RootedFunction        = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
using AllFunction           = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
using AllgathervFunction    = int (*)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                                      MPI_Comm);
using AlltoallvFunction     = int (*)(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*,
                                      MPI_Datatype, MPI_Comm);

/** Global entries, because SMPI calls algorithms without a context. */
struct Entries {
  Entry<AllreduceFunction> allreduce{blocking("allreduce")};
  Entry<ReduceFunction> reduce{blocking("reduce")};
  Entry<ReduceScatterFunction> reduce_scatter{blocking("reduce_scatter")};
  Entry<BarrierFunction> barrier{blocking("barrier")};
  Entry<BcastFunction> bcast{blocking("bcast")};
  Entry<RootedFunction> gather{blocking("gather")};
  Entry<RootedFunction> scatter{blocking("scatter")};
  Entry<AllFunction> allgather{blocking("allgather")};
  Entry<AllFunction> alltoall{blocking("alltoall")};
  Entry<AllgathervFunction> allgatherv{blocking("allgatherv")};
  Entry<AlltoallvFunction> alltoallv{blocking("alltoallv")};
};

/** Names of the entries. */
constexpr std::array REGISTERED{"allreduce", "reduce",    "reduce_scatter", "barrier",    "bcast",    "gather",
                                "scatter",   "allgather", "alltoall",       "allgatherv", "alltoallv"};

Entries& entries()
{
  static Entries all;
  return all;
}

int allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  return entries().allreduce.carry_out(
      comm, op, [&](auto called) { return describe_reduction(called, count, type, op); },
      [&] { return reduction_buffers(send, receive, count, type); },
      [&] { return reduced_allreduce(send, receive, count, type, op); }, send, receive, count, type, op, comm);
}

int reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
  let_pass(op, type);
  return entries().reduce.carry_out(
      comm, op, [&](auto called) { return describe_reduction(called, count, type, op, root); },
      [&] { return reduction_buffers(send, receive, count, type); },
      [&] { return reduced_reduce(send, receive, count, type, op, root); }, send, receive, count, type, op, root, comm);
}

int reduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  return entries().reduce_scatter.carry_out(
      comm, op, [&](auto called) { return describe_reduce_scatter(called, counts, type, op, comm); },
      [&] { return reduce_scatter_buffers(send, receive, counts, type, comm); },
      [&] { return reduced_scatter(send, receive, counts, type, op, comm); }, send, receive, counts, type, op, comm);
}

int barrier(MPI_Comm comm)
{
  return entries().barrier.carry_out(
      comm, MPI_OP_NULL, [](auto called) { return describe_barrier(called); }, [] { return RankBuffers(); },
      [] { return EmptyCall(); }, comm);
}

int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  if (is_being_made(comm)) {
    *static_cast<int*>(buffer) = agreed_id(comm);
    return MPI_SUCCESS;
  }
  return entries().bcast.carry_out(
      comm, MPI_OP_NULL, [&](auto called) { return describe_bcast(called, count, type, root); },
      [&] { return RankBuffers{buffer, count, type, buffer, count, type}; },
      [&] { return moved_bcast(buffer, count, type, root, comm); }, buffer, count, type, root, comm);
}

int allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
              MPI_Comm comm)
{
  return entries().allgather.carry_out(
      comm, MPI_OP_NULL, [&](auto called) { return describe_allgather(called, count, type); },
      [&] { return RankBuffers{send, send_count, send_type, receive, count, type}; },
      [&] { return moved_allgather(send, send_count, send_type, receive, count, type, comm); }, send, send_count,
      send_type, receive, count, type, comm);
}

int allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
               const int* displacements, MPI_Datatype type, MPI_Comm comm)
{
  return entries().allgatherv.carry_out(
      comm, MPI_OP_NULL, [&](auto called) { return describe_allgatherv(called, counts, type, comm); },
      [&] { return RankBuffers{send, send_count, send_type, receive, 0, type, counts, displacements}; },
      [&] { return moved_allgatherv(send, send_count, send_type, receive, counts, displacements, type, comm); }, send,
      send_count, send_type, receive, counts, displacements, type, comm);
}

int gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
           int root, MPI_Comm comm)
{
  return entries().gather.on_host(
      comm, [&](auto called) { return describe_gather(called, send_count, send_type, count, type, root, comm); },
      [&] { return moved_gather(send, send_count, send_type, receive, count, type, root, comm); }, send, send_count,
      send_type, receive, count, type, root, comm);
}

int scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
            int root, MPI_Comm comm)
{
  // The root sends each rank the amount that each rank receives.
  return entries().scatter.on_host(
      comm, [&](auto called) { return describe_gather(called, count, type, send_count, send_type, root, comm); },
      [&] { return moved_scatter(send, send_count, send_type, receive, count, type, root, comm); }, send, send_count,
      send_type, receive, count, type, root, comm);
}

int alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
             MPI_Comm comm)
{
  return entries().alltoall.carry_out(
      comm, MPI_OP_NULL, [&](auto called) { return describe_alltoall(called, count, type, comm); },
      [&] { return RankBuffers{send, send_count, send_type, receive, count, type}; },
      [&] { return moved_alltoall(send, send_count, send_type, receive, count, type, comm); }, send, send_count,
      send_type, receive, count, type, comm);
}

int alltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
              void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm)
{
  return entries().alltoallv.on_host(
      comm, [&](auto called) { return describe_alltoallv(called, counts, type, comm); },
      [&] {
        return moved_alltoallv(send, send_counts, send_displacements, send_type, receive, counts, displacements, type,
                               comm);
      },
      send, send_counts, send_displacements, send_type, receive, counts, displacements, type, comm);
}

/** Returns the name of SMPI's algorithm for a collective; if weft executes the collective itself, this algorithm serves
 * calls that are not the program's own. SMPI's option for the collective takes precedence over the fallback. */
std::string selected_algorithm(RunContext& context, const std::string& collective)
{
  auto chosen = simgrid::config::get_value<std::string>(("smpi/" + collective).c_str());
  if (not chosen.empty() && chosen != "weft") {
    context.hosts_fallback.leave_to_smpi(collective, chosen);
    for (Job& job : context.jobs.all())
      if (job.fallback)
        job.fallback->leave_to_smpi(collective, chosen);
    return chosen;
  }
  std::string smpi = context.hosts_fallback.smpi(collective);
  if (not smpi.empty())
    return smpi;
  const auto selector = simgrid::config::get_value<std::string>("smpi/coll-selector");
  return selector.empty() ? "default" : selector;
}

/** Returns the defect of an SMPI algorithm that fails in calls allowed by MPI; null if none is known. Found with
 * SimGrid 4.1 by random programs under each algorithm; all fail without weft too, except those that peek at other
 * ranks' messages. */
const char* defect_of(const std::string& option, const std::string& algorithm)
{
  constexpr auto UNEVEN   = "hangs if the ranks of a host are not a power of two";
  constexpr auto WRONG    = "adds wrongly";
  constexpr auto IN_PLACE = "crashes on MPI_IN_PLACE";
  constexpr auto LOOKS    = "looks for messages of other calls, which it takes for its own";
  static const std::map<std::pair<std::string_view, std::string_view>, const char*> DEFECTS{
      {{"smpi/allreduce", "smp_rdb"}, UNEVEN},
      {{"smpi/allreduce", "smp_binomial"}, UNEVEN},
      {{"smpi/allreduce", "smp_rsag"}, WRONG},
      {{"smpi/allreduce", "smp_rsag_lr"}, WRONG},
      {{"smpi/allreduce", "smp_rsag_rab"}, WRONG},
      {{"smpi/alltoall", "pair_rma"}, "moves wrong data, or crashes"},
      {{"smpi/barrier", "ompi_two_procs"}, "hangs with more than two ranks"},
      {{"smpi/bcast", "arrival_pattern_aware"}, LOOKS},
      {{"smpi/bcast", "arrival_pattern_aware_wait"}, LOOKS},
      {{"smpi/bcast", "arrival_scatter"}, "overflows its stack"},
      {{"smpi/reduce", "arrival_pattern_aware"}, LOOKS},
      {{"smpi/reduce", "NTSL"}, IN_PLACE},
      {{"smpi/reduce", "rab"}, IN_PLACE}};
  const auto found = DEFECTS.find({option, algorithm});
  return found != DEFECTS.end() ? found->second : nullptr;
}

template <class Function> void register_entry(RunContext& context, Entry<Function>& entry, Function ours)
{
  const std::string name     = entry.called.name();
  const std::string option   = "smpi/" + name;
  const std::string selected = selected_algorithm(context, name);
  std::vector<const Mechanism*> offered; // mechanisms selectable as algorithms
  for (const auto& mechanism : context.selector.mechanisms())
    if (mechanism->as_algorithm() && mechanism->does(*entry.called.kind))
      offered.push_back(mechanism.get());
  const bool takes_mechanism =
      std::ranges::any_of(offered, [&](const Mechanism* its) { return its->kind.name == selected; });
  if (selected == "automatic")
    throw UserError(option + ": \"automatic\" runs all registered algorithms, including weft's; choose one of them");
  if (const char* defect = defect_of(option, selected))
    throw UserError(option + ": SMPI's \"" + selected + "\" " + defect +
                    "; choose another, or none for Open MPI's selection");
  auto* algorithms = simgrid::smpi::colls::get_smpi_coll_descriptions(name);
  std::vector<std::string> names;
  for (const auto& algorithm : *algorithms) {
    names.push_back(algorithm.name);
    // Calls that the mechanism cannot execute use the default algorithm.
    if (algorithm.name == (takes_mechanism ? "default" : selected))
      entry.selected = reinterpret_cast<Function>(algorithm.coll);
    if (algorithm.name == "default")
      entry.simplest = reinterpret_cast<Function>(algorithm.coll);
  }
  for (const Mechanism* mechanism : offered)
    names.emplace_back(mechanism->kind.name);
  if (not entry.selected)
    throw UserError(option + ": SMPI has no algorithm \"" + selected + "\" for it; allowed: " + join(names));
  context.algorithms[name] = selected;
  for (const Mechanism* mechanism : offered)
    algorithms->push_back(
        {std::string(mechanism->kind.name), mechanism->as_algorithm(), reinterpret_cast<void*>(ours)});
  algorithms->push_back(
      {"weft", "offloads to smart switches, else falls back to what was selected", reinterpret_cast<void*>(ours)});
  simgrid::config::set_value<std::string>(option.c_str(), "weft");
}

/** Restricts a fallback for all collectives to those for which SMPI has it: SMPI's selectors cover all collectives,
 * most of its algorithms only one. */
void see_what_smpi_has(HostFallback& fallback)
{
  if (fallback.smpi_for_all().empty())
    return;
  std::vector<std::string> having;
  for (const char* collective : REGISTERED)
    if (std::ranges::count(*simgrid::smpi::colls::get_smpi_coll_descriptions(collective), fallback.smpi_for_all(),
                           &simgrid::smpi::s_mpi_coll_description_t::name) > 0)
      having.emplace_back(collective);
  if (having.empty())
    throw UserError("--fallback: found \"smpi:" + fallback.smpi_for_all() +
                    "\", but SMPI has no algorithm of that name; `smpirun --help-coll` lists them");
  if (having.size() < REGISTERED.size())
    fallback.leave_only(having);
}

} // namespace

int hosts_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  return entries().allreduce.run_within(comm, send, receive, count, type, op, comm);
}

int hosts_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, MPI_Comm comm)
{
  return entries().allgather.run_within(comm, send, send_count, send_type, receive, count, type, comm);
}

void register_collectives(RunContext& context)
{
  see_what_smpi_has(context.hosts_fallback);
  register_entry(context, entries().allreduce, &allreduce);
  register_entry(context, entries().reduce, &reduce);
  register_entry(context, entries().reduce_scatter, &reduce_scatter);
  register_entry(context, entries().barrier, &barrier);
  register_entry(context, entries().bcast, &bcast);
  register_entry(context, entries().gather, &gather);
  register_entry(context, entries().scatter, &scatter);
  register_entry(context, entries().allgather, &allgather);
  register_entry(context, entries().alltoall, &alltoall);
  register_entry(context, entries().allgatherv, &allgatherv);
  register_entry(context, entries().alltoallv, &alltoallv);
}

} // namespace weft
