/* SPDX-License-Identifier: LGPL-2.1-only */
/* Binomial Scatter and pairwise Alltoall as implemented by Clauss et al. (IPDPS 2011):
 * `contention scatter|iscatter|alltoall SWITCHES BYTES,BYTES,...`. An iscatter starts all its sends at once.
 *
 * Consecutive ranks are assigned to SWITCHES switches cyclically (1: in the order of the hosts). BYTES is the size that
 * one rank receives from one other. Each rank prints "bytes rank seconds", with the time that it takes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, switches;

/* Returns the MPI rank of a logical rank; hosts are in the order of the switches. */
static int number(int place)
{
  const int there = ranks / switches;
  return place % switches * there + place / switches;
}

/* Returns the logical rank of an MPI rank. */
static int place(int its_number)
{
  const int there = ranks / switches;
  return its_number % there * switches + its_number / there;
}

/* Receives the blocks of a rank and of its descendants in the tree; returns their number. */
static int receive_part(char* data, int bytes)
{
  int span = 1;
  while (span < ranks && (rank & span) == 0)
    span *= 2;
  if (rank > 0)
    MPI_Recv(data, span * bytes, MPI_BYTE, number(rank - span), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return span;
}

/* Forwards the larger half first. */
static void scatter(char* data, int bytes)
{
  for (int span = receive_part(data, bytes) / 2; span > 0; span /= 2)
    if (rank + span < ranks)
      MPI_Send(data + (size_t)span * bytes, span * bytes, MPI_BYTE, number(rank + span), 0, MPI_COMM_WORLD);
}

static void iscatter(char* data, int bytes)
{
  MPI_Request requests[32];
  int sent = 0;
  for (int span = receive_part(data, bytes) / 2; span > 0; span /= 2)
    if (rank + span < ranks)
      MPI_Isend(data + (size_t)span * bytes, span * bytes, MPI_BYTE, number(rank + span), 0, MPI_COMM_WORLD,
                &requests[sent++]);
  MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
}

static void alltoall(char* data, int bytes)
{
  for (int step = 1; step < ranks; step++)
    MPI_Sendrecv(data, bytes, MPI_BYTE, number((rank + step) % ranks), 0, data + bytes, bytes, MPI_BYTE,
                 number((rank + ranks - step) % ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void (*run)(char*, int) = alltoall;
  if (strcmp(argv[1], "alltoall") != 0)
    run = strcmp(argv[1], "scatter") == 0 ? scatter : iscatter;
  const char* sizes = argv[3];
  switches          = atoi(argv[2]);
  rank              = place(rank);
  while (*sizes != '\0') {
    char* end;
    const int bytes = (int)strtol(sizes, &end, 10);
    char* data      = calloc((size_t)ranks, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    run(data, bytes);
    printf("%d %d %.9g\n", bytes, rank, MPI_Wtime() - start);
    free(data);
    sizes = *end == ',' ? end + 1 : end;
  }
  MPI_Finalize();
  return 0;
}
