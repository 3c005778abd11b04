/* SPDX-License-Identifier: LGPL-2.1-only */
/* Ranks that fork, exec, start threads or exit late, and end successfully:
 * `leaving fork|exec|threads|late-exit`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 64, CHILDS_STATUS = 9, EXIT_USAGE = 64 };

/* Each rank's child writes a line and ends; buffered output must be written exactly once. */
static void forking(int rank)
{
  int status = 0;
  printf("rank %d\n", rank);
  pid_t child = fork();
  if (child == 0) {
    printf("child of rank %d\n", rank);
    exit(CHILDS_STATUS);
  }
  waitpid(child, &status, 0);
  printf("child of rank %d ended with %d\n", rank, WEXITSTATUS(status));
}

int main(int argc, char** argv)
{
  int rank, provided = -1, asked = -1, mine = 1, sum = 0;
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Init_thread(&argc, &argv, strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Query_thread(&asked);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(how, "fork") == 0)
    forking(rank);
  if (strcmp(how, "exec") == 0 && rank == 0 && system("echo LD_PRELOAD=$LD_PRELOAD") != 0)
    return EXIT_USAGE;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("sum %d, level %d and %d\n", sum, provided == MPI_THREAD_FUNNELED, asked == MPI_THREAD_FUNNELED);
  MPI_Finalize();
  if (strcmp(how, "late-exit") == 0)
    exit(0);
  return 0;
}
