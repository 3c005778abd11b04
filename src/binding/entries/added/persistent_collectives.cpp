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
#include "mpi/arguments.hpp"
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

/** Checks the arguments that the initialisation of a collective itself uses; the start checks the rest. */
template <class Call> int check_own(const Call& call)
{
  if constexpr (requires { call.root; }) {
    return check_rooted(call.root, call.comm, [&] {
      if constexpr (requires { call.op; })
        return check_reduced(call.count, call.datatype, call.op);
      else if constexpr (requires { call.buffer; })
        return check_data(call.count, call.datatype);
      else
        return static_cast<int>(MPI_SUCCESS);
    });
  } else if constexpr (requires { call.op; } && requires { call.recvcounts; }) {
    return first_error([&] { return check_present(call.recvcounts, "recvcounts"); },
                       [&] { return check_reduced(0, call.datatype, call.op); });
  } else if constexpr (requires { call.op; } && requires { call.recvcount; }) {
    return check_reduced(call.recvcount, call.datatype, call.op);
  } else if constexpr (requires { call.op; }) {
    return check_reduced(call.count, call.datatype, call.op);
  } else if constexpr (requires { call.recvcount; }) {
    return check_data(call.recvcount, call.recvtype);
  } else if constexpr (requires { call.recvtype; }) {
    return check_type(call.recvtype);
  } else if constexpr (std::is_same_v<Call, arguments::Alltoallw_init>) {
    return check_present(call.recvtypes, "recvtypes");
  } else {
    return MPI_SUCCESS;
  }
}

template <class Call> int check(const Call& call)
{
  return first_error([&] { return check_comm(call.comm); }, [&] { return check_present(call.request, "request"); },
                     [&] { return check_own(call); });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

#include "mpi/persistent_collectives.inc"
