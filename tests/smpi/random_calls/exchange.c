/* SPDX-License-Identifier: LGPL-2.1-only */
#include "call.h"

#include <stdlib.h>
#include <string.h>

/* Initial contents of buffers; two different values reveal gaps that are copied. */
enum { GUARD_BYTES = 64, IN_SENT = 0x5a, IN_RECEIVED = 0xa5 };

/* Items between two guards. */
typedef struct {
  const Base* base;
  const Layout* layout;
  size_t size; /* without guards */
  unsigned char* bytes;
} Buffer;

/* Positions of the blocks sent to or received from each rank. */
typedef struct {
  int* counts; /* in items */
  int* places;
  int capacity; /* in items */
} Blocks;

struct Exchange {
  const Call* call;
  MPI_Comm comm;
  int rank;
  int size;
  int root;
  Blocks to, from;
  Buffer send, receive, expected;
  uint64_t sent; /* hash */
};

/* ---- Buffers ---- */

static Buffer make_buffer(const Base* base, const Layout* layout, int items, int before)
{
  Buffer buffer = {base, layout, base->size * (size_t)(items * layout->extent), NULL};
  buffer.bytes  = malloc(buffer.size + 2 * GUARD_BYTES);
  memset(buffer.bytes, before, buffer.size + 2 * GUARD_BYTES);
  return buffer;
}

static unsigned char* data_of(const Buffer* buffer)
{
  return buffer->bytes + GUARD_BYTES;
}

static void* element_of(const Buffer* buffer, int item, int element)
{
  const int at = item * buffer->layout->extent + buffer->layout->offsets[element];
  return data_of(buffer) + buffer->base->size * (size_t)at;
}

/* Padding may change in transfer; gaps and guards must not. */
static bool is_significant(const Buffer* buffer, size_t at)
{
  return at < GUARD_BYTES || at >= GUARD_BYTES + buffer->size ||
         (at - GUARD_BYTES) % buffer->base->size < buffer->base->significant;
}

static uint64_t hash_of(const Buffer* buffer)
{
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (size_t at = 0; at < buffer->size + 2 * GUARD_BYTES; at++)
    if (is_significant(buffer, at))
      hash = (hash ^ buffer->bytes[at]) * 1099511628211u;
  return hash;
}

static bool equal(const Buffer* one, const Buffer* other)
{
  for (size_t at = 0; at < one->size + 2 * GUARD_BYTES; at++)
    if (one->bytes[at] != other->bytes[at] && is_significant(one, at))
      return false;
  return true;
}

/* Clears a part of the result that MPI leaves undefined. */
static void forget(Exchange* e, int from, int to)
{
  const size_t extent = e->receive.base->size * (size_t)e->receive.layout->extent;
  memcpy(data_of(&e->receive) + extent * (size_t)from, data_of(&e->expected) + extent * (size_t)from,
         extent * (size_t)(to - from));
}

/* ---- Data ---- */

/* Fills element `element` of item k that rank `from` sends to rank `to`, or to all. */
static void fill_item(const Call* call, int from, int to, int k, int element, void* where)
{
  const uint64_t block = sequence(call->seed, (uint64_t)from << 32 | (uint32_t)to);
  fill(call->base, where, sequence(block, (uint64_t)k * ITEM + (uint64_t)element), call->inexact);
}

static void put(const Exchange* e, Buffer* buffer, int place, int from, int to, int count)
{
  for (int k = 0; k < count; k++)
    for (int element = 0; element < buffer->layout->elements; element++)
      fill_item(e->call, from, to, k, element, element_of(buffer, place + k, element));
}

/* Computes one item as MPI defines it: rank 0 op (rank 1 op (... op the last rank)). */
static void put_reduced_item(const Exchange* e, int last, int k, int place)
{
  const Base* base   = e->call->base;
  const int elements = e->receive.layout->elements;
  long double left[ITEM], right[ITEM]; /* large enough for the largest elements */
  char* packed = (char*)right;
  for (int rank = last; rank >= 0; rank--) {
    char* contribution = rank == last ? packed : (char*)left;
    for (int i = 0; i < elements; i++)
      fill_item(e->call, rank, 0, k, i, contribution + base->size * (size_t)i);
    if (rank != last)
      apply(e->call->operation, base, contribution, packed, elements);
  }
  for (int i = 0; i < elements; i++)
    memcpy(element_of(&e->expected, place, i), packed + base->size * (size_t)i, base->size);
}

static void put_reduced(const Exchange* e, int last, int first_item, int count)
{
  for (int k = 0; k < count; k++)
    put_reduced_item(e, last, first_item + k, k);
}

/* ---- Blocks ---- */

static int block_size(const Call* call, int from, int to)
{
  if (!is_uneven(call->collective))
    return call->items;
  Random random = sequence(call->seed + 1, (uint64_t)from << 32 | (uint32_t)to);
  return draw(&random, 4) == 0 ? 0 : draw(&random, 2 * call->items + 1);
}

static int count_of(const Exchange* e, int from, int to)
{
  const Call* call = e->call;
  if (call->collective != ALLTOALLV)
    return call->collective == SCATTERV ? block_size(call, 0, to) : block_size(call, from, 0);
  /* In place, a block is replaced by one of the same size. */
  return call->in_place && from > to ? block_size(call, to, from) : block_size(call, from, to);
}

/* Uneven blocks have gaps between them, and may be in reverse rank order. */
static void place_blocks(const Exchange* e, Blocks* blocks)
{
  Random random      = sequence(e->call->seed, 2);
  const bool spread  = is_uneven(e->call->collective) && e->call->collective != REDUCE_SCATTER;
  const bool reverse = spread && draw(&random, 2);
  int place          = 0;
  for (int i = 0; i < e->size; i++) {
    const int rank = reverse ? e->size - 1 - i : i;
    place += spread ? draw(&random, 3) : 0;
    blocks->places[rank] = place;
    place += blocks->counts[rank];
  }
  blocks->capacity = place;
}

static Blocks make_blocks(const Exchange* e, bool received)
{
  const size_t bytes = sizeof(int) * (size_t)e->size;
  Blocks blocks      = {malloc(bytes), malloc(bytes), 0};
  for (int other = 0; other < e->size; other++)
    blocks.counts[other] = received ? count_of(e, other, e->rank) : count_of(e, e->rank, other);
  place_blocks(e, &blocks);
  return blocks;
}

static void free_blocks(Blocks* blocks)
{
  free(blocks->counts);
  free(blocks->places);
}

/* ---- Contents of send buffers and expected results ---- */

static bool is_root(const Exchange* e)
{
  return e->rank == e->root;
}

/* Returns whether this rank passes MPI_IN_PLACE. */
static bool is_in_place(const Exchange* e)
{
  return e->call->in_place && (!is_rooted(e->call->collective) || is_root(e));
}

static int own_count(const Exchange* e)
{
  return count_of(e, e->rank, e->rank);
}

/* Returns the number of items that this rank contributes to a reduction. */
static int contributed(const Exchange* e)
{
  const bool scattered = e->call->collective == REDUCE_SCATTER || e->call->collective == REDUCE_SCATTER_BLOCK;
  return scattered ? e->from.capacity : e->call->items;
}

static void put_blocks(const Exchange* e, Buffer* buffer, const Blocks* blocks, bool received)
{
  for (int other = 0; other < e->size; other++)
    put(e, buffer, blocks->places[other], received ? other : e->rank, received ? e->rank : other,
        blocks->counts[other]);
}

/* Fills the blocks of a gather, which are the same for all receivers. */
static void put_gathered(const Exchange* e, Buffer* buffer)
{
  for (int from = 0; from < e->size; from++)
    put(e, buffer, e->from.places[from], from, 0, e->from.counts[from]);
}

static void make_buffers(Exchange* e, int sent, int received)
{
  const Layout* const* layouts = e->call->layouts;
  const int own                = e->call->collective == BCAST ? e->rank % 2 : 1;
  e->send                      = make_buffer(e->call->base, layouts[0], sent, IN_SENT);
  e->receive                   = make_buffer(e->call->base, layouts[own], received, IN_RECEIVED);
  e->expected                  = make_buffer(e->call->base, layouts[own], received, IN_RECEIVED);
}

static void prepare_reduction(Exchange* e)
{
  const Collective collective = e->call->collective;
  const int count             = contributed(e);
  const bool scattered        = collective == REDUCE_SCATTER || collective == REDUCE_SCATTER_BLOCK;
  const int result            = scattered ? own_count(e) : e->call->items;
  make_buffers(e, count, count);
  put(e, is_in_place(e) ? &e->receive : &e->send, 0, e->rank, 0, count);
  memcpy(e->expected.bytes, e->receive.bytes, e->receive.size + 2 * GUARD_BYTES);
  if (collective == REDUCE && !is_root(e))
    return;
  const int last = collective == SCAN ? e->rank : collective == EXSCAN ? e->rank - 1 : e->size - 1;
  if (last >= 0)
    put_reduced(e, last, scattered ? e->from.places[e->rank] : 0, result);
}

static void prepare_data(Exchange* e)
{
  switch (e->call->collective) {
    case BCAST:
      make_buffers(e, 0, e->call->items);
      put(e, &e->expected, 0, 0, 0, e->call->items);
      if (is_root(e))
        put(e, &e->receive, 0, 0, 0, e->call->items);
      break;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
      make_buffers(e, own_count(e), e->from.capacity);
      put(e, &e->send, 0, e->rank, 0, own_count(e));
      if (is_in_place(e))
        put(e, &e->receive, e->from.places[e->rank], e->rank, 0, own_count(e));
      if (!is_rooted(e->call->collective) || is_root(e))
        put_gathered(e, &e->expected);
      break;
    case SCATTER:
    case SCATTERV:
      make_buffers(e, e->to.capacity, own_count(e));
      if (is_root(e))
        for (int to = 0; to < e->size; to++)
          put(e, &e->send, e->to.places[to], 0, to, e->to.counts[to]);
      if (!is_in_place(e))
        put(e, &e->expected, 0, 0, e->rank, own_count(e));
      break;
    case ALLTOALL:
    case ALLTOALLV:
      make_buffers(e, e->to.capacity, e->from.capacity);
      put_blocks(e, is_in_place(e) ? &e->receive : &e->send, &e->to, false);
      put_blocks(e, &e->expected, &e->from, true);
      break;
    default: /* MPI_Barrier */
      make_buffers(e, 0, 0);
  }
}

/* ---- The call ---- */

static int mpi_count(const Layout* layout, int items)
{
  return items * layout->per_item;
}

/* Converts counts or displacements to elements of the datatype. */
static int* scaled(const Exchange* e, const Layout* layout, const int* items)
{
  int* counts = malloc(sizeof(int) * (size_t)e->size);
  for (int rank = 0; rank < e->size; rank++)
    counts[rank] = mpi_count(layout, items[rank]);
  return counts;
}

#define CALL(function, with_request, ...)                                                                              \
  (e->call->nonblocking ? with_request(__VA_ARGS__, request) : function(__VA_ARGS__))

static void call_reduction(const Exchange* e, const void* send, void* receive, MPI_Request* request)
{
  const Layout* layout = e->receive.layout;
  MPI_Datatype type    = layout->type;
  MPI_Op op            = e->call->operation->op;
  const int count      = mpi_count(layout, e->call->items);
  int* counts          = scaled(e, layout, e->from.counts);
  switch (e->call->collective) {
    case REDUCE:
      CALL(MPI_Reduce, MPI_Ireduce, send, receive, count, type, op, e->root, e->comm);
      break;
    case ALLREDUCE:
      CALL(MPI_Allreduce, MPI_Iallreduce, send, receive, count, type, op, e->comm);
      break;
    case REDUCE_SCATTER:
      CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, send, receive, counts, type, op, e->comm);
      break;
    case REDUCE_SCATTER_BLOCK:
      CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, send, receive, count, type, op, e->comm);
      break;
    case SCAN:
      CALL(MPI_Scan, MPI_Iscan, send, receive, count, type, op, e->comm);
      break;
    default:
      CALL(MPI_Exscan, MPI_Iexscan, send, receive, count, type, op, e->comm);
  }
  free(counts);
}

static void call_data(const Exchange* e, const void* send, void* receive, MPI_Request* request)
{
  const Layout* from     = e->send.layout;
  const Layout* to       = e->receive.layout;
  MPI_Datatype send_type = from->type;
  MPI_Datatype type      = to->type;
  const int send_count   = mpi_count(from, own_count(e));
  const int count        = mpi_count(to, own_count(e));
  int* send_counts       = scaled(e, from, e->to.counts);
  int* send_places       = scaled(e, from, e->to.places);
  int* counts            = scaled(e, to, e->from.counts);
  int* where             = scaled(e, to, e->from.places);
  MPI_Comm comm          = e->comm;
  switch (e->call->collective) {
    case BCAST:
      CALL(MPI_Bcast, MPI_Ibcast, receive, count, type, e->root, comm);
      break;
    case GATHER:
      CALL(MPI_Gather, MPI_Igather, send, send_count, send_type, receive, count, type, e->root, comm);
      break;
    case GATHERV:
      CALL(MPI_Gatherv, MPI_Igatherv, send, send_count, send_type, receive, counts, where, type, e->root, comm);
      break;
    case ALLGATHER:
      CALL(MPI_Allgather, MPI_Iallgather, send, send_count, send_type, receive, count, type, comm);
      break;
    case ALLGATHERV:
      CALL(MPI_Allgatherv, MPI_Iallgatherv, send, send_count, send_type, receive, counts, where, type, comm);
      break;
    case SCATTER:
      CALL(MPI_Scatter, MPI_Iscatter, send, send_count, send_type, receive, count, type, e->root, comm);
      break;
    case SCATTERV:
      CALL(MPI_Scatterv, MPI_Iscatterv, send, send_counts, send_places, send_type, receive, count, type, e->root, comm);
      break;
    case ALLTOALL:
      CALL(MPI_Alltoall, MPI_Ialltoall, send, send_count, send_type, receive, count, type, comm);
      break;
    case ALLTOALLV:
      CALL(MPI_Alltoallv, MPI_Ialltoallv, send, send_counts, send_places, send_type, receive, counts, where, type,
           comm);
      break;
    default:
      CALL(MPI_Barrier, MPI_Ibarrier, comm);
  }
  free(send_counts);
  free(send_places);
  free(counts);
  free(where);
}

Exchange* start_exchange(const Call* call, MPI_Request* request)
{
  MPI_Comm comm = places[call->place].comm;
  *request      = MPI_REQUEST_NULL;
  if (comm == MPI_COMM_NULL)
    return NULL;
  Exchange* e = malloc(sizeof(Exchange));
  *e          = (Exchange){.call = call, .comm = comm};
  MPI_Comm_rank(comm, &e->rank);
  MPI_Comm_size(comm, &e->size);
  e->root = call->root % e->size;
  e->to   = make_blocks(e, false);
  e->from = make_blocks(e, true);
  if (is_reduction(call->collective))
    prepare_reduction(e);
  else
    prepare_data(e);
  e->sent              = hash_of(&e->send);
  const bool scattered = call->collective == SCATTER || call->collective == SCATTERV;
  const void* send     = is_in_place(e) && !scattered ? MPI_IN_PLACE : data_of(&e->send);
  void* receive        = is_in_place(e) && scattered ? MPI_IN_PLACE : data_of(&e->receive);
  if (is_reduction(call->collective))
    call_reduction(e, send, receive, request);
  else
    call_data(e, send, receive, request);
  return e;
}

/* ---- The result ---- */

static void forget_what_is_undefined(Exchange* e)
{
  const Collective collective = e->call->collective;
  if (collective == EXSCAN && e->rank == 0)
    forget(e, 0, e->call->items);
  if (is_in_place(e) && (collective == REDUCE_SCATTER || collective == REDUCE_SCATTER_BLOCK))
    forget(e, own_count(e), contributed(e));
}

uint64_t finish_exchange(Exchange* e, const char** wrong)
{
  forget_what_is_undefined(e);
  const uint64_t hash = hash_of(&e->receive);
  if (!equal(&e->receive, &e->expected))
    *wrong = "wrong result";
  else if (hash_of(&e->send) != e->sent)
    *wrong = "what was sent has changed";
  free(e->send.bytes);
  free(e->receive.bytes);
  free(e->expected.bytes);
  free_blocks(&e->to);
  free_blocks(&e->from);
  free(e);
  return hash;
}
