/* SPDX-License-Identifier: LGPL-2.1-only */
/* `tested WAY MESSAGES`: rank 0 sends MESSAGES messages to rank 1, which tests each until it arrives, and replies; WAY
 * is the call: test, testany, testall or wait. Messages of 1 MiB are also tested at the sender. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4, LARGE = 1 << 20, EXIT_USAGE = 64 };

static void end(const char* way, MPI_Request* request)
{
  int flag = 0, index;
  do {
    if (!strcmp(way, "test"))
      MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    else if (!strcmp(way, "testany"))
      MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
    else if (!strcmp(way, "testall"))
      MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
    else
      flag = MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  } while (!flag);
}

int main(int argc, char** argv)
{
  static char box[LARGE];
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  if (argc < 3)
    return EXIT_USAGE;
  const int messages = (int)strtol(argv[2], NULL, 10);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < messages; i++) {
    const int bytes = i % 100 ? SMALL : LARGE;
    MPI_Request request;
    box[0] = (char)(rank == 0 ? i % 100 : -1);
    if (rank == 0) {
      MPI_Isend(box, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
      end(argv[1], &request);
      MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Irecv(box, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
      end(argv[1], &request);
      sum += box[0];
      MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
  }
  if (rank == 1)
    printf("%d\n", sum);
  MPI_Finalize();
  return 0;
}
