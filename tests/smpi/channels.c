/* SPDX-License-Identifier: LGPL-2.1-only */
/* Allreduce on each of many duplicates of MPI_COMM_WORLD: `channels one-by-one|together
 * COMMUNICATORS`.
 *
 * "one-by-one" frees each duplicate before creating the next. "together" keeps all alive, frees them, and then uses one
 * more. A wrong result ends the program with status 1.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 64 };

static MPI_Comm duplicate(void)
{
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

static int reduce(MPI_Comm comm, int number)
{
  int rank, ranks, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int own = rank + number;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum != ranks * (ranks - 1) / 2 + ranks * number;
}

static int one_by_one(int communicators)
{
  int wrong = 0;
  for (int i = 0; i < communicators; i++) {
    MPI_Comm comm = duplicate();
    wrong |= reduce(comm, i);
    MPI_Comm_free(&comm);
  }
  return wrong;
}

static int together(int communicators)
{
  MPI_Comm* comms = malloc(sizeof(MPI_Comm) * (size_t)communicators);
  int wrong       = 0;
  for (int i = 0; i < communicators; i++)
    comms[i] = duplicate();
  for (int i = 0; i < communicators; i++)
    wrong |= reduce(comms[i], i);
  for (int i = 0; i < communicators; i++)
    MPI_Comm_free(&comms[i]);
  free(comms);
  MPI_Barrier(MPI_COMM_WORLD); /* by now all ranks have freed their duplicates */
  return wrong | one_by_one(1);
}

int main(int argc, char** argv)
{
  int wrong = EXIT_USAGE;
  MPI_Init(&argc, &argv);
  if (argc == 3 && strcmp(argv[1], "one-by-one") == 0)
    wrong = one_by_one(atoi(argv[2])) ? EXIT_WRONG_RESULT : 0;
  else if (argc == 3 && strcmp(argv[1], "together") == 0)
    wrong = together(atoi(argv[2])) ? EXIT_WRONG_RESULT : 0;
  else
    fputs("usage: channels one-by-one|together COMMUNICATORS\n", stderr);
  MPI_Finalize();
  return wrong;
}
