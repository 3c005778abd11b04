/* SPDX-License-Identifier: LGPL-2.1-only */
/* Checks for test programs, which end the run at the first failure. */
#pragma once

#include <mpi.h>
#include <stdio.h>

static int rank; /* for error messages; set by the program */

static inline void check(int holds, const char* what)
{
  if (holds)
    return;
  printf("WRONG: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline int class_of(int code)
{
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}
