/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communication pattern of LULESH 2.0 on a cube of ranks: `halo [ELEMENTS [STEPS]]`, ELEMENTS along a rank's edge.
 *
 * A step follows lulesh.cc and lulesh-comm.cc: forces of nodes to all 26 neighbours (3 values per node), positions and
 * velocities to the same (6), gradients to the 6 face neighbours (3 values per element), and an MPI_Allreduce of the
 * next time step. All receives are posted first; sends are completed by one MPI_Waitall, receives one by one. As in
 * LULESH, positions and velocities are sent to half of the neighbours and received from the other half. The data encode
 * sender and step, and every rank verifies all that it receives.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEIGHBOURS = 26, EXIT_USAGE = 2, FORCES = 3, MOTION = 6, GRADIENTS = 3 };

static int rank, ranks, side, place[3], wrong;
static double* sent[NEIGHBOURS];
static double* received[NEIGHBOURS];
static volatile double sink;

static void locate(int direction, int* offset)
{
  const int code = direction < 13 ? direction : direction + 1; /* 13 is the rank itself */
  offset[0]      = code % 3 - 1;
  offset[1]      = code / 3 % 3 - 1;
  offset[2]      = code / 9 - 1;
}

/* Returns the neighbour in a direction, or MPI_PROC_NULL. */
static int neighbour(const int* offset)
{
  int number = 0;
  for (int axis = 2; axis >= 0; axis--) {
    const int at = place[axis] + offset[axis];
    if (at < 0 || at >= side)
      return MPI_PROC_NULL;
    number = number * side + at;
  }
  return number;
}

/* Returns the number of points of a face, an edge or a corner. */
static int points(const int* offset, int along)
{
  int number = 1;
  for (int axis = 0; axis < 3; axis++)
    number *= offset[axis] ? 1 : along;
  return number;
}

static int is_face(const int* offset)
{
  return abs(offset[0]) + abs(offset[1]) + abs(offset[2]) == 1;
}

/* Exchanges values per point with the neighbours; half: sends to one half of them and receives from the other. */
static void exchange(int step, int values, int along, int faces, int half)
{
  MPI_Request from[NEIGHBOURS], to[NEIGHBOURS];
  int offset[3], open = 0;
  for (int direction = 0; direction < NEIGHBOURS; direction++) {
    from[direction] = MPI_REQUEST_NULL;
    locate(direction, offset);
    if (neighbour(offset) != MPI_PROC_NULL && (!faces || is_face(offset)) && (!half || direction >= 13))
      MPI_Irecv(received[direction], values * points(offset, along), MPI_DOUBLE, neighbour(offset), values,
                MPI_COMM_WORLD, &from[direction]);
  }
  for (int direction = 0; direction < NEIGHBOURS; direction++) {
    locate(direction, offset);
    if (neighbour(offset) == MPI_PROC_NULL || (faces && !is_face(offset)) || (half && direction >= 13))
      continue;
    for (int i = 0; i < values * points(offset, along); i++)
      sent[direction][i] = rank + ranks * step;
    MPI_Isend(sent[direction], values * points(offset, along), MPI_DOUBLE, neighbour(offset), values, MPI_COMM_WORLD,
              &to[open++]);
  }
  MPI_Waitall(open, to, MPI_STATUSES_IGNORE);
  for (int direction = 0; direction < NEIGHBOURS; direction++) {
    if (from[direction] == MPI_REQUEST_NULL)
      continue;
    locate(direction, offset);
    MPI_Wait(&from[direction], MPI_STATUS_IGNORE);
    for (int i = 0; i < values * points(offset, along); i++)
      wrong += received[direction][i] != neighbour(offset) + ranks * step;
  }
}

static void compute(int elements)
{
  for (int i = 0; i < elements * elements * elements; i++)
    sink = sink * 0.5 + i;
}

int main(int argc, char** argv)
{
  const int elements = argc > 1 ? atoi(argv[1]) : 30;
  const int steps    = argc > 2 ? atoi(argv[2]) : 20;
  double next        = 1, least;
  int all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while ((side + 1) * (side + 1) * (side + 1) <= ranks)
    side++;
  if (side * side * side != ranks || elements < 1 || steps < 1) {
    if (rank == 0)
      fprintf(stderr, "halo: found %d ranks; wanted is a cube, and elements and steps\n", ranks);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  for (int axis = 0, left = rank; axis < 3; axis++, left /= side)
    place[axis] = left % side;
  for (int direction = 0; direction < NEIGHBOURS; direction++) {
    const size_t most   = sizeof(double) * MOTION * (elements + 1) * (elements + 1);
    sent[direction]     = malloc(most);
    received[direction] = malloc(most);
  }
  for (int step = 0; step < steps; step++) {
    MPI_Allreduce(&next, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    exchange(step, FORCES, elements + 1, 0, 0);
    compute(elements);
    exchange(step, MOTION, elements + 1, 0, 1);
    compute(elements);
    exchange(step, GRADIENTS, elements, 1, 0);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("Verification = %s\n", all ? "UNSUCCESSFUL" : "SUCCESSFUL");
  MPI_Finalize();
  return 0;
}
