/* SPDX-License-Identifier: LGPL-2.1-only */
/* Interface of the message counters, one source per library. */
#pragma once

#include <stddef.h>

/** Initialises counting; all ranks call it once, after MPI_Init. */
void prepare_counting(int rank, int ranks);
/** Counts a message that this rank sends. */
void count_message(int to, size_t bytes);
