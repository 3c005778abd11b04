#include "simgrid/collectives.hpp"

#include "base/error.hpp"
#include "simgrid/offload.hpp"
#include "simgrid/private_abi.hpp"

#include <numeric>
#include <simgrid/s4u.hpp>
#include <utility>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

std::int64_t size_of(int count, MPI_Datatype datatype)
{
  int size = 0;
  if (datatype != MPI_DATATYPE_NULL)
    PMPI_Type_size(datatype, &size);
  return static_cast<std::int64_t>(count) * size;
}

std::int64_t sum_of(const int* counts, MPI_Comm comm)
{
  return std::accumulate(counts, counts + comm->size(), std::int64_t{0});
}

/** The ranks, by actor id, that are in one of our entries: SMPI's algorithms call further collectives. */
std::vector<bool>& inside()
{
  static std::vector<bool> flags;
  return flags;
}

bool is_inside(aid_t pid)
{
  return static_cast<std::size_t>(pid) < inside().size() && inside()[static_cast<std::size_t>(pid)];
}

void set_inside(aid_t pid, bool value)
{
  const auto at = static_cast<std::size_t>(pid);
  if (at >= inside().size())
    inside().resize(at + 1);
  inside()[at] = value;
}

/** One rank's stay in one call: entered when made, counted when it ends. */
class Call {
  Simulation& simulation_;
  CallSignature signature_;
  double bytes_;
  aid_t pid_;
  double start_;

public:
  int rank;
  int size;
  Communicator* communicator = nullptr; ///< none where it is alone
  std::shared_ptr<PendingCall> pending; ///< none where it is alone
  CallPath path;

  Call(const CallSignature& signature, std::int64_t bytes, MPI_Comm comm)
      : simulation_(Simulation::get()), signature_(signature), bytes_(static_cast<double>(bytes)),
        pid_(sg::this_actor::get_pid()), start_(sg::Engine::get_clock()), rank(comm->rank()), size(comm->size())
  {
    set_inside(pid_, true);
    if (size == 1)
      path.reason = simulation_.granularity == Granularity::off ? Fallback::policy : Fallback::one_rank;
    else
      enter(comm);
    if (path.reason == Fallback::none)
      path.granularity = simulation_.granularity;
  }
  Call(const Call&)            = delete;
  Call& operator=(const Call&) = delete;
  ~Call()
  {
    set_inside(pid_, false);
    simulation_.record.count(signature_.collective, size, signature_.datatype, signature_.operation, path, bytes_,
                             sg::Engine::get_clock() - start_);
    if (pending)
      communicator->leave(rank, *pending);
  }

private:
  void enter(MPI_Comm comm)
  {
    communicator = &simulation_.communicator(comm, rank);
    pending      = communicator->enter(rank, signature_);
    if (pending->entered == 1) {
      simulation_.check_members(*communicator);
      pending->decision = simulation_.decide(*communicator, signature_, Bytes(bytes_));
    } else if (not pending->signature.agrees_with(signature_))
      simulation_.mismatch(*communicator, calls());
    path.reason = pending->decision;
  }

  std::string calls() const
  {
    return "collective number " + std::to_string(communicator->calls_made(rank)) +
           " is not the same call at all ranks: rank " + std::to_string(pending->first_rank) + " called " +
           pending->signature.text() + ", rank " + std::to_string(rank) + " called " + signature_.text();
  }
};

/** Whether a call is the program's own: not made by another collective, nor by SMPI while it makes the communicator. */
bool is_own_call(MPI_Comm comm)
{
  return comm->id() != MPI_UNDEFINED && not is_inside(sg::this_actor::get_pid());
}

/** What a collective says of one call. */
struct Described {
  CallSignature signature;
  std::int64_t bytes;
  /** No rank has anything to give. Some of SMPI's algorithms divide by the count, so they must not see such a call; MPI
   *  libraries return from it at once. */
  bool empty = false;
};

/** One collective: SMPI's name for it and the algorithm that it falls back to. */
template <class Function> struct Entry {
  const char* name;
  Function selected = nullptr;
  Function simplest = nullptr; ///< SMPI's "default": not all others survive a communicator of one rank

  Function fallback(MPI_Comm comm) const { return comm->size() == 1 ? simplest : selected; }

  /** Count a call and give it to the fallback. @p describe makes a Described only where it is needed. */
  template <class Describe, class... Arguments>
  int on_host(MPI_Comm comm, Describe&& describe, Arguments... arguments) const
  {
    if (not is_own_call(comm))
      return fallback(comm)(arguments...);
    const Described described = describe();
    const Call call(described.signature, described.bytes, comm);
    return described.empty ? MPI_SUCCESS : fallback(comm)(arguments...);
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

/** SMPI calls an algorithm without a context. */
struct Entries {
  Entry<AllreduceFunction> allreduce{"allreduce"};
  Entry<ReduceFunction> reduce{"reduce"};
  Entry<ReduceScatterFunction> reduce_scatter{"reduce_scatter"};
  Entry<BarrierFunction> barrier{"barrier"};
  Entry<BcastFunction> bcast{"bcast"};
  Entry<RootedFunction> gather{"gather"};
  Entry<RootedFunction> scatter{"scatter"};
  Entry<AllFunction> allgather{"allgather"};
  Entry<AllFunction> alltoall{"alltoall"};
  Entry<AllgathervFunction> allgatherv{"allgatherv"};
  Entry<AlltoallvFunction> alltoallv{"alltoallv"};
};

Entries& entries()
{
  static Entries all;
  return all;
}

int allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  if (not is_own_call(comm))
    return entries().allreduce.fallback(comm)(send, receive, count, type, op, comm);
  const Call call({"allreduce", type, op, count}, size_of(count, type), comm);
  const AggregationArguments arguments{send, receive, count, type, op};
  switch (call.path.granularity) {
    case Granularity::stream:
      aggregate_as_stream(Simulation::get(), *call.communicator, call.rank, *call.pending, arguments);
      return MPI_SUCCESS;
    case Granularity::message:
      aggregate_as_messages(Simulation::get(), *call.communicator, call.rank, *call.pending, arguments);
      return MPI_SUCCESS;
    case Granularity::off:
      break;
  }
  return count == 0 ? MPI_SUCCESS : entries().allreduce.fallback(comm)(send, receive, count, type, op, comm);
}

int reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
  return entries().reduce.on_host(
      comm, [&] { return Described{{"reduce", type, op, count, root}, size_of(count, type), count == 0}; }, send,
      receive, count, type, op, root, comm);
}

int reduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  return entries().reduce_scatter.on_host(
      comm,
      [&] {
        const std::int64_t count = sum_of(counts, comm);
        return Described{{"reduce_scatter", type, op, count}, count * size_of(1, type)};
      },
      send, receive, counts, type, op, comm);
}

int barrier(MPI_Comm comm)
{
  return entries().barrier.on_host(comm, [] { return Described{{"barrier"}, 0}; }, comm);
}

// From here on, MPI asks only for equal type signatures (count x type), which are not compared.

int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  return entries().bcast.on_host(
      comm,
      [&] {
        const std::int64_t bytes = size_of(count, type);
        return Described{{"bcast", MPI_DATATYPE_NULL, MPI_OP_NULL, 0, root}, bytes, bytes == 0};
      },
      buffer, count, type, root, comm);
}

int gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
           int root, MPI_Comm comm)
{
  return entries().gather.on_host(
      comm,
      [&] {
        // At the root the send arguments may be MPI_IN_PLACE's, elsewhere the receive arguments mean nothing.
        const std::int64_t bytes = comm->rank() == root ? size_of(count, type) : size_of(send_count, send_type);
        return Described{{"gather", MPI_DATATYPE_NULL, MPI_OP_NULL, 0, root}, bytes};
      },
      send, send_count, send_type, receive, count, type, root, comm);
}

int scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
            int root, MPI_Comm comm)
{
  return entries().scatter.on_host(
      comm,
      [&] {
        const std::int64_t bytes = comm->rank() == root ? size_of(send_count, send_type) : size_of(count, type);
        return Described{{"scatter", MPI_DATATYPE_NULL, MPI_OP_NULL, 0, root}, bytes};
      },
      send, send_count, send_type, receive, count, type, root, comm);
}

int allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
              MPI_Comm comm)
{
  return entries().allgather.on_host(
      comm, [&] { return Described{{"allgather"}, size_of(count, type)}; }, send, send_count, send_type, receive, count,
      type, comm);
}

int alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
             MPI_Comm comm)
{
  return entries().alltoall.on_host(
      comm, [&] { return Described{{"alltoall"}, size_of(count, type) * comm->size()}; }, send, send_count, send_type,
      receive, count, type, comm);
}

int allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
               const int* displacements, MPI_Datatype type, MPI_Comm comm)
{
  return entries().allgatherv.on_host(
      comm,
      [&] {
        const int own = counts[comm->rank()];
        return Described{{"allgatherv"}, size_of(own, type), own == 0 && sum_of(counts, comm) == 0};
      },
      send, send_count, send_type, receive, counts, displacements, type, comm);
}

int alltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
              void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm)
{
  return entries().alltoallv.on_host(
      comm, [&] { return Described{{"alltoallv"}, sum_of(counts, comm) * size_of(1, type)}; }, send, send_counts,
      send_displacements, send_type, receive, counts, displacements, type, comm);
}

/** The name of the algorithm that SMPI would run without us. */
std::string selected_algorithm(const std::string& option)
{
  auto chosen = simgrid::config::get_value<std::string>(option.c_str());
  if (not chosen.empty() && chosen != "weft")
    return chosen;
  const auto selector = simgrid::config::get_value<std::string>("smpi/coll-selector");
  return selector.empty() ? "default" : selector;
}

template <class Function> void register_entry(Simulation& simulation, Entry<Function>& entry, Function ours)
{
  const std::string option   = std::string("smpi/") + entry.name;
  const std::string selected = selected_algorithm(option);
  if (selected == "automatic")
    throw UserError(option + ": \"automatic\" runs all algorithms that are registered, weft's too; take one of them");
  auto* algorithms = simgrid::smpi::colls::get_smpi_coll_descriptions(entry.name);
  std::vector<std::string> names;
  for (const auto& algorithm : *algorithms) {
    names.push_back(algorithm.name);
    if (algorithm.name == selected)
      entry.selected = reinterpret_cast<Function>(algorithm.coll);
    if (algorithm.name == "default")
      entry.simplest = reinterpret_cast<Function>(algorithm.coll);
  }
  if (not entry.selected)
    throw UserError(option + ": SMPI has no algorithm \"" + selected + "\" for it; allowed: " + join(names));
  simulation.algorithms[entry.name] = selected;
  algorithms->push_back(
      {"weft", "offloads to smart switches, else falls back to what was selected", reinterpret_cast<void*>(ours)});
  simgrid::config::set_value<std::string>(option.c_str(), "weft");
}

} // namespace

void register_collectives(Simulation& simulation)
{
  register_entry(simulation, entries().allreduce, &allreduce);
  register_entry(simulation, entries().reduce, &reduce);
  register_entry(simulation, entries().reduce_scatter, &reduce_scatter);
  register_entry(simulation, entries().barrier, &barrier);
  register_entry(simulation, entries().bcast, &bcast);
  register_entry(simulation, entries().gather, &gather);
  register_entry(simulation, entries().scatter, &scatter);
  register_entry(simulation, entries().allgather, &allgather);
  register_entry(simulation, entries().alltoall, &alltoall);
  register_entry(simulation, entries().allgatherv, &allgatherv);
  register_entry(simulation, entries().alltoallv, &alltoallv);
}

} // namespace weft
