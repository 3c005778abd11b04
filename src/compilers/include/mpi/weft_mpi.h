/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI functions and constants that weft adds to those of SimGrid's mpi.h. */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

#undef MPI_VERSION
#define MPI_VERSION 4
#undef MPI_SUBVERSION
#define MPI_SUBVERSION 1

/* Not NULL, as MPI requires. */
#undef MPI_UNWEIGHTED
#define MPI_UNWEIGHTED ((int*)2)
#undef MPI_MESSAGE_NO_PROC
#define MPI_MESSAGE_NO_PROC ((MPI_Message)1)

/* Not a valid rank, as MPI requires. */
#undef MPI_ROOT
#define MPI_ROOT (-3)

/* Not a valid argument of a distribution. */
#undef MPI_DISTRIBUTE_DFLT_DARG
#define MPI_DISTRIBUTE_DFLT_DARG (-3)

/* Ends the program of the rank that encounters an error, like MPI_Abort. */
extern SMPI_Errhandler weft_errors_abort;
#define MPI_ERRORS_ABORT (&weft_errors_abort)

#define MPI_ERR_SESSION 75
#define MPI_ERR_PROC_ABORTED 76
#define MPI_ERR_VALUE_TOO_LARGE 77
#define MPI_ERR_ERRHANDLER 78
#define MPI_ERR_ABI 83
#undef MPI_ERR_LASTCODE
#define MPI_ERR_LASTCODE 100

#undef MPI_COMM_TYPE_HW_GUIDED
#define MPI_COMM_TYPE_HW_GUIDED 11
#undef MPI_COMM_TYPE_HW_UNGUIDED
#define MPI_COMM_TYPE_HW_UNGUIDED 12
#undef MPI_COMM_TYPE_RESOURCE_GUIDED
#define MPI_COMM_TYPE_RESOURCE_GUIDED 13

/* A status has the same representation in C and Fortran. */
#define MPI_F_STATUS_SIZE 5
#define MPI_F_SOURCE 0
#define MPI_F_TAG 1
#define MPI_F_ERROR 2
typedef struct {
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
  MPI_Fint weft_internal[2];
} MPI_F08_status;
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status*)MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status*)MPI_F_STATUSES_IGNORE)

/* No datatype has this combiner, since pairs are predefined. */
#define MPI_COMBINER_VALUE_INDEX 32
#define MPI_BUFFER_AUTOMATIC ((void*)2)

typedef struct weft_session* MPI_Session;
typedef void MPI_Session_errhandler_function(MPI_Session* session, int* error_code, ...);
#define MPI_SESSION_NULL ((MPI_Session)0)
#define MPI_MAX_PSET_NAME_LEN 64
#define MPI_MAX_STRINGTAG_LEN 256

int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent);
int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent);

int MPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status);
int PMPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status);
int MPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status);
int PMPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status);
int MPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status);
int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status);
int MPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status);
int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status);
int MPI_Abi_get_version(int* abi_major, int* abi_minor);
int PMPI_Abi_get_version(int* abi_major, int* abi_minor);
int MPI_Abi_get_info(MPI_Info* info);
int PMPI_Abi_get_info(MPI_Info* info);
int MPI_Abi_get_fortran_info(MPI_Info* info);
int PMPI_Abi_get_fortran_info(MPI_Info* info);
int MPI_Abi_set_fortran_info(MPI_Info info);
int PMPI_Abi_set_fortran_info(MPI_Info info);
int MPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set);
int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set);
int MPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);
int PMPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);
MPI_Fint MPI_Session_c2f(MPI_Session session);
MPI_Fint PMPI_Session_c2f(MPI_Session session);
MPI_Session MPI_Session_f2c(MPI_Fint session);
MPI_Session PMPI_Session_f2c(MPI_Fint session);
int MPI_Comm_toint(MPI_Comm handle);
int PMPI_Comm_toint(MPI_Comm handle);
MPI_Comm MPI_Comm_fromint(int number);
MPI_Comm PMPI_Comm_fromint(int number);
int MPI_Errhandler_toint(MPI_Errhandler handle);
int PMPI_Errhandler_toint(MPI_Errhandler handle);
MPI_Errhandler MPI_Errhandler_fromint(int number);
MPI_Errhandler PMPI_Errhandler_fromint(int number);
int MPI_File_toint(MPI_File handle);
int PMPI_File_toint(MPI_File handle);
MPI_File MPI_File_fromint(int number);
MPI_File PMPI_File_fromint(int number);
int MPI_Group_toint(MPI_Group handle);
int PMPI_Group_toint(MPI_Group handle);
MPI_Group MPI_Group_fromint(int number);
MPI_Group PMPI_Group_fromint(int number);
int MPI_Info_toint(MPI_Info handle);
int PMPI_Info_toint(MPI_Info handle);
MPI_Info MPI_Info_fromint(int number);
MPI_Info PMPI_Info_fromint(int number);
int MPI_Message_toint(MPI_Message handle);
int PMPI_Message_toint(MPI_Message handle);
MPI_Message MPI_Message_fromint(int number);
MPI_Message PMPI_Message_fromint(int number);
int MPI_Op_toint(MPI_Op handle);
int PMPI_Op_toint(MPI_Op handle);
MPI_Op MPI_Op_fromint(int number);
MPI_Op PMPI_Op_fromint(int number);
int MPI_Request_toint(MPI_Request handle);
int PMPI_Request_toint(MPI_Request handle);
MPI_Request MPI_Request_fromint(int number);
MPI_Request PMPI_Request_fromint(int number);
int MPI_Session_toint(MPI_Session handle);
int PMPI_Session_toint(MPI_Session handle);
MPI_Session MPI_Session_fromint(int number);
MPI_Session PMPI_Session_fromint(int number);
int MPI_Type_toint(MPI_Datatype handle);
int PMPI_Type_toint(MPI_Datatype handle);
MPI_Datatype MPI_Type_fromint(int number);
MPI_Datatype PMPI_Type_fromint(int number);
int MPI_Win_toint(MPI_Win handle);
int PMPI_Win_toint(MPI_Win handle);
MPI_Win MPI_Win_fromint(int number);
MPI_Win PMPI_Win_fromint(int number);

typedef void MPI_User_function_c(void* invec, void* inoutvec, MPI_Count* len, MPI_Datatype* datatype);

#include "weft_mpi_functions.h"
#include "weft_mpi_t.h"

#ifdef __cplusplus
}
#endif

#endif
