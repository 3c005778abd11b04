// SPDX-License-Identifier: LGPL-2.1-only
/* Callbacks and attributes.
 *
 * MPI calls a C function, which converts the arguments and calls Fortran's. It finds Fortran's in the
 * extra state, except for error handlers, which have none: there are a number of C functions, and the
 * n-th calls the n-th handler of the rank. SMPI itself converts the arguments of operations.
 *
 * An attribute is an integer in Fortran and a pointer in C: Fortran's value is kept as the pointer. */
#include "binding/fortran/procedures.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
extern "C" int MPI_Session_create_errhandler(void (*function)(MPI_Session*, int*, ...), MPI_Errhandler* errhandler);

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

/** Creates an error handler by one of MPI's functions. */
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

// ---- Attributes -----------------------------------------------------------------------------------------------------

/** Callbacks of a keyval: extra state of the C functions. Integer is that of Fortran's attributes. */
template <class Integer> struct Keyval {
  Callback copy;
  Callback remove;
  Integer state;
};

/** SimGrid's own mpif.h passes numbers for MPI_NULL_COPY_FN (0), MPI_NULL_DELETE_FN (0) and MPI_DUP_FN (1). */
int number_instead_of(Callback function)
{
  return *reinterpret_cast<const int*>(function);
}

void* attribute(std::int64_t value)
{
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(value)); // NOLINT(performance-no-int-to-ptr): MPI's
}

template <class Handle, class Integer>
int copy_attribute(Handle from, int keyval, void* state, void* value, void* copy, int* flag)
{
  auto& callbacks = *static_cast<Keyval<Integer>*>(state);
  auto old_value  = static_cast<Integer>(reinterpret_cast<std::intptr_t>(value));
  Integer fresh   = 0;
  int error       = MPI_SUCCESS;
  *flag           = number_instead_of(callbacks.copy);
  if (*flag == 0)
    return MPI_SUCCESS;
  if (*flag == 1) {
    fresh = old_value;
  } else {
    int number = number_of(from);
    reinterpret_cast<void (*)(int*, int*, Integer*, Integer*, Integer*, int*, int*)>(callbacks.copy)(
        &number, &keyval, &callbacks.state, &old_value, &fresh, flag, &error);
    *flag = *flag != 0 ? 1 : 0;
  }
  *static_cast<void**>(copy) = attribute(fresh);
  return error;
}

template <class Handle, class Integer> int delete_attribute(Handle from, int keyval, void* value, void* state)
{
  auto& callbacks = *static_cast<Keyval<Integer>*>(state);
  if (number_instead_of(callbacks.remove) == 0)
    return MPI_SUCCESS;
  auto old_value = static_cast<Integer>(reinterpret_cast<std::intptr_t>(value));
  int number     = number_of(from);
  int error      = MPI_SUCCESS;
  reinterpret_cast<void (*)(int*, int*, Integer*, Integer*, int*)>(callbacks.remove)(&number, &keyval, &old_value,
                                                                                     &callbacks.state, &error);
  return error;
}

/** The callbacks live as long as the process, as attributes may outlive their keyval. */
template <class Handle, class Integer, class Create>
int create_keyval(Create create, Callback copy, Callback remove, int* keyval, const Integer* state)
{
  return create(copy_attribute<Handle, Integer>, delete_attribute<Handle, Integer>, keyval,
                new Keyval<Integer>{copy, remove, *state});
}

template <class Integer> int comm_attribute(const int* comm, int keyval, Integer* value, int* flag)
{
  void* found     = nullptr;
  int is_set      = 0;
  const int error = MPI_Comm_get_attr(object_of<MPI_Comm>(comm), keyval, static_cast<void*>(&found), &is_set);
  if (error == MPI_SUCCESS && is_set != 0)
    *value = keyval < 0 ? *static_cast<int*>(found) : static_cast<Integer>(reinterpret_cast<std::intptr_t>(found));
  *flag = is_set;
  return error;
}

// ---- Generalized requests -------------------------------------------------------------------------------------------

struct GeneralizedRequest {
  Callback query;
  Callback free;
  Callback cancel;
  std::int64_t state;
};

int query_request(void* state, MPI_Status* status)
{
  auto& request = *static_cast<GeneralizedRequest*>(state);
  int error     = MPI_SUCCESS;
  reinterpret_cast<void (*)(std::int64_t*, MPI_Status*, int*)>(request.query)(&request.state, status, &error);
  return error;
}

int free_request(void* state)
{
  auto* const request = static_cast<GeneralizedRequest*>(state);
  int error           = MPI_SUCCESS;
  reinterpret_cast<void (*)(std::int64_t*, int*)>(request->free)(&request->state, &error);
  delete request;
  return error;
}

int cancel_request(void* state, int complete)
{
  auto& request = *static_cast<GeneralizedRequest*>(state);
  int error     = MPI_SUCCESS;
  reinterpret_cast<void (*)(std::int64_t*, int*, int*)>(request.cancel)(&request.state, &complete, &error);
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

int grequest_start(Callback query, Callback free, Callback cancel, const std::int64_t* state, int* request)
{
  return MPI_Grequest_start(query_request, free_request, cancel_request,
                            new GeneralizedRequest{query, free, cancel, *state}, Result<MPI_Request>(request));
}

// ---- Attributes -----------------------------------------------------------------------------------------------------

int comm_create_keyval(Callback copy, Callback remove, int* keyval, const std::int64_t* state)
{
  return create_keyval<MPI_Comm>(MPI_Comm_create_keyval, copy, remove, keyval, state);
}

int type_create_keyval(Callback copy, Callback remove, int* keyval, const std::int64_t* state)
{
  return create_keyval<MPI_Datatype>(MPI_Type_create_keyval, copy, remove, keyval, state);
}

int win_create_keyval(Callback copy, Callback remove, int* keyval, const std::int64_t* state)
{
  return create_keyval<MPI_Win>(MPI_Win_create_keyval, copy, remove, keyval, state);
}

int keyval_create(Callback copy, Callback remove, int* keyval, const int* state)
{
  return create_keyval<MPI_Comm>(MPI_Comm_create_keyval, copy, remove, keyval, state);
}

int comm_set_attr(const int* comm, const int* keyval, const std::int64_t* value)
{
  return MPI_Comm_set_attr(object_of<MPI_Comm>(comm), *keyval, attribute(*value));
}

int type_set_attr(const int* type, const int* keyval, const std::int64_t* value)
{
  return MPI_Type_set_attr(object_of<MPI_Datatype>(type), *keyval, attribute(*value));
}

int win_set_attr(const int* win, const int* keyval, const std::int64_t* value)
{
  return MPI_Win_set_attr(object_of<MPI_Win>(win), *keyval, attribute(*value));
}

int attr_put(const int* comm, const int* keyval, const int* value)
{
  return MPI_Comm_set_attr(object_of<MPI_Comm>(comm), *keyval, attribute(*value));
}

int comm_get_attr(const int* comm, const int* keyval, std::int64_t* value, int* flag)
{
  return comm_attribute(comm, *keyval, value, flag);
}

int attr_get(const int* comm, const int* keyval, int* value, int* flag)
{
  return comm_attribute(comm, *keyval, value, flag);
}

int attr_delete(const int* comm, const int* keyval)
{
  return MPI_Comm_delete_attr(object_of<MPI_Comm>(comm), *keyval);
}

int type_get_attr(const int* type, const int* keyval, std::int64_t* value, int* flag)
{
  void* found     = nullptr;
  int is_set      = 0;
  const int error = MPI_Type_get_attr(object_of<MPI_Datatype>(type), *keyval, static_cast<void*>(&found), &is_set);
  if (error == MPI_SUCCESS && is_set != 0)
    *value = reinterpret_cast<std::intptr_t>(found);
  *flag = is_set;
  return error;
}

int win_get_attr(const int* win, const int* keyval, std::int64_t* value, int* flag)
{
  void* found     = nullptr;
  int is_set      = 0;
  const int error = MPI_Win_get_attr(object_of<MPI_Win>(win), *keyval, static_cast<void*>(&found), &is_set);
  if (error == MPI_SUCCESS && is_set != 0)
    *value = *keyval < 0 && *keyval != MPI_WIN_BASE ? *static_cast<MPI_Aint*>(found)
                                                    : reinterpret_cast<std::intptr_t>(found);
  *flag = is_set;
  return error;
}

} // namespace weft::fortran::by_hand
