// SPDX-License-Identifier: LGPL-2.1-only
/* Persistent collectives (MPI 4.1, sections 6.13 and 8.8): a start makes the non-blocking call, which switches or hosts
 * execute as usual. The first start checks the arguments, and makes a plan if later starts may skip the checks. */
#include "binding/abi/original.hpp"
#include "binding/calls/call_plan.hpp"
#include "binding/data/elements.hpp"
#include "binding/data/virtual_topology.hpp"
#include "binding/entries/direct_calls.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/ranks/places.hpp"
#include "binding/settings/tunings.hpp"
#include "mpi/names.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Datatype of a persistent request. While the program's handle is valid, starts use it, because the program's
 * operations are called with it; a copy replaces it once the program has freed it. */
class KeptType {
  HeldType given_;
  MPI_Datatype copy_ = MPI_DATATYPE_NULL;

public:
  explicit KeptType(MPI_Datatype type) : given_(type)
  {
    if (type != MPI_DATATYPE_NULL && not is_predefined(type) && PMPI_Type_dup(type, &copy_) != MPI_SUCCESS)
      copy_ = MPI_DATATYPE_NULL;
  }
  KeptType(KeptType&& other) noexcept
      : given_(std::move(other.given_)), copy_(std::exchange(other.copy_, MPI_DATATYPE_NULL))
  {
  }
  KeptType(const KeptType&)            = delete;
  KeptType& operator=(const KeptType&) = delete;
  KeptType& operator=(KeptType&&)      = delete;
  ~KeptType()
  {
    if (copy_ != MPI_DATATYPE_NULL)
      PMPI_Type_free(&copy_);
  }
  MPI_Datatype get() const { return copy_ != MPI_DATATYPE_NULL && is_freed(given_.get()) ? copy_ : given_.get(); }
};

/** Datatypes of a persistent request, one per rank. */
class KeptTypes {
  std::vector<KeptType> kept_;
  mutable std::vector<MPI_Datatype> types_; // of the latest start

public:
  KeptTypes(const MPI_Datatype* types, int count) : types_(static_cast<std::size_t>(count))
  {
    for (int i = 0; i < count; ++i)
      kept_.emplace_back(types[i]);
  }
  const MPI_Datatype* get() const
  {
    for (std::size_t i = 0; i < kept_.size(); ++i)
      types_[i] = kept_[i].get();
    return types_.data();
  }
};

/** Argument of a persistent request. */
template <class Type> class KeptArgument {
  Type value_;

public:
  explicit KeptArgument(Type value) : value_(value) {}
  Type get() const { return value_; }
};
template <class Type> KeptArgument<Type> keep_argument(Type value)
{
  return KeptArgument<Type>(value);
}
KeptType keep_argument(MPI_Datatype type)
{
  return KeptType(type);
}

// Return whether a plan may keep an argument. Handles that the program frees are replaced, and SMPI copies data for
// MPI_IN_PLACE at each start.
template <class Type> bool may_be_planned(const Type& argument)
{
  if constexpr (std::is_same_v<Type, KeptType>)
    return argument.get() == MPI_DATATYPE_NULL || is_predefined(argument.get());
  else if constexpr (std::is_same_v<Type, KeptArgument<MPI_Op>>)
    return is_predefined(argument.get());
  else if constexpr (std::is_same_v<Type, KeptArgument<const void*>> || std::is_same_v<Type, KeptArgument<void*>>)
    return argument.get() != MPI_IN_PLACE;
  else
    return not std::is_same_v<Type, KeptTypes>;
}

template <class Start, class... Kept> class PersistentCollective : public PersistentOperation {
  Start start_;
  std::tuple<Kept...> arguments_;
  MPI_Comm comm_;
  bool has_plan_;
  CallPlan plan_;

  int start_checked(MPI_Request* active) const
  {
    return std::apply([&](const auto&... all) { return start_(all.get()..., active); }, arguments_);
  }

public:
  explicit PersistentCollective(Start start_it, Kept&&... arguments)
      : start_(start_it), arguments_(std::move(arguments)...),
        comm_(std::get<KeptArgument<MPI_Comm>>(arguments_).get()),
        has_plan_(calls_are_direct() && not intercommunicator_of(comm_) &&
                  std::apply([](const auto&... all) { return (may_be_planned(all) && ...); }, arguments_))
  {
    if constexpr (std::is_same_v<Start, decltype(&PMPI_Ireduce_scatter_block)>)
      has_plan_ = has_plan_ &&
                  start_ != &PMPI_Ireduce_scatter_block; // its counts belong to SMPI, which creates them at each start
  }
  int start(MPI_Request* active) override
  {
    if (not has_plan_)
      return start_checked(active);
    if (plan_.made() && is_usable(comm_))
      return plan_.start(active);
    const PlanScope plan(plan_, comm_);
    return start_checked(active);
  }
};

/** Checks the arguments that the initialization itself uses; the start checks the rest. */
int check_persistent(MPI_Comm comm, const MPI_Request* request)
{
  return first_error([&] { return check_comm(comm); }, [&] { return check_present(request, "request"); });
}

int check_reduced(int count, MPI_Datatype type, MPI_Op operation)
{
  if (count < 0)
    return wrong_number(MPI_ERR_COUNT, "the count", count, "from 0 on");
  if (const int result = check_type(type); result != MPI_SUCCESS)
    return result;
  return operation == MPI_OP_NULL ? wrong(MPI_ERR_OP, "the operation is MPI_OP_NULL") : static_cast<int>(MPI_SUCCESS);
}

int check_data(int count, MPI_Datatype type)
{
  return count < 0 ? wrong_number(MPI_ERR_COUNT, "the count", count, "from 0 on") : check_type(type);
}

int check_root(int root, MPI_Comm comm)
{
  return root < 0 || root >= place_in(comm).size ? wrong_rank(MPI_ERR_ROOT, "the root", root, comm)
                                                 : static_cast<int>(MPI_SUCCESS);
}

/** Checks the root, and by @p check_rest further arguments, of a rooted collective. On an intercommunicator, the root
 * determines which arguments are significant; the start checks them. */
template <class Check> int check_rooted(int root, MPI_Comm comm, Check&& check_rest)
{
  return intercommunicator_of(comm) ? static_cast<int>(MPI_SUCCESS)
                                    : first_error(check_rest, [&] { return check_root(root, comm); });
}
int check_rooted(int root, MPI_Comm comm)
{
  return check_rooted(root, comm, [] { return static_cast<int>(MPI_SUCCESS); });
}

template <class Start, class... Kept> int make_of_kept(Start start, MPI_Request* request, Kept&&... kept)
{
  return make_persistent(std::make_unique<PersistentCollective<Start, Kept...>>(start, std::move(kept)...), request);
}

template <class Start, class... Arguments>
int make_persistent_collective(Start start, MPI_Request* request, Arguments... arguments)
{
  return make_of_kept(start, request, keep_argument(arguments)...);
}

/** Returns the numbers of datatypes of MPI_Alltoallw or, with displacements in bytes, of MPI_Neighbor_alltoallw. */
Degrees numbers_of_types(MPI_Comm comm, const int* /*displacements*/)
{
  return {place_in(comm).size, place_in(comm).size};
}
Degrees numbers_of_types(MPI_Comm comm, const MPI_Aint* /*displacements*/)
{
  return topology_of(comm) ? degrees_in(comm) : Degrees{0, 0};
}

template <class Start, class Offset>
int make_persistent_collective(Start start, MPI_Request* request, const void* send, const int* send_counts,
                               const Offset* send_offsets, const MPI_Datatype* send_types, void* receive,
                               const int* counts, const Offset* offsets, const MPI_Datatype* types, MPI_Comm comm)
{
  const Degrees numbers = numbers_of_types(comm, offsets);
  return make_of_kept(start, request, keep_argument(send), keep_argument(send_counts), keep_argument(send_offsets),
                      KeptTypes(send_types, send == MPI_IN_PLACE ? 0 : numbers.out), keep_argument(receive),
                      keep_argument(counts), keep_argument(offsets), KeptTypes(types, numbers.in), keep_argument(comm));
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

/** Defines MPI_@p name_init by MPI_@p nonblocking. @p check is an expression on its arguments. */
#define WEFT_PERSISTENT(name, nonblocking, check, parameters, ...)                                                     \
  WEFT_INTERPOSED int PMPI_##name##_init(parameters, MPI_Info info, MPI_Request* request)                              \
  {                                                                                                                    \
    static MpiFunction function{"MPI_" #name "_init", CallKind::collectives, false};                                   \
    return own_function<trace::calls::name##_init>(                                                                    \
        function, [&] { return first_error([&] { return check_persistent(comm, request); }, [&] { return check; }); }, \
        [&] { return make_persistent_collective(&PMPI_##nonblocking, request, __VA_ARGS__); }, __VA_ARGS__, info,      \
        request);                                                                                                      \
  }                                                                                                                    \
  WEFT_INTERPOSED int MPI_##name##_init(parameters, MPI_Info info, MPI_Request* request)                               \
  {                                                                                                                    \
    return weft::handled(comm, "MPI_" #name "_init", PMPI_##name##_init(__VA_ARGS__, info, request));                  \
  }

#define WEFT_ALL(...) __VA_ARGS__
#define WEFT_RIGHT static_cast<int>(MPI_SUCCESS)
#define WEFT_DATA_IN                                                                                                   \
  const void *send, int send_count, MPI_Datatype send_type, void *receive, int count, MPI_Datatype type
#define WEFT_DATA_NAMES send, send_count, send_type, receive, count, type
#define WEFT_GATHERED_IN                                                                                               \
  const void *send, int send_count, MPI_Datatype send_type, void *receive, const int *counts,                          \
      const int *displacements, MPI_Datatype type
#define WEFT_GATHERED_NAMES send, send_count, send_type, receive, counts, displacements, type
#define WEFT_SCATTERED_IN                                                                                              \
  const void *send, const int *counts, const int *displacements, MPI_Datatype send_type, void *receive, int count,     \
      MPI_Datatype type
#define WEFT_SCATTERED_NAMES send, counts, displacements, send_type, receive, count, type
#define WEFT_PARTS_IN                                                                                                  \
  const void *send, const int *send_counts, const int *send_displacements, MPI_Datatype send_type, void *receive,      \
      const int *counts, const int *displacements, MPI_Datatype type
#define WEFT_PARTS_NAMES send, send_counts, send_displacements, send_type, receive, counts, displacements, type
#define WEFT_TYPED_IN(Offset)                                                                                          \
  const void *send, const int *send_counts, const Offset *send_offsets, const MPI_Datatype *send_types, void *receive, \
      const int *counts, const Offset *offsets, const MPI_Datatype *types
#define WEFT_TYPED_NAMES send, send_counts, send_offsets, send_types, receive, counts, offsets, types
#define WEFT_REDUCED_IN const void *send, void *receive, int count, MPI_Datatype type, MPI_Op operation
#define WEFT_REDUCED_NAMES send, receive, count, type, operation

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_PERSISTENT(Barrier, Ibarrier, WEFT_RIGHT, MPI_Comm comm, comm)
WEFT_PERSISTENT(Bcast, Ibcast, check_rooted(root, comm, [&] { return check_data(count, type); }),
                WEFT_ALL(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), buffer, count, type,
                root, comm)
WEFT_PERSISTENT(Allreduce, Iallreduce, check_reduced(count, type, operation), WEFT_ALL(WEFT_REDUCED_IN, MPI_Comm comm),
                WEFT_REDUCED_NAMES, comm)
WEFT_PERSISTENT(Scan, Iscan, check_reduced(count, type, operation), WEFT_ALL(WEFT_REDUCED_IN, MPI_Comm comm),
                WEFT_REDUCED_NAMES, comm)
WEFT_PERSISTENT(Exscan, Iexscan, check_reduced(count, type, operation), WEFT_ALL(WEFT_REDUCED_IN, MPI_Comm comm),
                WEFT_REDUCED_NAMES, comm)
WEFT_PERSISTENT(Reduce_scatter_block, Ireduce_scatter_block, check_reduced(count, type, operation),
                WEFT_ALL(WEFT_REDUCED_IN, MPI_Comm comm), WEFT_REDUCED_NAMES, comm)
WEFT_PERSISTENT(Reduce, Ireduce, check_rooted(root, comm, [&] { return check_reduced(count, type, operation); }),
                WEFT_ALL(WEFT_REDUCED_IN, int root, MPI_Comm comm), WEFT_REDUCED_NAMES, root, comm)
WEFT_PERSISTENT(Reduce_scatter, Ireduce_scatter,
                first_error([&] { return check_present(counts, "recvcounts"); },
                            [&] { return check_reduced(0, type, operation); }),
                WEFT_ALL(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op operation,
                         MPI_Comm comm),
                send, receive, counts, type, operation, comm)
WEFT_PERSISTENT(Allgather, Iallgather, check_data(count, type), WEFT_ALL(WEFT_DATA_IN, MPI_Comm comm), WEFT_DATA_NAMES,
                comm)
WEFT_PERSISTENT(Alltoall, Ialltoall, check_data(count, type), WEFT_ALL(WEFT_DATA_IN, MPI_Comm comm), WEFT_DATA_NAMES,
                comm)
WEFT_PERSISTENT(Gather, Igather, check_rooted(root, comm), WEFT_ALL(WEFT_DATA_IN, int root, MPI_Comm comm),
                WEFT_DATA_NAMES, root, comm)
WEFT_PERSISTENT(Scatter, Iscatter, check_rooted(root, comm), WEFT_ALL(WEFT_DATA_IN, int root, MPI_Comm comm),
                WEFT_DATA_NAMES, root, comm)
WEFT_PERSISTENT(Allgatherv, Iallgatherv, check_type(type), WEFT_ALL(WEFT_GATHERED_IN, MPI_Comm comm),
                WEFT_GATHERED_NAMES, comm)
WEFT_PERSISTENT(Gatherv, Igatherv, check_rooted(root, comm), WEFT_ALL(WEFT_GATHERED_IN, int root, MPI_Comm comm),
                WEFT_GATHERED_NAMES, root, comm)
WEFT_PERSISTENT(Scatterv, Iscatterv, check_rooted(root, comm), WEFT_ALL(WEFT_SCATTERED_IN, int root, MPI_Comm comm),
                WEFT_SCATTERED_NAMES, root, comm)
WEFT_PERSISTENT(Alltoallv, Ialltoallv, check_type(type), WEFT_ALL(WEFT_PARTS_IN, MPI_Comm comm), WEFT_PARTS_NAMES, comm)
WEFT_PERSISTENT(Alltoallw, Ialltoallw, check_present(types, "recvtypes"), WEFT_ALL(WEFT_TYPED_IN(int), MPI_Comm comm),
                WEFT_TYPED_NAMES, comm)
WEFT_PERSISTENT(Neighbor_allgather, Ineighbor_allgather, check_data(count, type), WEFT_ALL(WEFT_DATA_IN, MPI_Comm comm),
                WEFT_DATA_NAMES, comm)
WEFT_PERSISTENT(Neighbor_alltoall, Ineighbor_alltoall, check_data(count, type), WEFT_ALL(WEFT_DATA_IN, MPI_Comm comm),
                WEFT_DATA_NAMES, comm)
WEFT_PERSISTENT(Neighbor_allgatherv, Ineighbor_allgatherv, check_type(type), WEFT_ALL(WEFT_GATHERED_IN, MPI_Comm comm),
                WEFT_GATHERED_NAMES, comm)
WEFT_PERSISTENT(Neighbor_alltoallv, Ineighbor_alltoallv, check_type(type), WEFT_ALL(WEFT_PARTS_IN, MPI_Comm comm),
                WEFT_PARTS_NAMES, comm)
WEFT_PERSISTENT(Neighbor_alltoallw, Ineighbor_alltoallw, WEFT_RIGHT, WEFT_ALL(WEFT_TYPED_IN(MPI_Aint), MPI_Comm comm),
                WEFT_TYPED_NAMES, comm)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
