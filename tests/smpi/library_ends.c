/* SPDX-License-Identifier: LGPL-2.1-only */
/* `library_ends HOW`: rank 1 calls a function of the C library that internally ends the program, or that prints the
 * program's name; `late`: all ranks do so after MPI_Finalize. `help`: all ranks print the help before MPI_Init. */
#include <mpi.h>

#include <argp.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct argp options = {.doc = "Ends."};

static void at_exit(void)
{
  puts("exit handler");
}

static void send_to_itself(const char* how, int signum)
{
  union sigval value = {.sival_int = 0};
  if (strcmp(how, "raise") == 0)
    raise(signum);
  else if (strcmp(how, "kill") == 0)
    kill(getpid(), signum);
  else if (strcmp(how, "pthread_kill") == 0)
    pthread_kill(pthread_self(), signum);
  else if (strcmp(how, "sigqueue") == 0)
    sigqueue(getpid(), signum, value);
}

static void note(int signum)
{
  printf("caught %d\n", signum);
}

static void end(const char* how, const char* name)
{
  char* const words[] = {(char*)name, "--no-such-option", NULL};
  errno               = ENOENT;
  if (strcmp(how, "err") == 0)
    err(3, "input");
  if (strcmp(how, "errx") == 0)
    errx(4, "input %d", 1);
  if (strcmp(how, "error") == 0)
    error(5, errno, "input");
  if (strcmp(how, "error_at_line") == 0)
    error_at_line(6, 0, "file", 7, "input");
  if (strcmp(how, "argp") == 0)
    argp_parse(&options, 2, (char**)words, 0, NULL, NULL);
  if (strcmp(how, "assert") == 0)
    assert(how == NULL);
  if (strcmp(how, "warn") == 0)
    warn("input");
  if (strcmp(how, "exit") == 0)
    exit(3);
}

int main(int argc, char** argv)
{
  int rank;
  const char* const how = argv[1];
  if (strcmp(how, "help") == 0) {
    argv[1] = "--help";
    argp_parse(&options, argc, argv, 0, NULL, NULL);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  atexit(at_exit);
  if (argc > 3)
    signal(atoi(argv[2]), note);
  if (rank == 1)
    end(how, argv[0]);
  if (rank == 1 && argc > 2)
    send_to_itself(how, atoi(argv[2]));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (strcmp(how, "late") == 0)
    errx(7, "input");
  return 0;
}
