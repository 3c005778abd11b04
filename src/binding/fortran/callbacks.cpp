// SPDX-License-Identifier: LGPL-2.1-only
/* Callbacks, except those of attributes (attributes.cpp).
 *
 * MPI calls a C function, which converts the arguments and calls Fortran's function. It finds that in the extra state,
 * except for error handlers, which have no extra state: there is a fixed number of C functions, and the n-th calls the
 * n-th handler of the rank. SMPI itself converts the arguments of operations. */
#include "binding/fortran/procedures.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {
int MPI_Session_create_errhandler(void (*function)(MPI_Session*, int*, ...), MPI_Errhandler* errhandler);
int MPI_Op_create_c(void (*function)(void*, void*, MPI_Count*, MPI_Datatype*), int commute, MPI_Op* op);
}
// NOLINTEND(readability-identifier-naming)

namespace weft::fortran::by_hand {
namespace {

// ---- Error handlers -------------------------------------------------------------------------------------------------

constexpr std::size_t MOST_HANDLERS = 64;

/** Fortran's error handlers for one type of handles, by the rank's actor. */
template <class Handle> std::map<aid_t, std::vector<Callback>>& error_handlers()
{
  static std::map<aid_t, std::vector<Callback>> the_handlers;
  return the_handlers;
}

// MPI's type. NOLINTNEXTLINE(modernize-avoid-variadic-functions,cert-dcl50-cpp)
template <class Handle, std::size_t Number> void call_error_handler(Handle* handle, int* code, ...)
{
  int number          = number_of(*handle);
  const auto function = error_handlers<Handle>()[current_actor()][Number];
  reinterpret_cast<void (*)(int*, int*)>(function)(&number, code);
}

template <class Handle, std::size_t... Numbers>
constexpr auto error_handler_functions(std::index_sequence<Numbers...> /*numbers*/)
{
  return std::array{&call_error_handler<Handle, Numbers>...};
}

/** Creates an error handler by one of the MPI functions. */
template <class Handle, class Create> int create_error_handler(Create create, Callback function, int* handler)
{
  static constexpr auto FUNCTIONS = error_handler_functions<Handle>(std::make_index_sequence<MOST_HANDLERS>());
  std::vector<Callback>& known    = error_handlers<Handle>()[current_actor()];
  auto place                      = std::ranges::find(known, function);
  if (place == known.end()) {
    if (known.size() == MOST_HANDLERS)
      return MPI_ERR_NO_MEM;
    place = known.insert(place, function);
  }
  return create(FUNCTIONS[static_cast<std::size_t>(place - known.begin())], Result<MPI_Errhandler>(handler));
}

// ---- Operations with large counts -----------------------------------------------------------------------------------

constexpr std::size_t MOST_LARGE_OPERATIONS = 64;
using LargeFunction                         = void(void*, void*, MPI_Count*, MPI_Datatype*);

/** Fortran's functions of such operations, by the rank's actor. */
std::vector<Callback>& large_functions()
{
  static auto& all = *new std::map<aid_t, std::vector<Callback>>; // leaked, since ranks may end late
  return all[current_actor()];
}

template <std::size_t Number> void combine_in_fortran(void* in, void* inout, MPI_Count* count, MPI_Datatype* type)
{
  int number         = number_of(*type);
  std::int64_t large = *count;
  reinterpret_cast<void (*)(void*, void*, std::int64_t*, int*)>(large_functions()[Number])(in, inout, &large, &number);
}

template <std::size_t... Numbers>
constexpr std::array<LargeFunction*, MOST_LARGE_OPERATIONS>
fortran_combiners(std::index_sequence<Numbers...> /*numbers*/)
{
  return {&combine_in_fortran<Numbers>...};
}

// ---- Generalized requests -------------------------------------------------------------------------------------------

/** The extra state is the program's variable, as in MPICH and Open MPI: callbacks may change it. */
struct GeneralizedRequest {
  Callback query;
  Callback free;
  Callback cancel;
  std::int64_t* state;
};

int query_request(void* state, MPI_Status* status)
{
  const auto& request = *static_cast<GeneralizedRequest*>(state);
  int error           = MPI_SUCCESS;
  reinterpret_cast<void (*)(std::int64_t*, MPI_Status*, int*)>(request.query)(request.state, status, &error);
  return error;
}

int free_request(void* state)
{
  auto* const request = static_cast<GeneralizedRequest*>(state);
  int error           = MPI_SUCCESS;
  reinterpret_cast<void (*)(std::int64_t*, int*)>(request->free)(request->state, &error);
  delete request;
  return error;
}

int cancel_request(void* state, int complete)
{
  const auto& request = *static_cast<GeneralizedRequest*>(state);
  int error           = MPI_SUCCESS;
  reinterpret_cast<void (*)(std::int64_t*, int*, int*)>(request.cancel)(request.state, &complete, &error);
  return error;
}

} // namespace

// ---- Callbacks ------------------------------------------------------------------------------------------------------

int op_create(Callback function, const int* commute, int* op)
{
  static const auto THEIRS = next_definition<void (*)(Callback, const int*, int*, int*)>("mpi_op_create_");
  int error                = MPI_SUCCESS;
  THEIRS(function, commute, op, &error);
  return error;
}

int op_create_c(Callback function, const int* commute, int* op)
{
  static constexpr auto FUNCTIONS = fortran_combiners(std::make_index_sequence<MOST_LARGE_OPERATIONS>());
  std::vector<Callback>& known    = large_functions();
  auto place                      = std::ranges::find(known, function);
  if (place == known.end()) {
    if (known.size() == MOST_LARGE_OPERATIONS)
      return MPI_ERR_NO_MEM;
    place = known.insert(place, function);
  }
  return MPI_Op_create_c(FUNCTIONS.at(static_cast<std::size_t>(place - known.begin())), *commute, Result<MPI_Op>(op));
}

int comm_create_errhandler(Callback function, int* handler)
{
  return create_error_handler<MPI_Comm>(MPI_Comm_create_errhandler, function, handler);
}

int win_create_errhandler(Callback function, int* handler)
{
  return create_error_handler<MPI_Win>(MPI_Win_create_errhandler, function, handler);
}

int file_create_errhandler(Callback function, int* handler)
{
  return create_error_handler<MPI_File>(MPI_File_create_errhandler, function, handler);
}

int session_create_errhandler(Callback function, int* handler)
{
  return create_error_handler<MPI_Session>(MPI_Session_create_errhandler, function, handler);
}

int errhandler_create(Callback function, int* handler)
{
  return comm_create_errhandler(function, handler);
}

int grequest_start(Callback query, Callback free, Callback cancel, std::int64_t* state, int* request)
{
  return MPI_Grequest_start(query_request, free_request, cancel_request,
                            new GeneralizedRequest{query, free, cancel, state}, Result<MPI_Request>(request));
}

} // namespace weft::fortran::by_hand
