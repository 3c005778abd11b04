/* SPDX-License-Identifier: LGPL-2.1-only */
/* One collective call: chosen at random by all ranks alike, made and checked by each. */
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

/* Which calls are made. */
typedef enum {
  COMPARABLE, /* those that SMPI does right */
  OFFLOADED,  /* where a switch may do them, also those that only weft does right, in the order of ranks */
  INEXACT     /* reductions whose result depends on their order, where SMPI's may be that of weft */
} Selection;

typedef struct {
  uint64_t seed; /* of its data and its uneven counts */
  Collective collective;
  int place;
  bool nonblocking;
  bool in_place;
  bool inexact;
  int items; /* of a rank's block, or its mean */
  int root;  /* modulo the number of ranks */
  const Base* base;
  const Operation* operation;
  const Layout* layouts[2]; /* of what is sent and what is received, and of every second rank's buffer of a bcast */
} Call;

Call choose_call(Random random, Selection selection, int place);
bool is_reduction(Collective collective);
/* Counts differ between ranks. */
bool is_uneven(Collective collective);
bool is_rooted(Collective collective);
/* A switch that can do everything does it. */
bool may_be_offloaded(const Call* call);
const char* collective_name(Collective collective);

/* A rank's part in a call. */
typedef struct Exchange Exchange;
/* NULL at ranks that are not on the communicator. */
Exchange* start_exchange(const Call* call, MPI_Request* request);
/* Returns a hash of what was received; sets *wrong to what is wrong with it, if anything. */
uint64_t finish_exchange(Exchange* exchange, const char** wrong);

/* Wait for all requests, each rank in a way of its own; `offloaded` where none of them is SMPI's. */
void complete(Random random, bool offloaded, MPI_Request* requests, int count);

#endif
