/* SPDX-License-Identifier: LGPL-2.1-only
 * Rounds of random one-sided calls of all kinds, in epochs of all kinds, beside messages.
 *
 *   random_one_sided SEED ROUNDS
 *
 * All ranks draw the same calls, and keep a copy of all windows as the calls leave them. Within a round, a block of a
 * window is the target of one call, or of several sums. Rank 0 prints "right", or the number of wrong values. */
#include "draws.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 3000, BLOCKS = 6, LENGTH = BLOCK * BLOCKS, CALLS = 12 };
enum Kind { PUT, RPUT, GET, RGET, SUM, RSUM, GET_SUM, FETCH, SWAP, KINDS };
enum Epoch { FENCE, LOCK, LOCK_ALL, EXPOSED, EPOCHS };

typedef struct {
  int origin, target, kind, block, count, gaps, sum_of;
} Call;

static int rank, ranks, wrong;
static int *window_data, *copies, *sent, *fetched; /* copies: LENGTH per rank; the others: BLOCK per call */
static MPI_Win window;

static int value(const Call* call, int number, int at)
{
  return call->origin * 131 + number * 31 + at % 97 + 1;
}

static int adds(int kind)
{
  return kind == SUM || kind == RSUM;
}

static void draw(Call* calls)
{
  static const int COUNTS[] = {1, 2, 7, 100, 1000, BLOCK / 2};
  int used[64][BLOCKS];
  memset(used, -1, sizeof used);
  for (int i = 0; i < CALLS; ++i) {
    Call* call   = &calls[i];
    call->origin = below(ranks);
    call->target = below(ranks);
    call->block  = below(BLOCKS);
    call->kind   = below(KINDS);
    call->count  = call->kind == FETCH || call->kind == SWAP ? 1 : COUNTS[below(6)];
    call->gaps   = call->kind < SUM && below(3) == 0;
    int* user    = &used[call->target][call->block];
    if (*user >= 0 && !(adds(*user) && adds(call->kind)))
      call->origin = -1; /* skipped */
    else
      *user = call->kind;
  }
}

static MPI_Datatype spread(int count)
{
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void start(const Call* call, int number, MPI_Request* request)
{
  int* out             = sent + number * BLOCK;
  int* in              = fetched + number * BLOCK;
  const MPI_Aint place = (MPI_Aint)call->block * BLOCK;
  for (int i = 0; i < call->count; ++i)
    out[i] = value(call, number, i);
  MPI_Datatype theirs = call->gaps ? spread(call->count) : MPI_INT;
  const int number_of = call->gaps ? 1 : call->count;
  const int to        = call->target;
  int* compared       = in + 1;
  *compared           = copies[(size_t)to * LENGTH + (size_t)place];
  switch (call->kind) {
    case PUT:
      MPI_Put(out, call->count, MPI_INT, to, place, number_of, theirs, window);
      break;
    case RPUT:
      MPI_Rput(out, call->count, MPI_INT, to, place, number_of, theirs, window, request);
      break;
    case GET:
      MPI_Get(in, call->count, MPI_INT, to, place, number_of, theirs, window);
      break;
    case RGET:
      MPI_Rget(in, call->count, MPI_INT, to, place, number_of, theirs, window, request);
      break;
    case SUM:
      MPI_Accumulate(out, call->count, MPI_INT, to, place, call->count, MPI_INT, MPI_SUM, window);
      break;
    case RSUM:
      MPI_Raccumulate(out, call->count, MPI_INT, to, place, call->count, MPI_INT, MPI_SUM, window, request);
      break;
    case GET_SUM:
      MPI_Get_accumulate(out, call->count, MPI_INT, in, call->count, MPI_INT, to, place, call->count, MPI_INT, MPI_SUM,
                         window);
      break;
    case FETCH:
      MPI_Fetch_and_op(out, in, MPI_INT, to, place, MPI_SUM, window);
      break;
    default:
      MPI_Compare_and_swap(out, compared, in, MPI_INT, to, place, window);
  }
  if (call->gaps)
    MPI_Type_free(&theirs);
}

/** Checks what a call has fetched, and updates the copy of its target. */
static void finish(const Call* call, int number)
{
  int* theirs     = copies + (size_t)call->target * LENGTH + (size_t)call->block * BLOCK;
  const int fetch = call->kind == GET || call->kind == RGET || call->kind >= GET_SUM;
  const int step  = call->gaps ? 2 : 1;
  for (int i = 0; i < call->count; ++i) {
    int* at = theirs + i * step;
    if (fetch && call->origin == rank && fetched[number * BLOCK + i] != *at)
      ++wrong;
    if (call->kind == PUT || call->kind == RPUT || call->kind == SWAP)
      *at = value(call, number, i);
    else if (call->kind != GET && call->kind != RGET)
      *at += value(call, number, i);
  }
}

static void begin_epoch(int epoch, MPI_Group all)
{
  if (epoch == FENCE)
    MPI_Win_fence(0, window);
  if (epoch == LOCK_ALL)
    MPI_Win_lock_all(0, window);
  for (int to = 0; epoch == LOCK && to < ranks; ++to)
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
  if (epoch == EXPOSED) {
    MPI_Win_post(all, 0, window);
    MPI_Win_start(all, 0, window);
  }
}

static void end_epoch(int epoch)
{
  if (epoch == FENCE)
    MPI_Win_fence(0, window);
  if (epoch == LOCK_ALL) {
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
  }
  for (int to = 0; epoch == LOCK && to < ranks; ++to)
    MPI_Win_unlock(to, window);
  if (epoch == EXPOSED) {
    MPI_Win_complete(window);
    MPI_Win_wait(window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void one_round(MPI_Group all)
{
  Call calls[CALLS];
  MPI_Request requests[CALLS + 2];
  int waits       = 0;
  const int epoch = below(EPOCHS);
  const int size  = 1 << below(15);
  draw(calls);
  const int beside = below(2);
  int* message     = calloc((size_t)size * 2, sizeof(int));
  if (beside) {
    MPI_Irecv(message, size, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[waits++]);
    for (int i = 0; i < size; ++i)
      message[size + i] = rank + i;
    MPI_Isend(message + size, size, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &requests[waits++]);
  }
  begin_epoch(epoch, all);
  for (int i = 0; i < CALLS; ++i)
    if (calls[i].origin == rank) {
      const int kind      = calls[i].kind;
      const int requested = kind == RPUT || kind == RGET || kind == RSUM;
      if (requested && (epoch == FENCE || epoch == EXPOSED)) /* requests need passive targets */
        calls[i].kind = kind - 1;
      requests[waits] = MPI_REQUEST_NULL;
      start(&calls[i], i, &requests[waits]);
      waits += requested && calls[i].kind == kind;
    }
  MPI_Waitall(waits, requests, MPI_STATUSES_IGNORE);
  end_epoch(epoch);
  for (int i = 0; i < CALLS; ++i)
    if (calls[i].origin >= 0)
      finish(&calls[i], i);
  for (int i = 0; beside && i < size; ++i)
    wrong += message[i] != (rank + ranks - 1) % ranks + i;
  for (int i = 0; i < LENGTH; ++i)
    wrong += window_data[i] != copies[(size_t)rank * LENGTH + (size_t)i];
  MPI_Barrier(MPI_COMM_WORLD);
  free(message);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks > 64)
    MPI_Abort(MPI_COMM_WORLD, 2);
  state   = (uint64_t)atoi(argv[1]);
  copies  = calloc((size_t)ranks * LENGTH, sizeof(int));
  sent    = calloc((size_t)CALLS * BLOCK, sizeof(int));
  fetched = calloc((size_t)CALLS * BLOCK, sizeof(int));
  MPI_Win_allocate((MPI_Aint)(LENGTH * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window_data, &window);
  memset(window_data, 0, LENGTH * sizeof(int));
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < atoi(argv[2]); ++i)
    one_round(all);
  int sum = 0;
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && sum == 0)
    printf("right\n");
  else if (rank == 0)
    printf("%d wrong\n", sum);
  MPI_Group_free(&all);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
