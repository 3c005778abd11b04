/* SPDX-License-Identifier: LGPL-2.1-only */
#include "call.h"

typedef enum { IN_ORDER, BACKWARDS, ALL, ANY, SOME, TEST_EACH, TEST_ALL, TEST_SOME, TEST_ANY, WAYS } Way;

enum { MOST_REQUESTS = 8 };

static void wait_in_order(MPI_Request* requests, int count)
{
  for (int i = 0; i < count; i++)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void wait_backwards(MPI_Request* requests, int count)
{
  for (int i = count - 1; i >= 0; i--)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void wait_any(MPI_Request* requests, int count)
{
  int index = 0;
  while (index != MPI_UNDEFINED)
    MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
}

static void wait_some(MPI_Request* requests, int count)
{
  int done = 0, indices[MOST_REQUESTS];
  while (done != MPI_UNDEFINED)
    MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void test_each(MPI_Request* requests, int count)
{
  for (int pending = count; pending > 0;) {
    pending = 0;
    for (int i = 0; i < count; i++) {
      int done = 0;
      MPI_Status status; /* MPI_STATUS_IGNORE would trigger the error described in choose.c */
      MPI_Test(&requests[i], &done, &status);
      pending += !done;
    }
  }
}

static void test_all(MPI_Request* requests, int count)
{
  for (int done = 0; !done;)
    MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
}

static void test_any(MPI_Request* requests, int count)
{
  int done = 0, index = 0;
  while (!done || index != MPI_UNDEFINED)
    MPI_Testany(count, requests, &index, &done, MPI_STATUS_IGNORE);
}

static void test_some(MPI_Request* requests, int count)
{
  int done = 0, indices[MOST_REQUESTS];
  while (done != MPI_UNDEFINED)
    MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
}

void complete(Random random, bool offloaded, MPI_Request* requests, int count)
{
  switch ((Way)draw(&random, offloaded ? WAYS : TEST_ANY)) {
    case IN_ORDER:
      wait_in_order(requests, count);
      break;
    case BACKWARDS:
      wait_backwards(requests, count);
      break;
    case ANY:
      wait_any(requests, count);
      break;
    case SOME:
      wait_some(requests, count);
      break;
    case TEST_EACH:
      test_each(requests, count);
      break;
    case TEST_ALL:
      test_all(requests, count);
      break;
    case TEST_ANY:
      test_any(requests, count);
      break;
    case TEST_SOME:
      test_some(requests, count);
      break;
    default:
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }
}
