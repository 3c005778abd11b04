/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random collective call, chosen identically by all ranks; each rank executes and checks its part. */
#ifndef CALL_H
#define CALL_H

#include "data.h"
#include "places.h"

typedef enum {
  BARRIER,
  BCAST,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  ALLGATHER,
  ALLGATHERV,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLTOALL,
  ALLTOALLV,
  SCAN,
  EXSCAN,
  COLLECTIVES
} Collective;

/* Selection of calls. */
typedef enum {
  COMPARABLE, /* calls that SMPI executes correctly */
  OFFLOADED,  /* calls that a switch may execute, including those that only weft executes correctly, in rank order */
  INEXACT     /* reductions whose result depends on the order, which SMPI's algorithm may share with weft */
} Selection;

typedef struct {
  uint64_t seed; /* of the call's data and uneven counts */
  Collective collective;
  int place;
  bool nonblocking;
  bool in_place;
  bool inexact;
  int items; /* per block; half of the maximum for uneven blocks */
  int root;  /* modulo the number of ranks */
  const Base* base;
  const Operation* operation;
  const Layout* layouts[2]; /* of the sent and the received data; for a Bcast, of even and odd ranks' buffers */
} Call;

Call choose_call(Random random, Selection selection, int place);
bool is_reduction(Collective collective);
/* Returns whether counts differ between ranks. */
bool is_uneven(Collective collective);
bool is_rooted(Collective collective);
/* Returns whether a switch with all capabilities executes the call. */
bool may_be_offloaded(const Call* call);
const char* collective_name(Collective collective);

/* One rank's part of a call. */
typedef struct Exchange Exchange;
/* Returns NULL on ranks outside the communicator. */
Exchange* start_exchange(const Call* call, MPI_Request* request);
/* Returns a hash of the received data; sets *wrong to a description of an error, if there is one. */
uint64_t finish_exchange(Exchange* exchange, const char** wrong);

/* Waits for all requests in a way that the rank chooses; @p offloaded: none of them belongs to SMPI. */
void complete(Random random, bool offloaded, MPI_Request* requests, int count);

#endif
