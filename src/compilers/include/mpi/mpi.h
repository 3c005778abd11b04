/* SPDX-License-Identifier: LGPL-2.1-only */
/* SimGrid's mpi.h and weft's additions. */
#pragma GCC system_header
#include_next <mpi.h>

#include "weft_mpi.h"
