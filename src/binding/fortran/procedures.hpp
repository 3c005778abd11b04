// SPDX-License-Identifier: LGPL-2.1-only
/* Hand-written Fortran procedures of MPI; wrappers.cpp calls them. Arguments are as Fortran passes them; all except
 * those without an error return MPI's error. */
#pragma once

#include "binding/fortran/arguments.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>

namespace weft::fortran::by_hand {

int init();
int init_thread(const int* required, int* provided);
int finalize();
void pcontrol(const int* level);
/** Omits the command and its arguments, which Fortran does not pass. */
int info_create_env(int* info);

// ---- Dynamic processes ----------------------------------------------------------------------------------------------

int comm_spawn(const char* command, std::size_t command_length, const char* argv, std::size_t argv_length,
               const int* most, const int* info, const int* root, const int* comm, int* made, int* codes);
int comm_spawn_multiple(const int* count, const char* commands, std::size_t command_length, const char* argvs,
                        std::size_t argv_length, int* most, const int* infos, const int* root, const int* comm,
                        int* made, int* codes);

// ---- Memory ---------------------------------------------------------------------------------------------------------

int buffer_detach(void** buffer, int* size);
int buffer_detach_c(void** buffer, std::int64_t* size);
int comm_detach_buffer(const int* comm, void** buffer, int* size);
int comm_detach_buffer_c(const int* comm, void** buffer, std::int64_t* size);
int session_detach_buffer(const int* session, void** buffer, int* size);
int session_detach_buffer_c(const int* session, void** buffer, std::int64_t* size);
int session_init(const int* info, const int* handler, int* session);
int session_get_nth_pset(const int* session, const int* info, const int* number, int* length, char* name,
                         std::size_t most);
int session_create_errhandler(Callback function, int* handler);
int get_address(void* location, std::int64_t* address);
int free_mem(void* base);
int sizeof_(const CDescriptor* variable, int* size); // NOLINT(readability-identifier-naming): a keyword otherwise
/** Prevents the compiler from moving accesses to the buffer across the call. */
void f_sync_reg(void* buffer);

// ---- Statuses -------------------------------------------------------------------------------------------------------

int status_get_error(const MPI_Status* status, int* error);
int status_get_source(const MPI_Status* status, int* source);
int status_get_tag(const MPI_Status* status, int* tag);
int status_set_error(MPI_Status* status, const int* error);
int status_set_source(MPI_Status* status, const int* source);
int status_set_tag(MPI_Status* status, const int* tag);
/** The two kinds of Fortran's statuses have the same layout. */
int status_f2f08(const int* from, MPI_Status* to);
int status_f082f(const MPI_Status* from, int* to);

// ---- Callbacks ------------------------------------------------------------------------------------------------------

int op_create(Callback function, const int* commute, int* op);
int op_create_c(Callback function, const int* commute, int* op);
int comm_create_errhandler(Callback function, int* handler);
int win_create_errhandler(Callback function, int* handler);
int file_create_errhandler(Callback function, int* handler);
int errhandler_create(Callback function, int* handler);
int grequest_start(Callback query, Callback free, Callback cancel, std::int64_t* state, int* request);

// ---- Attributes -----------------------------------------------------------------------------------------------------

int comm_create_keyval(Callback copy, Callback remove, int* keyval, const std::int64_t* state);
int type_create_keyval(Callback copy, Callback remove, int* keyval, const std::int64_t* state);
int win_create_keyval(Callback copy, Callback remove, int* keyval, const std::int64_t* state);
int keyval_create(Callback copy, Callback remove, int* keyval, const int* state);

int comm_set_attr(const int* comm, const int* keyval, const std::int64_t* value);
int type_set_attr(const int* type, const int* keyval, const std::int64_t* value);
int win_set_attr(const int* win, const int* keyval, const std::int64_t* value);
int attr_put(const int* comm, const int* keyval, const int* value);

int comm_get_attr(const int* comm, const int* keyval, std::int64_t* value, int* flag);
int type_get_attr(const int* type, const int* keyval, std::int64_t* value, int* flag);
int win_get_attr(const int* win, const int* keyval, std::int64_t* value, int* flag);
int attr_get(const int* comm, const int* keyval, int* value, int* flag);
int attr_delete(const int* comm, const int* keyval);

/** MPI_…_NULL_COPY_FN: attributes are not copied. */
template <class Integer> int no_copy(const int*, const int*, const Integer*, const Integer*, Integer*, int* flag)
{
  *flag = 0;
  return MPI_SUCCESS;
}
/** MPI_…_DUP_FN: the value is copied. */
template <class Integer> int copy(const int*, const int*, const Integer*, const Integer* from, Integer* to, int* flag)
{
  *to   = *from;
  *flag = 1;
  return MPI_SUCCESS;
}
/** MPI_…_NULL_DELETE_FN: does nothing. */
template <class Integer> int no_delete(const int*, const int*, const Integer*, const Integer*)
{
  return MPI_SUCCESS;
}

// ---- Removed from MPI -----------------------------------------------------------------------------------------------

int address(void* location, int* result);
int type_extent(const int* type, int* extent);
int type_lb(const int* type, int* displacement);
int type_ub(const int* type, int* displacement);
int type_hvector(const int* count, const int* length, const int* stride, const int* type, int* result);
int type_hindexed(const int* count, const int* lengths, const int* displacements, const int* type, int* result);
int type_struct(const int* count, const int* lengths, const int* displacements, const int* types, int* result);

} // namespace weft::fortran::by_hand
