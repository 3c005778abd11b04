/* SPDX-License-Identifier: LGPL-2.1-only */
/* Makes one call of each named kind: `calls NAME...`; a wrong result of a checked call ends the
 * program with status 1. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_RANKS = 16, COUNT = 300, EXIT_WRONG_RESULT = 1, EXIT_USAGE = 64 };

static int rank, ranks, wrong;
static int send[COUNT * MAX_RANKS], receive[COUNT * MAX_RANKS];
static double send_doubles[COUNT], receive_doubles[COUNT];
static long send_longs[COUNT], receive_longs[COUNT];

/* ---- Allreduces ---- */

static void allreduce(MPI_Op op, int expected)
{
  for (int i = 0; i < COUNT; i++)
    send[i] = rank + 1;
  memset(receive, 0, sizeof(receive));
  MPI_Allreduce(send, receive, COUNT, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < COUNT; i++)
    wrong |= receive[i] != expected;
}

static void int_sum(void)
{
  allreduce(MPI_SUM, ranks * (ranks + 1) / 2);
}

static void int_max(void)
{
  allreduce(MPI_MAX, ranks);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type)
{
  (void)type;
  for (int i = 0; i < *count; i++)
    ((int*)inout)[i] += ((int*)in)[i];
}

static void int_own_sum(void)
{
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  allreduce(op, ranks * (ranks + 1) / 2);
  MPI_Op_free(&op);
}

static void double_sum(void)
{
  send_doubles[0] = rank + 0.5;
  MPI_Allreduce(send_doubles, receive_doubles, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  wrong |= receive_doubles[0] != ranks * ranks / 2.0;
}

static void long_sum(void)
{
  send_longs[1] = 1L << 40;
  MPI_Allreduce(send_longs, receive_longs, COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  wrong |= receive_longs[1] != (long)ranks << 40;
}

static void pair_sum(void)
{
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(send, receive, COUNT / 2, pair, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

static void nothing(void)
{
  receive[0] = -1;
  MPI_Allreduce(send, receive, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, receive, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  wrong |= receive[0] != -1;
}

/* ---- Other collectives of SMPI's registry ---- */

static void reduce(void)
{
  MPI_Reduce(send, receive, COUNT, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
}

static void reduce_scatter(void)
{
  int counts[MAX_RANKS];
  for (int i = 0; i < ranks; i++)
    counts[i] = i + 1;
  MPI_Reduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
  send[7] = rank;
  MPI_Bcast(send, COUNT, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  wrong |= send[7] != ranks - 1;
}

static void gather(void)
{
  MPI_Gather(send, COUNT, MPI_INT, receive, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
}

static void scatter(void)
{
  MPI_Scatter(send, COUNT, MPI_INT, receive, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
}

static void allgather(void)
{
  MPI_Allgather(send, COUNT, MPI_INT, receive, COUNT, MPI_INT, MPI_COMM_WORLD);
}

static void alltoall(void)
{
  MPI_Alltoall(send, COUNT, MPI_INT, receive, COUNT, MPI_INT, MPI_COMM_WORLD);
}

static void allgatherv(void)
{
  int counts[MAX_RANKS], places[MAX_RANKS];
  for (int i = 0; i < ranks; i++) {
    counts[i] = i + 1;
    places[i] = i * COUNT;
  }
  MPI_Allgatherv(send, rank + 1, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void alltoallv(void)
{
  int counts[MAX_RANKS], places[MAX_RANKS];
  for (int i = 0; i < ranks; i++) {
    counts[i] = COUNT;
    places[i] = i * COUNT;
  }
  MPI_Alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void empty_reduce(void)
{
  MPI_Reduce(send, receive, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void empty_bcast(void)
{
  MPI_Bcast(send, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

static void empty_allgatherv(void)
{
  int zeros[MAX_RANKS] = {0};
  MPI_Allgatherv(send, 0, MPI_INT, receive, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*make)(void);
} CALLS[] = {
    {"int-sum", int_sum},
    {"int-max", int_max},
    {"int-own-sum", int_own_sum},
    {"double-sum", double_sum},
    {"long-sum", long_sum},
    {"pair-sum", pair_sum},
    {"nothing", nothing},
    {"reduce", reduce},
    {"reduce_scatter", reduce_scatter},
    {"barrier", barrier},
    {"bcast", bcast},
    {"gather", gather},
    {"scatter", scatter},
    {"allgather", allgather},
    {"alltoall", alltoall},
    {"allgatherv", allgatherv},
    {"alltoallv", alltoallv},
    {"empty-reduce", empty_reduce},
    {"empty-bcast", empty_bcast},
    {"empty-allgatherv", empty_allgatherv},
};

static int make(const char* name)
{
  for (size_t i = 0; i < COUNT_OF(CALLS); i++) {
    if (strcmp(name, CALLS[i].name) == 0) {
      CALLS[i].make();
      return 1;
    }
  }
  fprintf(stderr, "calls: no such call: '%s'\n", name);
  return 0;
}

int main(int argc, char** argv)
{
  int known = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; i++)
    known = known && make(argv[i]);
  MPI_Finalize();
  return !known ? EXIT_USAGE : wrong ? EXIT_WRONG_RESULT : 0;
}
