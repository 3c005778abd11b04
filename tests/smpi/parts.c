/* SPDX-License-Identifier: LGPL-2.1-only */
/* Per-rank features of SMPI that few programs use. The argument selects one:
 *
 *   early        rank 0 receives a small message 1 ms after it was sent, and prints the time in us
 *   one-sided    all ranks accumulate to, put into and get from rank 0's window, under its lock
 *   properties   rank 2's actor properties: one by one, all together, and again
 *   arguments    each rank modifies its arguments, and prints them at the end
 */
#include <mpi.h>
#include <simgrid/actor.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xbt/dict.h>

static int rank, size;

static void early(void)
{
  char message[100] = "early";
  int flag          = 0;
  if (rank == 1)
    MPI_Send(message, sizeof message, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  if (rank != 0)
    return;
  usleep(1000);
  const double begin = MPI_Wtime();
  MPI_Recv(message, sizeof message, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%.3f\n", (MPI_Wtime() - begin) * 1e6);
  MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  printf("%d\n", flag);
}

static void one_sided(void)
{
  int numbers[3] = {0, 0, 0}, one = 1, got = -1;
  MPI_Win window;
  MPI_Win_create(numbers, sizeof numbers, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
  if (rank == size - 1)
    MPI_Put(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
  MPI_Win_fence(0, window);
  MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  const double end = MPI_Wtime();
  for (int turn = 0; turn < size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn == rank)
      printf("%d %d %d %.9f\n", numbers[0], numbers[1], got, end);
  }
  MPI_Win_free(&window);
}

static void properties(void)
{
  if (rank != 2)
    return;
  sg_actor_t self = sg_actor_self();
  for (int round = 0; round < 2; ++round) {
    printf("%s %s %d\n", sg_actor_get_property_value(self, "instance_id"), sg_actor_get_property_value(self, "rank"),
           sg_actor_get_property_value(self, "other") == NULL);
    xbt_dict_t all = sg_actor_get_properties(self);
    printf("%u %s %s\n", (unsigned)xbt_dict_length(all), (char*)xbt_dict_get_or_null(all, "instance_id"),
           (char*)xbt_dict_get_or_null(all, "rank"));
    xbt_dict_free(&all);
  }
}

static void arguments(int argc, char** argv)
{
  for (int index = 1; index < argc; ++index)
    argv[index][0] = (char)('A' + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn == rank)
      printf("%d %s %s\n", strrchr(argv[0], '/') != NULL, argv[1], argv[2]);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(argv[1], "early"))
    early();
  else if (!strcmp(argv[1], "one-sided"))
    one_sided();
  else if (!strcmp(argv[1], "properties"))
    properties();
  else
    arguments(argc, argv);
  MPI_Finalize();
  return 0;
}
