/* SPDX-License-Identifier: LGPL-2.1-only */
/* Allreduces of global and static variables, including large ones: every rank must have its own copies. */
#include <mpi.h>
#include <stdio.h>

enum { SMALL = 4, LARGE = 100000, EXIT_WRONG_RESULT = 1 };

int global_send[LARGE];
int global_receive[LARGE];
static int initialised[SMALL] = {1, 2, 3, 4};

static void fill(int rank)
{
  for (int i = 0; i < LARGE; i++)
    global_send[i] = rank + i;
}

static int count_wrong(int ranks)
{
  int wrong = 0;
  for (int i = 0; i < LARGE; i++)
    wrong += global_receive[i] != ranks * (ranks - 1) / 2 + ranks * i;
  return wrong;
}

static int count_wrong_in_place(int ranks)
{
  int wrong = 0;
  for (int i = 0; i < SMALL; i++)
    wrong += initialised[i] != ranks * (i + 1) + ranks * (ranks - 1) / 2;
  return wrong;
}

int main(int argc, char** argv)
{
  static int rank, ranks; /* these are private to each rank too */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD); /* lets the other ranks write their copies */

  fill(rank);
  MPI_Allreduce(global_send, global_receive, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int wrong = count_wrong(ranks);

  for (int i = 0; i < SMALL; i++)
    initialised[i] += rank;
  MPI_Allreduce(MPI_IN_PLACE, initialised, SMALL, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  wrong += count_wrong_in_place(ranks);

  printf("rank %d of %d: %d wrong, last %d\n", rank, ranks, wrong, global_receive[LARGE - 1]);
  MPI_Finalize();
  return wrong ? EXIT_WRONG_RESULT : 0;
}
