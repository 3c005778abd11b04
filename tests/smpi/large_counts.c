/* SPDX-License-Identifier: LGPL-2.1-only */
/* Large-count forms: small calls, compared with the int forms, and messages of more than 2^31 elements in shared
 * memory. `large_counts small`, or `large_counts large ELEMENTS`, which prints the times of a message and of a
 * Bcast. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 12, MOST_RANKS = 8, SPACE = COUNT * MOST_RANKS };

static int rank, size, right = 1;
static int sent[SPACE], got[SPACE], expected[SPACE];

static void compare(const char* what)
{
  if (memcmp(got, expected, sizeof got) != 0) {
    printf("wrong: %s\n", what);
    right = 0;
  }
  memset(got, 0, sizeof got);
  memset(expected, 0, sizeof expected);
}

static void small(void)
{
  int before = (rank + size - 1) % size, after = (rank + 1) % size, old_counts[MOST_RANKS], old_places[MOST_RANKS];
  MPI_Count counts[MOST_RANKS], count, low, extent;
  MPI_Aint places[MOST_RANKS];
  MPI_Request request, requests[2];
  MPI_Status status;
  for (int i = 0; i < SPACE; i++)
    sent[i] = 1000 * rank + i;
  for (int i = 0; i < MOST_RANKS; i++) {
    counts[i] = old_counts[i] = 1 + i % 3;
    places[i] = old_places[i] = COUNT * (MOST_RANKS - 1 - i);
  }
  MPI_Sendrecv_c(sent, COUNT, MPI_INT, after, 1, got, COUNT, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
  MPI_Sendrecv(sent, COUNT, MPI_INT, after, 1, expected, COUNT, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
  compare("Sendrecv");
  MPI_Get_count_c(&status, MPI_INT, &count);
  right &= count == COUNT;
  MPI_Irecv_c(got, COUNT, MPI_INT, before, 2, MPI_COMM_WORLD, requests);
  MPI_Isend_c(sent, COUNT, MPI_INT, after, 2, MPI_COMM_WORLD, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(sent, COUNT, MPI_INT, after, 2, expected, COUNT, MPI_INT, before, 2, MPI_COMM_WORLD, &status);
  compare("Isend");
  MPI_Allreduce_c(sent, got, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(sent, expected, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  compare("Allreduce");
  MPI_Allgatherv_c(sent, counts[rank], MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(sent, old_counts[rank], MPI_INT, expected, old_counts, old_places, MPI_INT, MPI_COMM_WORLD);
  compare("Allgatherv");
  MPI_Igatherv_c(sent, counts[rank], MPI_INT, got, rank == 1 ? counts : NULL, rank == 1 ? places : NULL, MPI_INT, 1,
                 MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Gatherv(sent, old_counts[rank], MPI_INT, expected, old_counts, old_places, MPI_INT, 1, MPI_COMM_WORLD);
  compare("Igatherv");
  MPI_Allgather_init_c(sent, COUNT, MPI_INT, got, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  MPI_Allgather(sent, COUNT, MPI_INT, expected, COUNT, MPI_INT, MPI_COMM_WORLD);
  compare("Allgather_init");
  MPI_Type_get_extent_c(MPI_INT, &low, &extent);
  right &= low == 0 && extent == (MPI_Count)sizeof(int);
  MPI_Datatype large;
  MPI_Type_contiguous_c(3000000000, MPI_DOUBLE, &large);
  MPI_Type_size_c(large, &count);
  right &= count == 24000000000;
  MPI_Type_free(&large);
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &pair);
  MPI_Type_contiguous_c(3000000000, pair, &large);
  MPI_Type_size_c(large, &count);
  right &= count == 48000000000;
  MPI_Type_free(&large);
  MPI_Type_free(&pair);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  right &= MPI_Send_c(sent, 4294967311, MPI_INT, after, 1, MPI_COMM_WORLD) == MPI_ERR_COUNT; /* a prime */
  right &= MPI_Iallreduce_c(sent, got, 3000000000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) == MPI_ERR_COUNT;
  printf(right ? "right\n" : "wrong\n");
}

static void large(MPI_Count elements)
{
  char* data   = SMPI_SHARED_MALLOC((size_t)elements);
  double start = MPI_Wtime();
  if (rank == 0)
    MPI_Send_c(data, elements, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv_c(data, elements, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1)
    printf("message %.9f\n", MPI_Wtime() - start);
  MPI_Barrier(MPI_COMM_WORLD);
  start = MPI_Wtime();
  MPI_Bcast_c(data, elements, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 1)
    printf("bcast %.9f\n", MPI_Wtime() - start);
  char* result = SMPI_SHARED_MALLOC((size_t)elements);
  MPI_Barrier(MPI_COMM_WORLD);
  start = MPI_Wtime();
  MPI_Allreduce_c(data, result, elements, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 1)
    printf("allreduce %.9f\n", MPI_Wtime() - start);
  MPI_Barrier(MPI_COMM_WORLD);
  start = MPI_Wtime();
  MPI_Allreduce(data, result, (int)(elements / (MPI_Count)sizeof(double)), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 1)
    printf("allreduce-doubles %.9f\n", MPI_Wtime() - start);
  MPI_Barrier(MPI_COMM_WORLD);
  start = MPI_Wtime();
  MPI_Reduce_c(data, rank == 0 ? result : NULL, elements, MPI_UNSIGNED_CHAR, MPI_BXOR, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    printf("reduce %.9f\n", MPI_Wtime() - start);
  SMPI_SHARED_FREE(result);
  SMPI_SHARED_FREE(data);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "small") == 0)
    small();
  else
    large(atoll(argv[2]));
  MPI_Finalize();
  return 0;
}
