/* SPDX-License-Identifier: LGPL-2.1-only */
/* Process IDs, signals and children of ranks: `signals numbers|raise SIGNAL|kill SIGNAL|daemons|loop`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGEST_PID = 1 << 22 };
static volatile sig_atomic_t count;

static void on_signal(int signum)
{
  (void)signum;
  ++count;
}

static int failed_with(int result)
{
  return result == 0 ? 0 : errno;
}

static void numbers(int rank, int ranks)
{
  int pids[64], first = getpid();
  MPI_Allgather(&first, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  int real = 0, equal = 0;
  for (int i = 0; i < ranks; ++i) {
    real += pids[i] <= LARGEST_PID;
    equal += i != rank && pids[i] == first;
  }
  cpu_set_t set;
  printf("rank %d: real %d equal %d same %d affinity %d group %d\n", rank, real, equal, getpid() == first,
         sched_getaffinity(getpid(), sizeof set, &set), getpgid(getpid()) == getpgrp());
  int next = pids[(rank + 1) % ranks];
  printf("rank %d: next %d %d none %d parent %d itself %d %d\n", rank, failed_with(kill(next, 0)),
         failed_with(kill(next, SIGTERM)) == EPERM, failed_with(kill(LARGEST_PID + 1000, SIGTERM)) == ESRCH,
         failed_with(kill(getppid(), SIGKILL)) == EPERM, failed_with(kill(-1, 0)), failed_with(kill(first, 0)));
  signal(SIGUSR1, on_signal);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2) {
    kill(0, SIGUSR1);
    killpg(getpgrp(), SIGUSR1);
    sigqueue(getpid(), SIGUSR1, (union sigval){0});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: signals %d\n", rank, (int)count);
  fflush(stdout);
  if (rank == 2) {
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, &before);
    pid_t child = fork();
    if (child == 0) {
      printf("child: real %d parent %d\n", getpid() <= LARGEST_PID, getppid() <= LARGEST_PID);
      _exit(fflush(stdout) + kill(first, SIGUSR1));
    }
    while (count == 0)
      sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status = 0;
    waitpid(child, &status, 0);
    printf("rank %d: signals %d status %d\n", rank, (int)count, status);
  }
}

/* Returns once the child has printed its process ID, when exec closes the pipe. */
static void start_directly(void)
{
  int ends[2];
  char nothing;
  if (pipe2(ends, O_CLOEXEC) != 0)
    exit(1);
  if (fork() == 0) {
    printf("%d\n", (int)getpid());
    fflush(stdout);
    dup2(open("/dev/null", O_WRONLY), 1);
    execlp("sleep", "sleep", "600", NULL);
  }
  close(ends[1]);
  while (read(ends[0], &nothing, 1) > 0)
    ;
  close(ends[0]);
}

int main(int argc, char** argv)
{
  int rank, ranks;
  const char* how  = argc > 1 ? argv[1] : "";
  const int signum = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(how, "numbers") == 0)
    numbers(rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "raise") == 0 && rank == 1)
    raise(signum);
  if (strcmp(how, "kill") == 0 && rank == 1)
    kill(getpid(), signum);
  if (strcmp(how, "daemons") == 0 || strcmp(how, "loop") == 0) {
    char command[] = "setsid sleep 600 >/dev/null 2>&1 & echo $!";
    if (system(command) != 0)
      return 1;
    start_directly();
    sleep(1); /* simulated */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  while (strcmp(how, "loop") == 0)
    MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
