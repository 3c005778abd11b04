/* SPDX-License-Identifier: LGPL-2.1-only */
/* Halo exchange of a stencil: ranks form a periodic 2-D grid, and each repeatedly exchanges a row
 * of cells with its four neighbours. Plain MPI.
 *
 *     halo_exchange [ITERATIONS [BYTES [PHASES]]]
 *
 * BYTES are sent to each neighbour: with one phase to all four at once, with two phases first to
 * those above and below, then to those at the sides, as in programs that forward corners. Nothing
 * is computed between exchanges; after the last one the received cells are checked. Rank 0 prints
 * the grid, BYTES, and the time of an exchange on the slowest rank, in microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, TAG = 1, SIDES = 4 };

/* Finds the neighbours above, below, to the left and to the right. */
static void find_neighbours(int rank, const int grid[2], int neighbours[SIDES])
{
  const int rows = grid[0], columns = grid[1];
  const int row = rank / columns, column = rank % columns;
  neighbours[0] = (row + rows - 1) % rows * columns + column;
  neighbours[1] = (row + 1) % rows * columns + column;
  neighbours[2] = row * columns + (column + columns - 1) % columns;
  neighbours[3] = row * columns + (column + 1) % columns;
}

/* Exchanges with the neighbours of the sides from first up to end. The tag contains the sender's
 * side, since the neighbours of two opposite sides may be the same rank. */
static void exchange(const int neighbours[SIDES], const char* edge, char* halo, int bytes, int first, int end)
{
  MPI_Request requests[2 * SIDES];
  int posted = 0;
  for (int side = first; side < end; side++)
    MPI_Irecv(halo + (size_t)side * bytes, bytes, MPI_CHAR, neighbours[side], TAG + (side ^ 1), MPI_COMM_WORLD,
              &requests[posted++]);
  for (int side = first; side < end; side++)
    MPI_Isend(edge, bytes, MPI_CHAR, neighbours[side], TAG + side, MPI_COMM_WORLD, &requests[posted++]);
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
}

/* Returns the content of a rank's cells. */
static char cell(int rank)
{
  return (char)(rank % 127 + 1);
}

static int halo_is_right(const int neighbours[SIDES], const char* halo, int bytes)
{
  for (int side = 0; side < SIDES; side++)
    for (int i = 0; i < bytes; i++)
      if (halo[(size_t)side * bytes + i] != cell(neighbours[side]))
        return 0;
  return 1;
}

/* Returns the time of an exchange on this rank, in seconds. */
static double run(int rank, const int grid[2], int iterations, int bytes, int phases)
{
  int neighbours[SIDES];
  char* edge = malloc((size_t)bytes);
  char* halo = calloc(SIDES, (size_t)bytes);
  if (edge == NULL || halo == NULL) {
    fprintf(stderr, "halo_exchange: no memory for %d bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  memset(edge, cell(rank), (size_t)bytes);
  find_neighbours(rank, grid, neighbours);
  const double start = MPI_Wtime();
  for (int i = 0; i < iterations; i++)
    for (int phase = 0; phase < phases; phase++)
      exchange(neighbours, edge, halo, bytes, phase * SIDES / phases, (phase + 1) * SIDES / phases);
  const double time = (MPI_Wtime() - start) / iterations;
  if (!halo_is_right(neighbours, halo, bytes)) {
    fprintf(stderr, "halo_exchange: rank %d has not got its neighbours' cells\n", rank);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  free(halo);
  free(edge);
  return time;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, grid[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int iterations = argc > 1 ? atoi(argv[1]) : 10;
  const int bytes      = argc > 2 ? atoi(argv[2]) : 1024;
  const int phases     = argc > 3 ? atoi(argv[3]) : 1;
  if (iterations < 1 || bytes < 1 || phases < 1 || phases > 2) {
    if (rank == 0)
      fputs("usage: halo_exchange [ITERATIONS [BYTES [PHASES]]]   from 1 on; phases: 1 or 2\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  MPI_Dims_create(ranks, 2, grid);
  double slowest    = 0;
  const double mine = run(rank, grid, iterations, bytes, phases);
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d x %d ranks, %d bytes: %.3f us\n", grid[0], grid[1], bytes, slowest * 1e6);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
