/* SPDX-License-Identifier: LGPL-2.1-only */
/* One Bcast or Allgather of BYTES bytes per rank, from the start of the program on. Every rank
 * checks its data and prints when its call ended: multicast bcast|allgather BYTES [COMMUNICATORS].
 * With COMMUNICATORS, one concurrent Bcast on each of as many duplicates. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char content(int rank, int at)
{
  return (char)(rank * 31 + at * 7 + at / 1000);
}

/* Prints the time of concurrent Bcasts on several communicators, without their creation. */
static void bcast_on_many(char* data, int bytes, int communicators)
{
  MPI_Comm comms[16];
  MPI_Request requests[16];
  for (int number = 0; number < communicators; ++number)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[number]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int number = 0; number < communicators; ++number)
    MPI_Ibcast(data, bytes, MPI_CHAR, 0, comms[number], &requests[number]);
  MPI_Waitall(communicators, requests, MPI_STATUSES_IGNORE);
  printf("%d %.17g\n", rank, MPI_Wtime() - start);
}

static void check(const char* data, int root, int bytes)
{
  for (int at = 0; at < bytes; ++at)
    if (data[at] != content(root, at)) {
      fprintf(stderr, "byte %d of rank %d's data is wrong\n", at, root);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes  = atoi(argv[2]);
  const int gather = strcmp(argv[1], "allgather") == 0;
  char* own        = malloc(bytes);
  char* all        = calloc(gather ? ranks : 1, bytes);
  for (int at = 0; at < bytes; ++at)
    own[at] = content(rank, at);
  if (!gather && rank == 0)
    memcpy(all, own, bytes);
  if (argc > 3)
    bcast_on_many(all, bytes, atoi(argv[3]));
  else if (gather)
    MPI_Allgather(own, bytes, MPI_CHAR, all, bytes, MPI_CHAR, MPI_COMM_WORLD);
  else
    MPI_Bcast(all, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (argc <= 3)
    printf("%d %.17g\n", rank, MPI_Wtime());
  for (int root = 0; root < (gather ? ranks : 1); ++root)
    check(all + (size_t)root * bytes, root, bytes);
  MPI_Finalize();
  return 0;
}
