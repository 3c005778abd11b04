/* SPDX-License-Identifier: LGPL-2.1-only */
/* Counts the messages of MPICH over UCX: MPICH passes each message to a single UCX function, on which this file
 * interposes (link with -rdynamic). UCX identifies a receiver by an end point; an initial message to each rank reveals
 * the mapping. */
#define _GNU_SOURCE
#include "../messages/counting.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucp/api/ucp.h>

static ucp_ep_h* end_points;  /* by rank */
static int being_learnt = -1; /* destination of the next message, while learning */
static int ranks;

/* ---- Generic datatypes: their length is queried as UCX would ---- */

enum { MOST_TYPES = 4096 };
static struct {
  ucp_datatype_t type;
  ucp_generic_dt_ops_t operations;
  void* context;
} types[MOST_TYPES];
static int number_of_types;

static void* next_definition(const char* name)
{
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "messages: UCX has no %s\n", name);
    abort();
  }
  return found;
}

ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t* operations, void* context, ucp_datatype_t* type)
{
  static ucs_status_t (*ucx)(const ucp_generic_dt_ops_t*, void*, ucp_datatype_t*);
  if (!ucx)
    ucx =
        (ucs_status_t (*)(const ucp_generic_dt_ops_t*, void*, ucp_datatype_t*))next_definition("ucp_dt_create_generic");
  const ucs_status_t status = ucx(operations, context, type);
  const int at              = number_of_types++ % MOST_TYPES; /* the oldest have been freed */
  types[at].type            = *type;
  types[at].operations      = *operations;
  types[at].context         = context;
  return status;
}

static size_t length_of(const void* buffer, size_t count, const ucp_request_param_t* param)
{
  if (!(param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) || param->datatype == ucp_dt_make_contig(1))
    return count;
  for (int back = 1; back <= MOST_TYPES && back <= number_of_types; ++back) {
    const int at = (number_of_types - back) % MOST_TYPES;
    if (types[at].type == param->datatype) {
      /* The state is not finished: MPICH would interpret that as the end of a message. */
      void* state = types[at].operations.start_pack(types[at].context, buffer, count);
      return types[at].operations.packed_size(state);
    }
  }
  fprintf(stderr, "messages: a datatype that nobody made\n");
  abort();
}

/* ---- Messages ---- */

static void sent(ucp_ep_h end_point, size_t size)
{
  if (being_learnt >= 0) {
    end_points[being_learnt] = end_point;
    being_learnt             = -1;
    return;
  }
  if (!end_points)
    return;
  for (int rank = 0; rank < ranks; ++rank)
    if (end_points[rank] == end_point) {
      count_message(rank, size);
      return;
    }
}

#define SEND(name)                                                                                                     \
  ucs_status_ptr_t name(ucp_ep_h end_point, const void* buffer, size_t count, ucp_tag_t tag,                           \
                        const ucp_request_param_t* param)                                                              \
  {                                                                                                                    \
    static ucs_status_ptr_t (*ucx)(ucp_ep_h, const void*, size_t, ucp_tag_t, const ucp_request_param_t*);              \
    if (!ucx)                                                                                                          \
      ucx = (ucs_status_ptr_t (*)(ucp_ep_h, const void*, size_t, ucp_tag_t,                                            \
                                  const ucp_request_param_t*))next_definition(#name);                                  \
    sent(end_point, length_of(buffer, count, param));                                                                  \
    return ucx(end_point, buffer, count, tag, param);                                                                  \
  }

SEND(ucp_tag_send_nbx)
SEND(ucp_tag_send_sync_nbx)

/* Waiting ranks poll UCX; yield, so that other ranks make progress if there are fewer cores than ranks. */
unsigned ucp_worker_progress(ucp_worker_h worker)
{
  static unsigned (*ucx)(ucp_worker_h);
  if (!ucx)
    ucx = (unsigned (*)(ucp_worker_h))next_definition("ucp_worker_progress");
  const unsigned done = ucx(worker);
  if (!done)
    sched_yield();
  return done;
}

void prepare_counting(int rank, int all)
{
  ranks      = all;
  end_points = calloc((size_t)ranks, sizeof *end_points);
  for (int distance = 1; distance < ranks; ++distance) {
    const int to   = (rank + distance) % ranks;
    const int from = (rank + ranks - distance) % ranks;
    MPI_Request request;
    MPI_Irecv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    being_learnt = to;
    MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    being_learnt = -1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
