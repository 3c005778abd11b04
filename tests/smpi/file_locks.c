/* SPDX-License-Identifier: LGPL-2.1-only */
/* `file_locks CASE [WAY]`: ranks lock files in the current directory, by fcntl, lockf, flock or ofd (locks of the open
 * file description), and print the results that separate processes would get. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks;
static const char* way = "fcntl";

static int open_file(const char* name)
{
  const int file = open(name, O_CREAT | O_RDWR, 0600);
  if (file < 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return file;
}

/* Calls fcntl() for a range of a file. */
static int part(int file, int command, short type, long start, long length)
{
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(file, command, &lock);
}

/* Acquires or releases a lock of the whole file by `way`. */
static int lock_file(int file, int take, int wait)
{
  if (!strcmp(way, "flock"))
    return flock(file, take ? LOCK_EX | (wait ? 0 : LOCK_NB) : LOCK_UN);
  lseek(file, 0, SEEK_SET);
  if (!strcmp(way, "lockf"))
    return lockf(file, take ? wait ? F_LOCK : F_TLOCK : F_ULOCK, 0);
  const short type = take ? F_WRLCK : F_UNLCK;
  if (!strcmp(way, "ofd"))
    return part(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, type, 0, 0);
  return part(file, wait ? F_SETLKW : F_SETLK, type, 0, 0);
}

static const char* result(int status)
{
  if (status == 0)
    return "granted";
  return errno == EAGAIN || errno == EACCES ? "refused" : errno == EDEADLK ? "a deadlock" : strerror(errno);
}

/* Rank 0 holds the lock until it releases it. */
static void exclude(void)
{
  const int file = open_file("guard");
  if (rank == 0)
    lock_file(file, 1, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    printf("held: %s\n", result(lock_file(file, 1, 0)));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    lock_file(file, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    printf("given up: %s\n", result(lock_file(file, 1, 0)));
}

/* Locks of different ranges, and of readers, do not exclude each other; F_GETLK reports the holder. */
static void parts(void)
{
  const int file = open_file("parts");
  int pid        = getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    part(file, F_SETLK, F_WRLCK, 0, 30);
    part(file, F_SETLK, F_UNLCK, 10, 10);
    part(file, F_SETLK, F_RDLCK, 100, 10);
    lseek(file, 5, SEEK_SET);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 15};
    printf("unlocked part: %s\n", result(part(file, F_SETLK, F_WRLCK, 10, 10)));
    printf("before it: %s\n", result(part(file, F_SETLK, F_WRLCK, 9, 1)));
    printf("after it: %s\n", result(part(file, F_SETLK, F_RDLCK, 29, 1)));
    printf("reading: %s\n", result(part(file, F_SETLK, F_RDLCK, 100, 1)));
    printf("writing: %s\n", result(part(file, F_SETLK, F_WRLCK, 100, 1)));
    printf("behind all: %s\n", result(part(file, F_SETLK, F_WRLCK, -1, 0)));
    fcntl(file, F_GETLK, &lock);
    printf("held: %d at %ld, %ld bytes, by rank 0: %d\n", lock.l_type == F_WRLCK, (long)lock.l_start, (long)lock.l_len,
           lock.l_pid == pid);
    lock.l_pid   = 0;
    lock.l_start = 15;
    lock.l_len   = 0;
    fcntl(file, F_OFD_GETLK, &lock);
    printf("of the description: %d at %ld, %ld bytes, by rank 0: %d\n", lock.l_type == F_WRLCK, (long)lock.l_start,
           (long)lock.l_len, lock.l_pid == pid);
    lseek(file, 20, SEEK_SET);
    printf("tested: %s\n", result(lockf(file, F_TEST, 10)));
    printf("tested behind: %s\n", result(lockf(file, F_TEST, 0)));
    lseek(file, 30, SEEK_SET);
    printf("tested reading: %s\n", result(lockf(file, F_TEST, 0)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks increment a number in a file; each is preempted between reading and writing. */
static void count(void)
{
  const int file = open_file("count");
  int value;
  for (int round = 0; round < 3; ++round) {
    lock_file(file, 1, 1);
    value = 0;
    pread(file, &value, sizeof value, 0);
    usleep(1000);
    ++value;
    pwrite(file, &value, sizeof value, 0);
    lock_file(file, 0, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  pread(file, &value, sizeof value, 0);
  if (rank == 0)
    printf("counted %d, in %.3f s\n", value, MPI_Wtime());
}

static void* count_in_thread(void* nothing)
{
  const int file = open_file("thread");
  int value      = 0;
  lock_file(file, 1, 1);
  pread(file, &value, sizeof value, 0);
  usleep(1000);
  ++value;
  pwrite(file, &value, sizeof value, 0);
  close(file); /* which also releases the lock */
  return nothing;
}

/* As above, in a thread of each rank. */
static void thread(void)
{
  int value = 0;
  pthread_t one;
  pthread_create(&one, NULL, count_in_thread, NULL);
  pthread_join(one, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  pread(open_file("thread"), &value, sizeof value, 0);
  if (rank == 0)
    printf("counted %d\n", value);
}

/* A rank that closes a file loses its own record locks, through whichever descriptor, but no other rank's. */
static void closing(void)
{
  const int file = open_file("close");
  int other;
  if (rank == 0)
    part(file, F_SETLK, F_WRLCK, 0, 10);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    part(file, F_SETLK, F_WRLCK, 10, 10);
    other = open_file("close");
    if (!strcmp(way, "close_range"))
      close_range(other, other, 0);
    else if (!strcmp(way, "closefrom"))
      closefrom(other);
    else
      close(other);
    printf("of rank 0: %s\n", result(part(file, F_SETLK, F_WRLCK, 0, 10)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("of rank 1: %s\n", result(part(file, F_SETLK, F_WRLCK, 10, 10)));
    fclose(fopen("close", "r"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    printf("of rank 0: %s\n", result(part(file, F_SETLK, F_WRLCK, 0, 10)));
}

/* Rank 0 ends while holding a lock for which rank 1 waits. */
static void ending(void)
{
  const int file = open_file("end");
  if (rank == 0)
    lock_file(file, 1, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0)
    sleep(2);
  else
    printf("after the end: %s\n", result(lock_file(file, 1, 1)));
  exit(0);
}

/* Ranks lock two files in different orders. */
static void crossing(void)
{
  const int own = open_file(rank == 0 ? "a" : "b"), other = open_file(rank == 0 ? "b" : "a");
  lock_file(own, 1, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const int status = lock_file(other, 1, 1);
  printf("rank %d: %s\n", rank, result(status));
  lock_file(own, 0, 0);
  lock_file(other, 0, 0);
}

/* A rank waits for a lock that it holds through another descriptor. */
static void twice(void)
{
  if (rank == 0) {
    lock_file(open_file("twice"), 1, 1);
    printf("again: %s\n", result(lock_file(open_file("twice"), 1, 1)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A child of rank 0 holds the lock for a while. */
static void outside(void)
{
  const int file = open_file("outside");
  int pipes[2];
  char byte = 0;
  pipe(pipes);
  if (rank == 0 && fork() == 0) {
    const int own = open_file("outside");
    lock_file(own, 1, 0);
    write(pipes[1], &byte, 1);
    poll(NULL, 0, 300);
    write(own, "x", 1);
    _exit(0);
  }
  if (rank == 0)
    read(pipes[0], &byte, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    printf("at once: %s\n", result(lock_file(file, 1, 0)));
    printf("later: %s, ", result(lock_file(file, 1, 1)));
    printf("%d byte\n", (int)lseek(file, 0, SEEK_END));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    wait(NULL);
}

int main(int argc, char* argv[])
{
  static const struct {
    const char* name;
    void (*run)(void);
  } CASES[] = {{"exclude", exclude}, {"parts", parts},   {"count", count},
               {"closing", closing}, {"ending", ending}, {"crossing", crossing},
               {"outside", outside}, {"thread", thread}, {"twice", twice}};
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2)
    way = argv[2];
  for (unsigned i = 0; i < sizeof CASES / sizeof *CASES; ++i)
    if (!strcmp(argv[1], CASES[i].name))
      CASES[i].run();
  MPI_Finalize();
  return 0;
}
