// SPDX-License-Identifier: LGPL-2.1-only
/* Wrong arguments of the MPI functions that SMPI lacks: PMPI_… returns the error class, MPI_… also
 * calls the error handler of the communicator, as SMPI's functions do. */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>
#include <string>

namespace weft {

/** Notes why a call of the current rank fails. @return @p code */
int wrong(int code, std::string reason);

/** Returns why the last call of the current rank that noted it failed, once; empty if none did. */
std::string take_reason();

/** Notes that a number is none of those that are @p allowed. @return @p code */
int wrong_number(int code, const std::string& name, std::int64_t found, const std::string& allowed);
/** Notes that a rank does not exist in @p comm. @return @p code */
int wrong_rank(int code, const std::string& name, int found, MPI_Comm comm);

/** Calls the error handler of @p comm if @p result is an error. @return @p result */
int handled(MPI_Comm comm, const char* function, int result);

/** Calls @p handler for @p object, which the handler gets as a communicator, if @p result is an error. @return @p
 * result */
int handled_by(MPI_Errhandler handler, MPI_Comm object, const char* function, int result);

/** Returns whether the program has freed a communicator or datatype, which operations may still use. */
bool is_freed(const void* object);

/** Checks of arguments: return MPI_SUCCESS or an error class. */
int check_comm(MPI_Comm comm);
/** Returns MPI_ERR_COMM for an intercommunicator, on which MPI does not define all functions. */
int check_intracommunicator(MPI_Comm comm);
int check_type(MPI_Datatype type);
int check_buffer(const void* buffer, int count, MPI_Datatype type);
/** Checks the blocks of a v form, or of a w form: with a datatype each. */
int check_uneven_blocks(const void* buffer, const int* counts, const void* displacements, MPI_Datatype type,
                        int blocks);
int check_uneven_blocks(const void* buffer, const int* counts, const void* displacements, const MPI_Datatype* types,
                        int blocks);
/** Returns MPI_ERR_ARG for an argument that is null. */
int refuse_null(const char* name);
/** Checks arguments that may not be null. */
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
