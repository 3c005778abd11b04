/* SPDX-License-Identifier: LGPL-2.1-only */
/* `blocked WAY`: rank 0 waits outside MPI for rank 1, which cannot run meanwhile; with `thread` and `child` it waits
 * for a thread that computes, or a child process, and prints "ended". */
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is(const char* word, const char* expected)
{
  return !strcmp(word, expected);
}

static void* compute(void* nothing)
{
  struct timespec used;
  do /* POSIX clocks show simulated time */
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &used);
  while (used.tv_sec < 3);
  return nothing;
}

static int listening(struct sockaddr_in* here)
{
  socklen_t length      = sizeof *here;
  const int end         = socket(AF_INET, SOCK_STREAM, 0);
  here->sin_family      = AF_INET;
  here->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(end, (struct sockaddr*)here, sizeof *here);
  listen(end, 1);
  getsockname(end, (struct sockaddr*)here, &length);
  return end;
}

static void wait_outside(const char* way)
{
  char byte;
  int pipes[2];
  struct sockaddr_in here = {0};
  pipe(pipes);
  if (is(way, "accept"))
    accept(listening(&here), NULL, NULL);
  else if (is(way, "recv")) {
    const int end = listening(&here), own = socket(AF_INET, SOCK_STREAM, 0);
    connect(own, (struct sockaddr*)&here, sizeof here);
    recv(own, &byte, 1, 0);
    close(end);
  } else if (is(way, "pipe"))
    read(pipes[0], &byte, 1);
  else if (is(way, "poll")) {
    struct pollfd one = {.fd = pipes[0], .events = POLLIN};
    poll(&one, 1, -1);
  } else if (is(way, "sem_wait")) {
    sem_t zero;
    sem_init(&zero, 0, 0);
    sem_wait(&zero);
  } else if (is(way, "condition")) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never  = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&never, &mutex);
  } else if (is(way, "flock")) {
    flock(open("lock", O_RDWR), LOCK_EX);
  } else if (is(way, "fcntl")) {
    lockf(open("lock", O_RDWR), F_LOCK, 0);
  } else if (is(way, "fifo")) {
    mkfifo("fifo", 0600);
    open("fifo", O_RDONLY);
  } else if (is(way, "inotify")) {
    char event[256];
    const int end = inotify_init();
    inotify_add_watch(end, ".", IN_CREATE);
    read(end, event, sizeof event);
  } else if (is(way, "thread")) {
    pthread_t helper;
    pthread_create(&helper, NULL, compute, NULL);
    pthread_join(helper, NULL);
  } else if (is(way, "child")) {
    FILE* const child = popen("exec sleep 3", "r");
    fgetc(child);
    pclose(child);
  }
  close(pipes[0]);
  close(pipes[1]);
}

int main(int argc, char* argv[])
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    wait_outside(argv[1]);
    printf("ended\n");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
