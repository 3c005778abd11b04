/* SPDX-License-Identifier: LGPL-2.1-only */
/* Makes calls of one kind on a number of communicators:
 *
 *     growth WORK BYTES CALLS [WAY NUMBER]
 *
 * WORK is allreduce, bcast, halo (one message to and from each neighbour in a ring), or none. BYTES is the size of a
 * vector or message, CALLS the number of calls on each communicator. WAY defines the NUMBER communicators:
 *
 *     dup     duplicates of the world that exist concurrently
 *     again   duplicates of the world in sequence: each is freed before the next one is created
 *     split   parts of the world; each rank is in one
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 64, TAG = 1 };

typedef struct {
  const char* kind;
  int bytes;
  int calls;
  int* send;
  int* receive;
} Work;

static void swap_with_neighbours(const Work* work, MPI_Comm comm)
{
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(work->send, work->bytes, MPI_CHAR, right, TAG, work->receive, work->bytes, MPI_CHAR, left, TAG, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(work->send, work->bytes, MPI_CHAR, left, TAG, work->receive, work->bytes, MPI_CHAR, right, TAG, comm,
               MPI_STATUS_IGNORE);
}

static void call(const Work* work, MPI_Comm comm)
{
  const int ints = work->bytes / (int)sizeof(int);
  if (strcmp(work->kind, "allreduce") == 0)
    MPI_Allreduce(work->send, work->receive, ints, MPI_INT, MPI_SUM, comm);
  else if (strcmp(work->kind, "bcast") == 0)
    MPI_Bcast(work->send, ints, MPI_INT, 0, comm);
  else if (strcmp(work->kind, "halo") == 0)
    swap_with_neighbours(work, comm);
  else if (strcmp(work->kind, "none") != 0)
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
}

static void call_all(const Work* work, MPI_Comm comm)
{
  for (int i = 0; i < work->calls; i++)
    call(work, comm);
}

static void on_copies(const Work* work, int number)
{
  MPI_Comm* copies = malloc((size_t)number * sizeof(MPI_Comm));
  for (int i = 0; i < number; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    call_all(work, copies[i]);
  }
  for (int i = 0; i < number; i++)
    MPI_Comm_free(&copies[i]);
  free(copies);
}

static void on_one_after_the_other(const Work* work, int number)
{
  for (int i = 0; i < number; i++) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    call_all(work, copy);
    MPI_Comm_free(&copy);
  }
}

/* Splits the world into parts of consecutive ranks. */
static void on_parts(const Work* work, int number)
{
  int rank, ranks;
  MPI_Comm part;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, (int)((long)rank * number / ranks), rank, &part);
  call_all(work, part);
  MPI_Comm_free(&part);
}

int main(int argc, char** argv)
{
  if (argc != 4 && argc != 6)
    return EXIT_USAGE;
  MPI_Init(&argc, &argv);
  const size_t bytes = (size_t)atoi(argv[2]);
  const Work work    = {argv[1], (int)bytes, atoi(argv[3]), calloc(bytes + 1, 1), calloc(bytes + 1, 1)};
  const int number   = argc > 4 ? atoi(argv[5]) : 0;
  if (argc == 4)
    call_all(&work, MPI_COMM_WORLD);
  else if (strcmp(argv[4], "dup") == 0)
    on_copies(&work, number);
  else if (strcmp(argv[4], "again") == 0)
    on_one_after_the_other(&work, number);
  else if (strcmp(argv[4], "split") == 0)
    on_parts(&work, number);
  else
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
  free(work.send);
  free(work.receive);
  MPI_Finalize();
  return 0;
}
