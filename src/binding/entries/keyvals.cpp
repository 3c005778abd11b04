// SPDX-License-Identifier: LGPL-2.1-only
/* Keyvals of communicators, datatypes and windows (MPI 4.1, section 7.7). SMPI numbers each kind from 0 and therefore
 * confuses kinds. Here the kinds use different numbers, and a keyval of the wrong kind is refused (for attributes of
 * communicators, by SMPI itself). */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/smpi/windows.hpp"
#include "binding/entries/frame/mpi_errors.hpp"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

/** First keyvals of datatypes and windows. */
constexpr int FIRST_OF_TYPES   = 0x10000000;
constexpr int FIRST_OF_WINDOWS = 0x20000000;

/** Checks that a keyval is in [first, end). Predefined keyvals are negative. */
int check_keyval(int keyval, int first, int end)
{
  return keyval < 0 || (keyval >= first && keyval < end)
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_KEYVAL, "the keyval is one of another kind of object");
}

int check_comm_keyval(int keyval)
{
  return check_keyval(keyval, 0, FIRST_OF_TYPES);
}

int check_type_keyval(int keyval)
{
  return check_keyval(keyval, FIRST_OF_TYPES, FIRST_OF_WINDOWS);
}

int check_win_keyval(int keyval)
{
  return check_keyval(keyval, FIRST_OF_WINDOWS, std::numeric_limits<int>::max());
}

} // namespace
} // namespace weft

/** Defines PMPI_@p name, which makes SMPI's call if @p check returns MPI_SUCCESS. */
#define WEFT_KEYVAL_FUNCTION(name, check, parameters, ...)                                                             \
  WEFT_INTERPOSED int PMPI_##name parameters                                                                           \
  {                                                                                                                    \
    static const auto THEIRS = original<decltype(&PMPI_##name)>("PMPI_" #name);                                        \
    const int result         = check;                                                                                  \
    return result == MPI_SUCCESS ? THEIRS(__VA_ARGS__) : result;                                                       \
  }

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove,
                                            int* keyval, void* state)
{
  static const auto THEIRS            = original(&PMPI_Type_create_keyval);
  simgrid::smpi::Datatype::keyval_id_ = std::max(simgrid::smpi::Datatype::keyval_id_, FIRST_OF_TYPES);
  return THEIRS(copy, remove, keyval, state);
}

WEFT_INTERPOSED int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove,
                                           int* keyval, void* state)
{
  static const auto THEIRS       = original(&PMPI_Win_create_keyval);
  simgrid::smpi::Win::keyval_id_ = std::max(simgrid::smpi::Win::keyval_id_, FIRST_OF_WINDOWS);
  return THEIRS(copy, remove, keyval, state);
}

WEFT_KEYVAL_FUNCTION(Comm_free_keyval, keyval ? check_comm_keyval(*keyval) : MPI_SUCCESS, (int* keyval), keyval)
WEFT_KEYVAL_FUNCTION(Type_set_attr, check_type_keyval(keyval), (MPI_Datatype type, int keyval, void* value), type,
                     keyval, value)
WEFT_KEYVAL_FUNCTION(Type_get_attr, check_type_keyval(keyval), (MPI_Datatype type, int keyval, void* value, int* flag),
                     type, keyval, value, flag)
WEFT_KEYVAL_FUNCTION(Type_delete_attr, check_type_keyval(keyval), (MPI_Datatype type, int keyval), type, keyval)
WEFT_KEYVAL_FUNCTION(Type_free_keyval, keyval ? check_type_keyval(*keyval) : MPI_SUCCESS, (int* keyval), keyval)
WEFT_KEYVAL_FUNCTION(Win_set_attr, check_win_keyval(keyval), (MPI_Win win, int keyval, void* value), win, keyval, value)
WEFT_KEYVAL_FUNCTION(Win_delete_attr, check_win_keyval(keyval), (MPI_Win win, int keyval), win, keyval)
WEFT_KEYVAL_FUNCTION(Win_free_keyval, keyval ? check_win_keyval(*keyval) : MPI_SUCCESS, (int* keyval), keyval)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
