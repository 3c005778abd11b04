/* SPDX-License-Identifier: LGPL-2.1-only */
/* What counts messages: one source per library. */
#pragma once

#include <stddef.h>

/** Called by all ranks once, after MPI_Init. */
void prepare_counting(int rank, int ranks);
/** For each message that this rank sends. */
void count_message(int to, size_t bytes);
