/* SPDX-License-Identifier: LGPL-2.1-only */
/* One random program: communicators, and calls in flight. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "reduce.h"

enum { MOST_COMMUNICATORS = 6, MOST_IN_FLIGHT = 24 };

/** A call in flight, or one that blocks while it lasts. */
typedef struct {
  char name[96];
  Buffer send, receive;
  int gives, gets;            ///< whether there is such a buffer, to be held against what is expected
  int leading;                ///< of the result only so many elements say anything; -1: all
  Layout reduced;             ///< the type of a reduction; of no elements where there is none
  int send_bytes[MOST_RANKS]; ///< displacements, for MPI_Alltoallw
  int receive_bytes[MOST_RANKS];
  MPI_Datatype send_types[MOST_RANKS];
  MPI_Datatype receive_types[MOST_RANKS];
} Call;

typedef struct {
  uint64_t seed;
  int number;
  int step;
  Draw all;  ///< the same at all ranks
  Draw mine; ///< of this rank
  MPI_Comm communicators[MOST_COMMUNICATORS];
  int in_flight;
  MPI_Request requests[MOST_IN_FLIGHT];
  Call* calls[MOST_IN_FLIGHT];
  int wrong; ///< results
} Program;

/** A number that all ranks of a communicator have in common, and those of its sisters not. */
uint64_t salt_of(const Program* program, MPI_Comm comm);
/** Make a random collective call on @p comm. */
void call_collective(Program* program, MPI_Comm comm);
/** Send to a neighbour and receive from the other. */
void shift(Program* program, MPI_Comm comm);
/** Put, get and accumulate between fences. */
void exchange_one_sided(Program* program, MPI_Comm comm);

Call* new_call(const char* name, MPI_Comm comm, int blocks);
/** A call is under way; its types are freed now or when it ends. */
void start_call(Program* program, Call* call, MPI_Request request);
/** A call has ended: hold its buffers against what is expected. */
void end_call(Program* program, Call* call);

#endif
