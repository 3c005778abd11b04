/* SPDX-License-Identifier: LGPL-2.1-only */
/* Stack usage of rank 1: `stack KIB`, in addition to the usage at the start of main; `stack KIB jump`, in one array.
 * Afterwards all ranks reduce the values that they read, in many non-blocking calls: a rank whose stack was overwritten
 * by another one gets a wrong result. With `stack KIB actors`, each rank starts a short-lived SimGrid actor after each
 * call. */
#include <alloca.h>
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024, CALLS = 50, EXIT_USAGE = 64 };

static int deep(int kib)
{
  volatile char frame[KIB - 64];
  frame[0] = (char)kib;
  return kib > 1 ? deep(kib - 1) + (frame[0] == (char)kib) : 1;
}

static int far(int kib)
{
  volatile char* array = alloca((size_t)kib * KIB);
  array[0]             = 1;
  return deep(1);
}

static void end(int argc, char** argv)
{
  (void)argc;
  (void)argv;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  if (argc < 2)
    return EXIT_USAGE;
  const int kib    = (int)strtol(argv[1], NULL, 10);
  const int jumps  = argc > 2 && strcmp(argv[2], "jump") == 0;
  const int actors = argc > 2 && strcmp(argv[2], "actors") == 0;
  int rank, seen = 1, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    seen = jumps ? far(kib) : deep(kib) / kib;
  for (int call = 0; call < CALLS; call++) {
    MPI_Request request;
    MPI_Iallreduce(&seen, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (actors)
      sg_actor_start(sg_actor_init("short-lived", sg_host_self()), end, 0, NULL);
  }
  if (rank == 0)
    printf("%d ranks are well\n", sum);
  MPI_Finalize();
  return 0;
}
