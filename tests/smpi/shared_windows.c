/* SPDX-License-Identifier: LGPL-2.1-only */
/* Shared memory windows: addresses from MPI_Win_shared_query, loads and stores in all parts, MPI_Put and MPI_Get there,
 * and a halo exchange in which neighbours on the same host read each other's memory.
 *
 *   parts [noncontig]  rank r has r doubles (none on rank 0), or r + 1
 *   halo STEPS         a line of cells, averaged STEPS times; the result equals the result of one rank
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 8 };
static int world_rank, world_size, rank, size;
static MPI_Comm host;

static void check(int holds, const char* what)
{
  if (holds)
    return;
  printf("WRONG: rank %d: %s\n", world_rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double* part_of(MPI_Win window, int whose, int expected)
{
  MPI_Aint bytes = -1;
  int unit       = -1;
  double* part   = NULL;
  MPI_Win_shared_query(window, whose, &bytes, &unit, &part);
  check(bytes == (MPI_Aint)(expected * sizeof(double)), "the size of a part");
  check(unit == (int)sizeof(double), "the unit of a part");
  return part;
}

static void parts(int least, MPI_Info info)
{
  MPI_Win window;
  double *mine, got;
  const int next = (rank + 1) % size;
  MPI_Win_allocate_shared((MPI_Aint)((rank + least) * sizeof(double)), sizeof(double), info, host, &mine, &window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < rank + least; i++)
    mine[i] = 100 * rank + i;
  MPI_Win_fence(0, window);
  double* before = NULL;
  for (int whose = 0; whose < size; whose++) {
    double* part = part_of(window, whose, whose + least);
    check(whose != rank || part == mine, "the own part");
    for (int i = 0; i < whose + least; i++)
      check(part[i] == 100 * whose + i, "what another rank has written");
    check(whose == 0 || info != MPI_INFO_NULL || part == before + whose - 1 + least, "parts one after the other");
    before = part;
  }
  const int first = least == 0 ? 1 : 0; /* the first rank with a non-empty part */
  if (first < size)
    check(part_of(window, MPI_PROC_NULL, first + least) == part_of(window, first, first + least),
          "the part of MPI_PROC_NULL");
  MPI_Win_fence(0, window);
  if (next + least > 0)
    MPI_Put(&(double){7000 + rank}, 1, MPI_DOUBLE, next, next + least - 1, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  if (rank + least > 0)
    check(mine[rank + least - 1] == 7000 + (rank + size - 1) % size, "what was put");
  got = 7000 + rank;
  if (next + least > 0)
    MPI_Get(&got, 1, MPI_DOUBLE, next, next + least - 1, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  check(got == 7000 + rank, "what was got");
  if (next + least > 0) /* a store into another rank's part */
    part_of(window, next, next + least)[0] = -rank;
  MPI_Win_fence(0, window);
  if (rank + least > 0)
    check(mine[0] == -((rank + size - 1) % size), "what another rank has stored");
  double* base = NULL;
  int found    = 0;
  MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &found);
  check(found && base == mine, "MPI_WIN_BASE");
  MPI_Win_free(&window);
}

static double step_of(double left, double here, double right)
{
  return (left + 2 * here + right) / 4;
}

/* Reads the neighbours' cells: from their memory on the same host, otherwise by a message. */
static void halo(int steps)
{
  MPI_Win window;
  double *mine, *parts[2];
  int neighbours[2] = {world_rank - 1, world_rank + 1}, here[2];
  MPI_Group all, local;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(host, &local);
  for (int side = 0; side < 2; side++) {
    if (neighbours[side] < 0 || neighbours[side] >= world_size)
      neighbours[side] = MPI_PROC_NULL;
    here[side] = MPI_UNDEFINED;
    if (neighbours[side] != MPI_PROC_NULL)
      MPI_Group_translate_ranks(all, 1, neighbours + side, local, here + side);
  }
  MPI_Win_allocate_shared(CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, host, &mine, &window);
  for (int side = 0; side < 2; side++)
    parts[side] = here[side] == MPI_UNDEFINED ? NULL : part_of(window, here[side], CELLS);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (int i = 0; i < CELLS; i++)
    mine[i] = (world_rank * CELLS + i) % 5;
  for (int step = 0; step < steps; step++) {
    double edges[2] = {0, 0}, next[CELLS];
    MPI_Win_sync(window);
    MPI_Barrier(host);
    MPI_Win_sync(window);
    for (int side = 0; side < 2; side++)
      if (parts[side])
        edges[side] = parts[side][side == 0 ? CELLS - 1 : 0];
    const int far[2] = {parts[0] ? MPI_PROC_NULL : neighbours[0], parts[1] ? MPI_PROC_NULL : neighbours[1]};
    MPI_Sendrecv(mine, 1, MPI_DOUBLE, far[0], 0, far[1] == MPI_PROC_NULL ? next : edges + 1, 1, MPI_DOUBLE, far[1], 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(mine + CELLS - 1, 1, MPI_DOUBLE, far[1], 1, far[0] == MPI_PROC_NULL ? next : edges, 1, MPI_DOUBLE,
                 far[0], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < CELLS; i++)
      next[i] = step_of(i == 0 ? edges[0] : mine[i - 1], mine[i], i == CELLS - 1 ? edges[1] : mine[i + 1]);
    MPI_Barrier(host); /* all ranks have read */
    memcpy(mine, next, sizeof next);
  }
  MPI_Win_unlock_all(window);
  double* line = world_rank == 0 ? malloc((size_t)(world_size * CELLS) * sizeof(double)) : NULL;
  MPI_Gather(mine, CELLS, MPI_DOUBLE, line, CELLS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (world_rank == 0) {
    const int cells = world_size * CELLS;
    double *now = calloc((size_t)cells + 2, sizeof(double)), *then = calloc((size_t)cells + 2, sizeof(double));
    for (int i = 0; i < cells; i++)
      now[i + 1] = i % 5;
    for (int step = 0; step < steps; step++) {
      for (int i = 1; i <= cells; i++)
        then[i] = step_of(now[i - 1], now[i], now[i + 1]);
      memcpy(now, then, ((size_t)cells + 2) * sizeof(double));
    }
    check(memcmp(now + 1, line, (size_t)cells * sizeof(double)) == 0, "the cells after the last step");
  }
  MPI_Group_free(&all);
  MPI_Group_free(&local);
  MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &size);
  if (argc > 2 && strcmp(argv[1], "halo") == 0)
    halo(atoi(argv[2]));
  else
    for (int least = 0; least < 2; least++) {
      MPI_Info info = MPI_INFO_NULL;
      if (argc > 2) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
      }
      parts(least, info);
      if (argc > 2)
        MPI_Info_free(&info);
    }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0)
    puts("right");
  MPI_Finalize();
  return 0;
}
