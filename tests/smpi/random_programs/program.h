/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random program: communicators, and calls in flight. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "reduce.h"

enum { MOST_COMMUNICATORS = 6, MOST_IN_FLIGHT = 24 };

/** A call in flight, or a blocking call while it executes. */
typedef struct {
  char name[96];
  Buffer send, receive;
  int gives, gets;            ///< whether the send or receive buffer exists and is checked
  int leading;                ///< number of leading elements of the result that are defined; -1: all
  Layout reduced;             ///< type of a reduction; without elements for other calls
  int send_bytes[MOST_RANKS]; ///< displacements for MPI_Alltoallw
  int receive_bytes[MOST_RANKS];
  MPI_Datatype send_types[MOST_RANKS];
  MPI_Datatype receive_types[MOST_RANKS];
} Call;

typedef struct {
  uint64_t seed;
  int number;
  int step;
  Draw all;  ///< identical on all ranks
  Draw mine; ///< private to this rank
  MPI_Comm communicators[MOST_COMMUNICATORS];
  int in_flight;
  MPI_Request requests[MOST_IN_FLIGHT];
  Call* calls[MOST_IN_FLIGHT];
  int wrong; ///< number of wrong results
} Program;

/** Returns a number that all ranks of a communicator share, but not those of its sister communicators. */
uint64_t salt_of(const Program* program, MPI_Comm comm);
/** Executes or starts a random collective call on @p comm. */
void call_collective(Program* program, MPI_Comm comm);
/** Sends to one neighbour and receives from the other. */
void shift(Program* program, MPI_Comm comm);
/** Puts, gets and accumulates between fences. */
void exchange_one_sided(Program* program, MPI_Comm comm);

Call* new_call(const char* name, MPI_Comm comm, int blocks);
/** Registers a call in flight; its types are freed now or when it completes. */
void start_call(Program* program, Call* call, MPI_Request request);
/** Completes a call: compares its buffers with the expected contents. */
void end_call(Program* program, Call* call);

#endif
