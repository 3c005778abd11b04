/* SPDX-License-Identifier: LGPL-2.1-only */
/* Calls of newer forms that used to fail: `awkward_forms CASE…`. Prints `CASE RANK: right` or `wrong` per case and
 * rank; at least three ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 16 };

static int rank, size;

/* MPI_Sendrecv_replace and MPI_Isendrecv_replace without data, for which receives wait, and of a type whose data begins
 * before its address. */
static int replace(void)
{
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int right = 1, counted = -1, numbers[5] = {0, 10 * rank, 10 * rank + 1, 0, 0};
  const int length = 2, place = -2;
  MPI_Datatype before;
  MPI_Request request, receiving;
  MPI_Status status;
  MPI_Type_indexed(1, &length, &place, MPI_INT, &before);
  MPI_Type_commit(&before);
  for (int later = 0; later < 2; later++) {
    MPI_Irecv(numbers, 0, MPI_INT, from, 1, MPI_COMM_WORLD, &receiving);
    memset(&status, -1, sizeof status);
    if (later)
      MPI_Isendrecv_replace(numbers, 0, MPI_INT, to, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    else
      MPI_Sendrecv_replace(numbers, 0, MPI_INT, to, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    if (later)
      MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &counted);
    right &= counted == 0 && (later || status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Wait(&receiving, &status);
    right &= status.MPI_SOURCE == from;
    if (later)
      MPI_Isendrecv_replace(numbers + 3, 1, before, to, 2, from, 2, MPI_COMM_WORLD, &request);
    else
      MPI_Sendrecv_replace(numbers + 3, 1, before, to, 2, from, 2, MPI_COMM_WORLD, &status);
    if (later)
      MPI_Wait(&request, &status);
  }
  const int origin = (rank + 2 * size - 2) % size;
  right &= numbers[0] == 0 && numbers[1] == 10 * origin && numbers[2] == 10 * origin + 1 && numbers[3] == 0;
  MPI_Type_free(&before);
  return right;
}

/* Requests of several kinds, so that a rank gets a request at the address of another rank's that was just completed. */
static int reused(void)
{
  int right = 1, number = rank, copy = 0;
  MPI_Request request, persistent;
  for (int round = 0; round < 40; round++) {
    MPI_Isendrecv_replace(&number, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                          &request);
    if ((rank + round) % 3 == 0)
      MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right &= request == MPI_REQUEST_NULL;
    MPI_Allreduce_init(&number, &copy, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    for (int start = 0; start < 3; start++) {
      MPI_Start(&persistent);
      MPI_Wait(&persistent, MPI_STATUS_IGNORE);
      if (persistent == MPI_REQUEST_NULL)
        return 0;
      right &= copy == size * (size - 1) / 2;
    }
    MPI_Request_free(&persistent);
  }
  return right;
}

static MPI_Datatype given;
static int given_rightly;

static void add(void* in, void* inout, int* count, MPI_Datatype* type)
{
  given_rightly &= *type == given;
  for (int i = 0; i < 2 * *count; i++)
    ((int*)inout)[i] += ((int*)in)[i];
}

/* A persistent reduction whose operation queries its datatype. */
static int operation(void)
{
  int numbers[2] = {rank, 1}, sums[2] = {0, 0};
  MPI_Op op;
  MPI_Request request;
  MPI_Type_contiguous(2, MPI_INT, &given);
  MPI_Type_commit(&given);
  MPI_Op_create(add, 1, &op);
  given_rightly = 1;
  MPI_Allreduce_init(numbers, sums, 1, given, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&given);
  MPI_Request_free(&request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Op_free(&op);
  return given_rightly && sums[0] == size * (size - 1) / 2 && sums[1] == size;
}

/* An intercommunicator between the first rank and all other ranks. */
static MPI_Comm make_across(void)
{
  MPI_Comm local, across;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 1, &across);
  MPI_Comm_free(&local);
  return across;
}

/* A reduction on an intercommunicator whose datatype is freed before the remote group enters. */
static int freed(void)
{
  int numbers[2] = {rank, 1}, sums[2] = {0, 0};
  MPI_Comm across = make_across();
  MPI_Datatype pair, others[64];
  MPI_Request request;
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int late = 0; late < 2; late++) {
    if ((rank > 0) == late)
      MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_vector(2, 1, 1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Iallreduce(numbers, sums, 1, pair, op, across, &request);
    MPI_Type_free(&pair);
    for (int i = 0; i < 64; i++) /* reuse the memory of the freed type */
      MPI_Type_contiguous(1 + i, MPI_CHAR, &others[i]);
    if ((rank > 0) != late)
      MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++)
      MPI_Type_free(&others[i]);
  }
  MPI_Op_free(&op);
  MPI_Comm_free(&across);
  return rank > 0 ? sums[0] == 0 && sums[1] == 1 : sums[0] == size * (size - 1) / 2 && sums[1] == size - 1;
}

/* Arrays of large counts: as long as the remote group; for MPI_Reduce_scatter, as long as the local one. */
static int large_across(void)
{
  MPI_Comm across = make_across();
  MPI_Count counts[MOST_RANKS];
  MPI_Aint places[MOST_RANKS];
  int sent[MOST_RANKS], got[MOST_RANKS] = {0}, right = 1;
  for (int i = 0; i < MOST_RANKS; i++) {
    counts[i] = 1;
    places[i] = i;
    sent[i]   = 10 * rank + i;
  }
  MPI_Scatterv_c(sent, counts, places, MPI_INT, got, 1, MPI_INT, rank > 0 ? 0 : MPI_ROOT, across);
  right &= rank == 0 || got[0] == rank - 1;
  MPI_Gatherv_c(sent, 1, MPI_INT, got, counts, places, MPI_INT, rank > 0 ? 0 : MPI_ROOT, across);
  right &= rank > 0 || got[size - 2] == 10 * (size - 1);
  MPI_Alltoallv_c(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, across);
  right &= rank > 0 ? got[0] == rank - 1 : got[size - 2] == 10 * (size - 1);
  if (rank == 0)
    counts[0] = size - 1;
  MPI_Reduce_scatter_c(sent, got, counts, MPI_INT, MPI_SUM, across);
  right &= rank > 0 ? got[0] == rank - 1 : got[0] == 5 * size * (size - 1);
  MPI_Comm_free(&across);
  return right;
}

/* Persistent rooted collectives in which the ranks of the root's group pass arguments that are not significant. */
static int idle(void)
{
  MPI_Comm across = make_across();
  MPI_Request requests[2];
  int number = rank, sum = -1;
  const int root    = rank == 1 ? MPI_ROOT : rank > 1 ? MPI_PROC_NULL : 0;
  MPI_Datatype type = rank > 1 ? MPI_DATATYPE_NULL : MPI_INT;
  const MPI_Op op   = rank > 1 ? MPI_OP_NULL : MPI_SUM;
  MPI_Bcast_init(&number, rank > 1 ? -1 : 1, type, root, across, MPI_INFO_NULL, &requests[0]);
  MPI_Reduce_init(&number, &sum, rank > 1 ? -1 : 1, type, op, root, across, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Start(&requests[i]);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[i]);
  }
  MPI_Comm_free(&across);
  return rank == 0 ? number == 1 : rank == 1 ? sum == 1 : sum == -1;
}

/* MPI_Imrecv whose datatype is freed before the request completes. */
static int matched(void)
{
  int sent[4] = {rank, rank, rank, rank}, got[8] = {0}, right = 1;
  MPI_Datatype gapped, others[64];
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Type_vector(4, 1, 2, MPI_INT, &gapped);
  MPI_Type_commit(&gapped);
  MPI_Isend(sent, 4, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(got, 1, gapped, &message, &requests[1]);
  MPI_Type_free(&gapped);
  for (int i = 0; i < 64; i++) /* reuse the memory of the freed type */
    MPI_Type_contiguous(1 + i, MPI_CHAR, &others[i]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 8; i++)
    right &= got[i] == (i % 2 ? 0 : (rank + size - 1) % size);
  for (int i = 0; i < 64; i++)
    MPI_Type_free(&others[i]);
  return right;
}

typedef struct {
  const char* name;
  int (*run)(void);
} Case;

int main(int argc, char** argv)
{
  static const Case CASES[] = {
      {"replace", replace},           {"reused", reused}, {"operation", operation}, {"freed", freed},
      {"large-across", large_across}, {"idle", idle},     {"matched", matched},
  };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++)
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
      if (strcmp(argv[i], CASES[c].name) == 0)
        printf("%s %d: %s\n", argv[i], rank, CASES[c].run() ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
