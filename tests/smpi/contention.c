/* SPDX-License-Identifier: LGPL-2.1-only */
/* Allreduces (MPI_INT, MPI_SUM) with competing traffic: `contention WHO BYTES [TRANSFER_BYTES]`.
 *
 * WHO: "world", all ranks together; "halves", the lower and the upper half of the ranks separately and concurrently;
 * "half", only the lower half; "parities", the even and the odd ranks separately; "even", only the even ranks. With
 * TRANSFER_BYTES, rank 0 concurrently sends a message of that size to
 * rank 1. Each participating rank prints "allreduce SECONDS", ranks 0 and 1 also "transfer
 * SECONDS", both from the common start. Requires an offloading fabric and --cfg=smpi/wtime:0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABSENT = -1, EXIT_USAGE = 64 };

static int group_of(const char* who, int rank, int ranks)
{
  int upper = 2 * rank >= ranks;
  if (strcmp(who, "halves") == 0)
    return upper;
  if (strcmp(who, "half") == 0)
    return upper ? ABSENT : 0;
  if (strcmp(who, "parities") == 0)
    return rank % 2;
  if (strcmp(who, "even") == 0)
    return rank % 2 ? ABSENT : 0;
  return 0;
}

/* Unlike a barrier, an offloaded Allreduce releases all ranks simultaneously. */
static double start_together(void)
{
  int one = 1, sum;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Wtime();
}

static MPI_Request start_transfer(int rank, char* data, int bytes)
{
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0)
    MPI_Isend(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  else if (rank == 1)
    MPI_Irecv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  return request;
}

static void allreduce(int bytes, MPI_Comm comm, double start)
{
  int* send    = calloc(1, (size_t)bytes);
  int* receive = calloc(1, (size_t)bytes);
  MPI_Allreduce(send, receive, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, comm);
  printf("allreduce %.17g\n", MPI_Wtime() - start);
  free(send);
  free(receive);
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  if (argc < 3)
    return EXIT_USAGE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int bytes = atoi(argv[2]), transfer_bytes = argc > 3 ? atoi(argv[3]) : 0;
  int group           = group_of(argv[1], rank, ranks);
  char* data          = malloc((size_t)transfer_bytes + 1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, group == ABSENT ? MPI_UNDEFINED : group, rank, &comm);

  double start = start_together();
  if (transfer_bytes > 0)
    request = start_transfer(rank, data, transfer_bytes);
  if (comm != MPI_COMM_NULL)
    allreduce(bytes, comm, start);
  if (request != MPI_REQUEST_NULL) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("transfer %.17g\n", MPI_Wtime() - start);
  }
  free(data);
  MPI_Finalize();
  return 0;
}
