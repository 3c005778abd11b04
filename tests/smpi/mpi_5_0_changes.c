/* SPDX-License-Identifier: LGPL-2.1-only */
/* Changes of MPI 5.0, by their numbers in its change-log (annex B.1), that no other test shows: rows of
 * docs/mpi-changes.csv. Prints `right` per rank. */
#include "checks.h"

#include <stdlib.h>
#include <string.h>

/* Erratum 1. */
static void check_statuses(void)
{
  int (*const queries[])(const MPI_Status*, int*) = {MPI_Status_get_source, MPI_Status_get_tag, MPI_Status_get_error};
  const MPI_Status status                         = {.MPI_SOURCE = 1, .MPI_TAG = 2, .MPI_ERROR = 3};
  for (int i = 0; i < 3; i++) {
    int value = 0;
    queries[i](&status, &value);
    check(value == i + 1, "a field of a constant status");
  }
}

/* Erratum 4: a window's request may be freed only after the call that completes it. */
static void check_window_requests(void)
{
  int memory = 0, value = rank + 1;
  MPI_Win win;
  MPI_Request request;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_SELF, &win);
  MPI_Win_lock_all(0, win);
  MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
  check(request == MPI_REQUEST_NULL && memory == rank + 1, "a request of a window");
  MPI_Win_free(&win);
}

/* Change 2: the name of a process set need not come from a query of the session. */
static void check_process_sets(void)
{
  const char name[] = {'m', 'p', 'i', ':', '/', '/', 'S', 'E', 'L', 'F', '\0'};
  MPI_Session session;
  MPI_Group group;
  int members = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, name, &group);
  MPI_Group_size(group, &members);
  check(members == 1, "a process set by name");
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

/* Changes 3 and 4: queries before MPI_Init and after MPI_Finalize, and Fortran's values, which are known. */
static void check_interface(void)
{
  int major = 0, minor = 0, truth = 1, untruth = 0, length = 16, flag = 0;
  char value[16];
  MPI_Info info;
  MPI_Abi_get_version(&major, &minor);
  check(major == -1 && minor == -1, "no binary interface");
  MPI_Abi_get_info(&info);
  MPI_Info_get_string(info, "mpi_offset_size", &length, value, &flag);
  check(flag && atoi(value) == sizeof(MPI_Offset), "the size of an offset");
  check(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI, "setting Fortran's types");
  check(class_of(MPI_Abi_set_fortran_booleans(sizeof truth, &truth, &untruth)) == MPI_ERR_ABI,
        "setting Fortran's truth values");
  MPI_Info_free(&info);
}

int main(int argc, char** argv)
{
  int major = 0, minor = 0;
  MPI_Abi_get_version(&major, &minor);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(major == -1 && minor == -1, "the version before MPI_Init");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_statuses();
  check_window_requests();
  check_process_sets();
  check_interface();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
