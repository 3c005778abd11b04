/* SPDX-License-Identifier: LGPL-2.1-only */
/* Reduces, prints its input, and ends in the way HOW if the run's mode is OFFLOAD: `compared [HOW OFFLOAD]`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 16384, LINE = 256, CALLS = 5, STATUS = 3 };

static int send[COUNT], receive[COUNT];

static void tell_input(void)
{
  char line[LINE];
  while (fgets(line, sizeof line, stdin) != NULL)
    printf("read %s", line);
  printf("done\n");
  fflush(stdout);
}

static int end_as(const char* how)
{
  if (strcmp(how, "crash") == 0) {
    fprintf(stderr, "about to crash\n");
    abort();
  }
  if (strcmp(how, "wait") == 0) {
    fprintf(stderr, "waiting\n");
    pause(); // sleep would be simulated
  }
  return strcmp(how, "exit") == 0 ? STATUS : EXIT_SUCCESS;
}

int main(int argc, char** argv)
{
  int rank;
  double one = 1, all;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < CALLS; i++)
    MPI_Allreduce(send, receive, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(send, receive, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0)
    tell_input();
  MPI_Barrier(MPI_COMM_WORLD);
  const char* offload = getenv("WEFT_OFFLOAD");
  int status          = EXIT_SUCCESS;
  if (argc == 3 && offload != NULL && strcmp(offload, argv[2]) == 0 && rank == 0)
    status = end_as(argv[1]);
  MPI_Finalize();
  return status;
}
