/* SPDX-License-Identifier: LGPL-2.1-only */
/* `some_requests testany|testsome|waitany|waitsome`: completed requests of all kinds are reported, each exactly once.
 *
 * Two ranks exchange a small and a large message, and take part in a non-blocking barrier; rank 0 also has a persistent
 * request that is never started and, if it tests, a generalized request that it completes itself. Each rank prints
 * errors.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4, LARGE = 1 << 20, REQUESTS = 7, OWN = 5, NEVER = 6, TRIES = 100000 };

static int query(void* state, MPI_Status* status)
{
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG    = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int nothing(void* state)
{
  (void)state;
  return MPI_SUCCESS;
}

static int ignore(void* state, int complete)
{
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void expect(int rank, const char* what, int found, int expected)
{
  if (found != expected)
    printf("rank %d: %s is %d, not %d\n", rank, what, found, expected);
}

/* Returns the number of completed requests and their indices; MPI_UNDEFINED if none is active. */
static int look(const char* way, MPI_Request* requests, int* indices, MPI_Status* statuses)
{
  int found = 0, flag = 1;
  if (!strcmp(way, "testsome")) {
    MPI_Testsome(REQUESTS, requests, &found, indices, statuses);
    return found;
  }
  if (!strcmp(way, "waitsome")) {
    MPI_Waitsome(REQUESTS, requests, &found, indices, statuses);
    return found;
  }
  if (!strcmp(way, "testany"))
    MPI_Testany(REQUESTS, requests, indices, &flag, statuses);
  else
    MPI_Waitany(REQUESTS, requests, indices, statuses);
  if (!flag)
    return 0;
  return *indices == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
}

int main(int argc, char** argv)
{
  int rank, indices[REQUESTS], times[REQUESTS] = {0};
  MPI_Status statuses[REQUESTS];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* way = argc > 1 ? argv[1] : "testany";
  MPI_Request requests[REQUESTS];
  for (int i = 0; i < REQUESTS; i++)
    requests[i] = MPI_REQUEST_NULL;
  expect(rank, "what an empty list has", look(way, requests, indices, statuses), MPI_UNDEFINED);

  char *out = calloc(LARGE, 1), *in = calloc(2, LARGE);
  out[0]     = (char)(rank + 1);
  int active = 5;
  MPI_Isend(out, SMALL, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, requests);
  MPI_Isend(out, LARGE, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD, requests + 1);
  MPI_Irecv(in, SMALL, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, requests + 2);
  MPI_Irecv(in + LARGE, LARGE, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD, requests + 3);
  MPI_Ibarrier(MPI_COMM_WORLD, requests + 4);
  if (rank == 0) {
    MPI_Send_init(out, SMALL, MPI_CHAR, 1, 3, MPI_COMM_WORLD, requests + NEVER);
  }
  const int has_own = rank == 0 && !strncmp(way, "test", 4);
  if (has_own) {
    MPI_Grequest_start(query, nothing, ignore, NULL, requests + OWN);
    active++;
  }
  const MPI_Request own = requests[OWN], never = requests[NEVER];
  for (int tries = 0; active > 0 && tries < TRIES; tries++) {
    if (tries == 3 && has_own)
      MPI_Grequest_complete(own);
    const int found = look(way, requests, indices, statuses);
    if (found == MPI_UNDEFINED)
      break;
    for (int k = 0; k < found; k++) {
      expect(rank, "that a request that was found is kept", requests[indices[k]] != MPI_REQUEST_NULL, 0);
      if (indices[k] == 2 || indices[k] == 3)
        expect(rank, "the tag", statuses[k].MPI_TAG, indices[k] - 1);
      times[indices[k]]++;
      active--;
    }
  }
  expect(rank, "what is left", active, 0);
  for (int i = 0; i < REQUESTS; i++)
    expect(rank, "how often a request was found", times[i], i < OWN || (has_own && i == OWN));
  expect(rank, "what came", in[0], 2 - rank);
  expect(rank, "what came at length", in[LARGE], 2 - rank);
  expect(rank, "what the list has in the end", look(way, requests, indices, statuses), MPI_UNDEFINED);
  expect(rank, "that the one never started is there", requests[NEVER] == never, 1);
  if (rank == 0)
    MPI_Request_free(requests + NEVER);
  printf("rank %d has ended\n", rank);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
