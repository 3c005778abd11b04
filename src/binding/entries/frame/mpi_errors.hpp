// SPDX-License-Identifier: LGPL-2.1-only
/* Error handling for invalid arguments of the MPI functions that SMPI lacks: PMPI_… returns the error class, MPI_… also
 * calls the error handler of the communicator, like SMPI's functions. */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>
#include <string>

namespace weft {

/** Records why a call of the current rank fails. @return @p code */
int wrong(int code, std::string reason);

/** Returns and clears the recorded reason of the current rank's last failed call; empty if there is none. */
std::string take_reason();

/** Records that argument @p name has value @p found, which is not among the @p allowed values. @return @p code */
int wrong_number(int code, const std::string& name, std::int64_t found, const std::string& allowed);
/** Records that rank @p found does not exist in @p comm. @return @p code */
int wrong_rank(int code, const std::string& name, int found, MPI_Comm comm);

/** Calls the error handler of @p comm if @p result is an error. @return @p result */
int handled(MPI_Comm comm, const char* function, int result);

/** Calls @p handler for @p object, passed to it as a communicator, if @p result is an error. @return @p result */
int handled_by(MPI_Errhandler handler, MPI_Comm object, const char* function, int result);

/** Returns whether the program has freed a communicator or datatype that pending operations may still use. */
bool is_freed(const void* object);

/** Checks of arguments: return MPI_SUCCESS or an error class. */
int check_comm(MPI_Comm comm);
/** Returns MPI_ERR_COMM for an intercommunicator, on which MPI does not define all functions. */
int check_intracommunicator(MPI_Comm comm);
int check_type(MPI_Datatype type);
int check_buffer(const void* buffer, int count, MPI_Datatype type);
/** Checks the blocks of a v form, or of a w form, which has a datatype per block. */
int check_uneven_blocks(const void* buffer, const int* counts, const void* displacements, MPI_Datatype type,
                        int blocks);
int check_uneven_blocks(const void* buffer, const int* counts, const void* displacements, const MPI_Datatype* types,
                        int blocks);
/** Returns MPI_ERR_ARG for an argument that is null. */
int refuse_null(const char* name);
/** Checks that an argument is not null. */
template <class Type> int check_present(const Type* argument, const char* name)
{
  return argument ? static_cast<int>(MPI_SUCCESS) : refuse_null(name);
}

/** Returns the first error. */
template <class... Checks> int first_error(Checks&&... checks)
{
  int result = MPI_SUCCESS;
  static_cast<void>((... && ((result = checks()) == MPI_SUCCESS)));
  return result;
}

} // namespace weft
