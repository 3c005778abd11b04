// SPDX-License-Identifier: LGPL-2.1-only
/* Completes long lists of requests a few at a time by MPI_Waitany, MPI_Waitsome, MPI_Testany and MPI_Testsome, in a
 * seeded order; the argument is the number of repetitions ("stuck": waits for messages that are never sent). Between
 * the calls some requests are completed by MPI_Wait, restarted or replaced. Each rank prints a number that depends on
 * the results and times of all calls. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENDS = 120, ALL = 2 * SENDS, KEPT = 40, LONG = 60000 };

static char data[ALL][LONG];
static uint64_t seed, found_so_far;

static unsigned draw(unsigned below)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(seed >> 33) % below;
}

static void note(uint64_t what)
{
  found_so_far = (found_so_far ^ what) * 1099511628211u;
}

static void note_completion(int index, const MPI_Status* status)
{
  int count;
  MPI_Get_count(status, MPI_CHAR, &count);
  note((uint64_t)index);
  if (index % 2 == 0) /* a receive */
    note((uint64_t)status->MPI_SOURCE * 1000 + (uint64_t)status->MPI_TAG * 100000 + (uint64_t)count);
  note((uint64_t)(MPI_Wtime() * 1e12));
}

/** Waits for messages that are never sent. */
static void wait_forever(int rank)
{
  MPI_Request requests[100];
  int index;
  for (int i = 0; i < 100; ++i)
    MPI_Irecv(data[i], 1, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; rank == 0 && i < 50; ++i)
    MPI_Send(data[i], 1, MPI_CHAR, 1, i, MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < 51; ++i)
    MPI_Waitany(100, requests, &index, MPI_STATUS_IGNORE);
  if (rank == 0)
    MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv)
{
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && !strcmp(argv[1], "stuck"))
    wait_forever(rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  MPI_Request requests[ALL + 1], persistent[KEPT];
  MPI_Status statuses[ALL];
  int indices[ALL];
  for (int i = 0; i < KEPT; ++i) { /* the first requests are persistent: tag i / 2 */
    const int peer =
        i % 2 == 0 ? (rank + size - 1 - i / 2 % (size - 1)) % size : (rank + 1 + i / 2 % (size - 1)) % size;
    const int bytes = i % 8 < 4 ? 8 : LONG;
    if (i % 2 == 0)
      MPI_Recv_init(data[i], bytes, MPI_CHAR, peer, i / 2, MPI_COMM_WORLD, &persistent[i]);
    else
      MPI_Send_init(data[i], bytes, MPI_CHAR, peer, i / 2, MPI_COMM_WORLD, &persistent[i]);
  }
  for (int round = 0; round < rounds; ++round) {
    seed = (uint64_t)(rank + 1) * 977u + (uint64_t)round;
    int times[KEPT], left = 0, count = ALL;
    for (int i = 0; i < ALL; ++i) {
      const int tag = i / 2, step = tag % (size - 1) + 1, bytes = tag % 3 == 0 ? LONG : tag % 3 == 1 ? 8 : 5000;
      if (i < KEPT) {
        requests[i] = persistent[i];
        times[i]    = i % 4 < 2 ? 2 : 1; /* some are restarted after completion */
        if (tag % 5 != 4)                /* the remaining ones are started later */
          MPI_Start(&requests[i]);
        left += times[i];
      } else if (i % 2 == 0) {
        MPI_Irecv(data[i], LONG, MPI_CHAR, tag % 7 == 0 ? MPI_ANY_SOURCE : (rank + size - step) % size, tag,
                  MPI_COMM_WORLD, &requests[i]);
        ++left;
      } else {
        MPI_Isend(data[i], bytes, MPI_CHAR, (rank + step) % size, tag, MPI_COMM_WORLD, &requests[i]);
        ++left;
      }
    }
    for (int call = 0; left > 0; ++call) {
      int found = 0, flag = 0;
      if (call == 5)
        for (int i = 0; i < KEPT; ++i)
          if (i / 2 % 5 == 4)
            MPI_Start(&requests[i]);
      switch (draw(5)) {
        case 0:
          MPI_Waitany(count, requests, &indices[0], statuses);
          found = indices[0] == MPI_UNDEFINED ? 0 : 1;
          break;
        case 1:
          MPI_Waitsome(count, requests, &found, indices, statuses);
          break;
        case 2:
          MPI_Testany(count, requests, &indices[0], &flag, statuses);
          found = flag && indices[0] != MPI_UNDEFINED;
          break;
        case 3:
          MPI_Testsome(count, requests, &found, indices, statuses);
          break;
        default: { /* one request by itself */
          const int i = (int)draw((unsigned)count);
          if (requests[i] == MPI_REQUEST_NULL)
            break;
          MPI_Test(&requests[i], &flag, statuses);
          /* a completed inactive persistent request is not counted */
          if (flag && i >= KEPT) {
            indices[0] = i;
            found      = 1;
          } else if (flag && statuses[0].MPI_TAG == i / 2) {
            indices[0] = i;
            found      = 1;
          }
        }
      }
      if (found == MPI_UNDEFINED)
        found = 0;
      note((uint64_t)found);
      for (int at = 0; at < found; ++at) {
        const int i = indices[at];
        note_completion(i, &statuses[at]);
        --left;
        if (i < KEPT && --times[i] > 0)
          MPI_Start(&requests[i]);
      }
      /* A program may drop completed entries. */
      while (count > KEPT + 64 && requests[count - 1] == MPI_REQUEST_NULL)
        --count;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < KEPT; ++i)
    MPI_Request_free(&persistent[i]);
  printf("rank %d: %016llx\n", rank, (unsigned long long)found_so_far);
  MPI_Finalize();
  return 0;
}
