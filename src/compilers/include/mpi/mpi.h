/* SPDX-License-Identifier: LGPL-2.1-only */
/* SimGrid's mpi.h plus weft's additions. */
#pragma GCC system_header
#include_next <mpi.h>

/* SimGrid's mpi.h defines assert as a function of its model checker, which reports neither the condition nor its
 * location, and ignores NDEBUG. */
#ifndef WEFT_MPI_H_ASSERT
#define WEFT_MPI_H_ASSERT
#undef assert
#include <assert.h>
#endif

#include "weft_mpi.h"
