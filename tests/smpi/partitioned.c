/* SPDX-License-Identifier: LGPL-2.1-only */
/* Partitioned messages around a ring: `partitioned SENT RECEIVED ROUNDS` with numbers of partitions that divide TOTAL.
 * Prints `right` per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL = 240, GAP = 2 };

/* Completes a send and a receive, which is the second request. Returns whether the status of the receive is correct. */
static int complete(int round, int source, MPI_Request* requests)
{
  MPI_Status statuses[2], status;
  int flag = 0, index = -1, count = 0, indices[2];
  switch (round % 8) {
    case 0:
      MPI_Waitall(2, requests, statuses);
      status = statuses[1];
      break;
    case 1:
      MPI_Wait(requests + 1, &status);
      break;
    case 2:
      while (!flag)
        MPI_Test(requests + 1, &flag, &status);
      break;
    case 3:
      while (!flag)
        MPI_Testall(2, requests, &flag, statuses);
      status = statuses[1];
      break;
    case 4:
      while (index != 1)
        MPI_Waitany(2, requests, &index, &status);
      break;
    case 5:
      while (index != 1) {
        MPI_Waitsome(2, requests, &count, indices, statuses);
        for (int i = 0; i < count; i++)
          if (indices[i] == 1)
            index = 1, status = statuses[i];
      }
      break;
    case 6:
      while (!flag)
        MPI_Request_get_status(requests[1], &flag, &status);
      break;
    default:
      while (!flag)
        MPI_Request_get_status_all(2, requests, &flag, statuses);
      status = statuses[1];
  }
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return status.MPI_SOURCE == source && status.MPI_TAG == 1 && count == TOTAL;
}

int main(int argc, char** argv)
{
  int rank, size, sent = atoi(argv[1]), received = atoi(argv[2]), rounds = atoi(argv[3]), right = 1;
  int from[TOTAL], to[GAP * TOTAL], flag;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int before = (rank + size - 1) % size, after = (rank + 1) % size;
  MPI_Datatype gapped;
  MPI_Type_create_resized(MPI_INT, 0, GAP * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  for (int spread = 0; spread < 2; spread++) {
    int step = spread ? GAP : 1;
    MPI_Psend_init(from, sent, TOTAL / sent, MPI_INT, after, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
    MPI_Precv_init(to, received, TOTAL / received, spread ? gapped : MPI_INT, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   requests + 1);
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < TOTAL; i++)
        from[i] = 1000 * rank + 10 * round + i;
      memset(to, 0xff, sizeof to);
      if (round % 2)
        MPI_Startall(2, requests);
      else
        for (int i = 1; i >= 0; i--)
          MPI_Start(requests + i);
      MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
      right &= !flag; /* no partition is ready */
      switch (round % 3) {
        case 0:
          for (int i = sent - 1; i >= 0; i--)
            MPI_Pready(i, requests[0]);
          break;
        case 1:
          MPI_Pready_range(0, sent - 1, requests[0]);
          break;
        default: {
          int list[TOTAL];
          for (int i = 0; i < sent; i++)
            list[i] = (i + 1) % sent;
          MPI_Pready_list(sent, list, requests[0]);
        }
      }
      if (round % 2)
        for (int part = 0; part < received; part++) {
          for (flag = 0; !flag;)
            MPI_Parrived(requests[1], part, &flag);
          int first = part * (TOTAL / received);
          right &= to[first * step] == 1000 * before + 10 * round + first;
        }
      right &= complete(round, before, requests);
      for (int i = 0; i < TOTAL; i++)
        right &= to[i * step] == 1000 * before + 10 * round + i && (!spread || to[i * step + 1] == -1);
    }
    MPI_Request_free(requests);
    MPI_Request_free(requests + 1);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  right &= MPI_Psend_init(from, 0, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests) == MPI_ERR_ARG;
  right &= MPI_Psend_init(from, 1, 1, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests) == MPI_ERR_RANK;
  right &= MPI_Precv_init(to, 1, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests) == MPI_ERR_COUNT;
  right &= MPI_Precv_init(to, 1, 1, MPI_INT, 0, -1, MPI_COMM_WORLD, MPI_INFO_NULL, requests) == MPI_ERR_TAG;
  MPI_Psend_init(from, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
  MPI_Start(requests);
  MPI_Pready(0, requests[0]);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Request_free(requests);
  MPI_Type_free(&gapped);
  printf(right ? "right\n" : "wrong\n");
  MPI_Finalize();
  return 0;
}
