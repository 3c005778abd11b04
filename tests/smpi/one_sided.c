/* SPDX-License-Identifier: LGPL-2.1-only
 * Data of one-sided calls on the network. Times are in seconds.
 *   put BYTES REPEATS: rank 0 puts to rank 1, and prints the time until each is complete at the target
 *   get BYTES REPEATS: as before with gets
 *   beside BYTES: rank 1 puts to rank 0 while rank 2 sends it a message of the same size; both print their times
 *   early BYTES: rank 1 reads its window while data is on its way, and after the epoch
 *   incast BYTES: all other ranks put to rank 0, which prints the time of the epoch */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, bytes;
static char* window_data;
static char* data;
static MPI_Win window;

static void repeat(int repeats, int gets)
{
  for (int i = 0; rank == 0 && i < repeats; ++i) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    const double begin = MPI_Wtime();
    if (gets)
      MPI_Get(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
    else
      MPI_Put(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
    MPI_Win_flush(1, window);
    printf("%.12g\n", MPI_Wtime() - begin);
    MPI_Win_unlock(1, window);
  }
}

static void beside(void)
{
  const double begin = MPI_Wtime();
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Put(data, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, window);
    MPI_Win_unlock(0, window);
    printf("put %.12g\n", MPI_Wtime() - begin);
  } else if (rank == 2) {
    MPI_Send(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    printf("sent %.12g\n", MPI_Wtime() - begin);
  } else if (rank == 0) {
    MPI_Recv(data, bytes, MPI_BYTE, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void early(void)
{
  if (rank == 0)
    memset(data, 7, (size_t)bytes);
  MPI_Win_fence(0, window);
  if (rank == 0)
    MPI_Put(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
  int is_early = 0;
  if (rank == 1) {
    usleep(1);
    is_early = window_data[0] == 7;
  }
  MPI_Win_fence(0, window);
  if (rank == 1)
    printf("%s\n", is_early ? "early" : window_data[bytes - 1] == 7 ? "right" : "lost");
}

static void incast(void)
{
  MPI_Win_fence(0, window);
  const double begin = MPI_Wtime();
  if (rank > 0)
    MPI_Put(data, bytes, MPI_BYTE, 0, (MPI_Aint)(rank - 1) * bytes, bytes, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  if (rank == 0)
    printf("%.12g\n", MPI_Wtime() - begin);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bytes = atoi(argv[2]);
  data  = calloc((size_t)bytes, 1);
  MPI_Win_allocate((MPI_Aint)bytes * ranks, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_data, &window);
  memset(window_data, 0, (size_t)bytes * (size_t)ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "put") == 0 || strcmp(argv[1], "get") == 0)
    repeat(atoi(argv[3]), argv[1][0] == 'g');
  else if (strcmp(argv[1], "beside") == 0)
    beside();
  else if (strcmp(argv[1], "early") == 0)
    early();
  else
    incast();
  MPI_Win_free(&window);
  free(data);
  MPI_Finalize();
  return 0;
}
