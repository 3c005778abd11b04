// SPDX-License-Identifier: LGPL-2.1-only
/* Attributes, which C and Fortran share (MPI 4.1, 19.3.7).
 *
 * An attribute set in Fortran is an integer, and C gets its address; an attribute set in C is a pointer, and Fortran
 * gets the address. Fortran's integers are stored in cells: the attribute is the address of a cell, and any other
 * pointer is C's. Two attributes share a cell only after C's copy callback has returned its argument. The attribute of
 * a keyval created in Fortran owns its cell; the cells of other keyvals stay, since their delete callbacks are C's. */
#include "binding/fortran/procedures.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>

// MPI's callbacks, in the generated wrappers. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void mpi_comm_dup_fn_(const int*, const int*, const std::int64_t*, const std::int64_t*, std::int64_t*, int*, int*);
void mpi_type_dup_fn_(const int*, const int*, const std::int64_t*, const std::int64_t*, std::int64_t*, int*, int*);
void mpi_win_dup_fn_(const int*, const int*, const std::int64_t*, const std::int64_t*, std::int64_t*, int*, int*);
void mpi_dup_fn_(const int*, const int*, const int*, const int*, int*, int*, int*);
}
// NOLINTEND(readability-identifier-naming)

namespace weft::fortran::by_hand {
namespace {

// ---- Values ---------------------------------------------------------------------------------------------------------

/** Integers of Fortran by their addresses. The low bytes come first, so that C can read an INTEGER there too. */
using Cells = std::unordered_map<const void*, std::unique_ptr<std::int64_t>>;

Cells& attribute_cells()
{
  static Cells the_cells;
  return the_cells;
}

bool is_cell(const void* attribute)
{
  return attribute_cells().contains(attribute);
}

/** Returns the attribute for an integer of Fortran. */
void* make_attribute(std::int64_t value)
{
  auto cell           = std::make_unique<std::int64_t>(value);
  void* const address = cell.get();
  attribute_cells().emplace(address, std::move(cell));
  return address;
}

/** Returns the integer that Fortran reads; the old procedures get its low bytes. */
template <class Integer> Integer value_of(void* attribute)
{
  if (is_cell(attribute))
    return static_cast<Integer>(*static_cast<std::int64_t*>(attribute));
  return static_cast<Integer>(reinterpret_cast<std::intptr_t>(attribute));
}

// ---- Keyvals --------------------------------------------------------------------------------------------------------

/** Callbacks of a keyval: extra state of the C functions. Integer is the type of Fortran's attributes. */
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

/** Returns true for the callbacks that copy an attribute of either language unchanged. */
bool is_plain_copy(Callback function)
{
  return number_instead_of(function) == 1 || function == reinterpret_cast<Callback>(mpi_comm_dup_fn_) ||
         function == reinterpret_cast<Callback>(mpi_type_dup_fn_) ||
         function == reinterpret_cast<Callback>(mpi_win_dup_fn_) || function == reinterpret_cast<Callback>(mpi_dup_fn_);
}

template <class Handle, class Integer>
int copy_attribute(Handle from, int keyval, void* state, void* value, void* copy, int* flag)
{
  auto& callbacks = *static_cast<Keyval<Integer>*>(state);
  void*& result   = *static_cast<void**>(copy);
  *flag           = 0;
  if (number_instead_of(callbacks.copy) == 0)
    return MPI_SUCCESS;
  if (is_plain_copy(callbacks.copy)) {
    *flag  = 1;
    result = is_cell(value) ? make_attribute(value_of<std::int64_t>(value)) : value;
    return MPI_SUCCESS;
  }
  auto old_value = value_of<Integer>(value);
  Integer fresh  = 0;
  int number     = number_of(from);
  int error      = MPI_SUCCESS;
  reinterpret_cast<void (*)(int*, int*, Integer*, Integer*, Integer*, int*, int*)>(callbacks.copy)(
      &number, &keyval, &callbacks.state, &old_value, &fresh, flag, &error);
  *flag = error == MPI_SUCCESS && *flag != 0 ? 1 : 0;
  if (*flag != 0)
    result = make_attribute(fresh);
  return error;
}

template <class Handle, class Integer> int delete_attribute(Handle from, int keyval, void* value, void* state)
{
  auto& callbacks = *static_cast<Keyval<Integer>*>(state);
  int error       = MPI_SUCCESS;
  if (number_instead_of(callbacks.remove) != 0) {
    auto old_value = value_of<Integer>(value);
    int number     = number_of(from);
    reinterpret_cast<void (*)(int*, int*, Integer*, Integer*, int*)>(callbacks.remove)(&number, &keyval, &old_value,
                                                                                       &callbacks.state, &error);
  }
  if (error == MPI_SUCCESS)
    attribute_cells().erase(value);
  return error;
}

/** The callbacks live as long as the process, as attributes may outlive their keyval. */
template <class Handle, class Integer, class Create>
int create_keyval(Create create, Callback copy, Callback remove, int* keyval, const Integer* state)
{
  return create(copy_attribute<Handle, Integer>, delete_attribute<Handle, Integer>, keyval,
                new Keyval<Integer>{copy, remove, *state});
}

// ---- Queries --------------------------------------------------------------------------------------------------------

/** Attributes with negative keyvals are predefined: C gets the address of an int. */
template <class Integer> int comm_attribute(const int* comm, int keyval, Integer* value, int* flag)
{
  void* found     = nullptr;
  int is_set      = 0;
  const int error = MPI_Comm_get_attr(object_of<MPI_Comm>(comm), keyval, static_cast<void*>(&found), &is_set);
  if (error == MPI_SUCCESS && is_set != 0)
    *value = keyval < 0 ? *static_cast<int*>(found) : value_of<Integer>(found);
  *flag = is_set;
  return error;
}

} // namespace

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
  return MPI_Comm_set_attr(object_of<MPI_Comm>(comm), *keyval, make_attribute(*value));
}

int type_set_attr(const int* type, const int* keyval, const std::int64_t* value)
{
  return MPI_Type_set_attr(object_of<MPI_Datatype>(type), *keyval, make_attribute(*value));
}

int win_set_attr(const int* win, const int* keyval, const std::int64_t* value)
{
  return MPI_Win_set_attr(object_of<MPI_Win>(win), *keyval, make_attribute(*value));
}

int attr_put(const int* comm, const int* keyval, const int* value)
{
  return MPI_Comm_set_attr(object_of<MPI_Comm>(comm), *keyval, make_attribute(*value));
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
    *value = value_of<std::int64_t>(found);
  *flag = is_set;
  return error;
}

/* C gets the size's address as an MPI_Aint pointer, and the addresses of the other predefined attributes as int
 * pointers. */
int win_get_attr(const int* win, const int* keyval, std::int64_t* value, int* flag)
{
  void* found     = nullptr;
  int is_set      = 0;
  const int error = MPI_Win_get_attr(object_of<MPI_Win>(win), *keyval, static_cast<void*>(&found), &is_set);
  *flag           = is_set;
  if (error != MPI_SUCCESS || is_set == 0)
    return error;
  if (*keyval >= 0 || *keyval == MPI_WIN_BASE)
    *value = value_of<std::int64_t>(found);
  else if (*keyval == MPI_WIN_SIZE)
    *value = *static_cast<MPI_Aint*>(found);
  else
    *value = *static_cast<int*>(found);
  return MPI_SUCCESS;
}

} // namespace weft::fortran::by_hand
