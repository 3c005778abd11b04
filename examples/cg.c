/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communication of NAS CG: conjugate gradients on a matrix in square blocks. Plain MPI.
 *
 *     cg [SIZE [SOLVES [ITERATIONS]]]
 *
 * It represents codes that repeatedly multiply a sparse matrix by vectors, with a sum over all
 * ranks after each product: medium-sized messages between neighbours in the grid of ranks, and
 * chains of tiny dependent ones.
 *
 * The communication is that of conj_grad in NAS CG (cg.f, NPB 3.3): ranks in a square grid, rank
 * (r, c) has the block of rows r and columns c; the ranks of a column all have its piece of each
 * vector. A product is summed up along the row, in log2(columns) exchanges of a whole piece, and
 * transposed in one exchange with rank (c, r); a scalar product is log2(columns) exchanges of one
 * number along the row. A solve is 25 iterations of one product and two scalar products, then a
 * product and a scalar product for the residual. All are MPI_Irecv, MPI_Send, MPI_Wait. SIZE 14000,
 * 1400 and 75000 are those of classes A, S and B, which solve 15, 15 and 75 times. With fewer
 * ITERATIONS results may be reported as wrong.
 *
 * The computation differs: A = 4 K I - (ones on 2 K evenly spread diagonals), whose solutions are
 * known, so that each rank can check its piece.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, TAG = 1, DIAGONALS = 64 };
#define PRECISION 1e-6

typedef struct {
  int rank, side, row, column;
  int size, piece; /* rows of the matrix, and elements of a rank's part of a vector */
  int* first;      /* index in `columns` of each row's first entry */
  int* columns;    /* columns of the entries that are -1 */
  double* received;
  double* product;
} Grid;

static void* allocate(size_t count, size_t bytes)
{
  void* memory = calloc(count, bytes);
  if (memory == NULL) {
    fprintf(stderr, "cg: no memory for %zu bytes\n", count * bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return memory;
}

static int remainder_of(long number, int size)
{
  return (int)((number % size + size) % size);
}

static int offset(const Grid* grid, int diagonal)
{
  return (int)((2L * diagonal + 1) * grid->size / (4 * DIAGONALS) + 1);
}

/* Adds an entry of the matrix if it is in this block; returns the new count. */
static int add_entry(Grid* grid, int count, long column)
{
  const int within = remainder_of(column, grid->size) - grid->column * grid->piece;
  if (within < 0 || within >= grid->piece)
    return count;
  grid->columns[count] = within;
  return count + 1;
}

static void make_block(Grid* grid)
{
  int count     = 0;
  grid->first   = allocate((size_t)grid->piece + 1, sizeof(int));
  grid->columns = allocate((size_t)grid->piece * 2 * DIAGONALS, sizeof(int));
  for (int i = 0; i < grid->piece; i++) {
    const long row = (long)grid->row * grid->piece + i;
    for (int k = 0; k < DIAGONALS; k++) {
      count = add_entry(grid, count, row + offset(grid, k));
      count = add_entry(grid, count, row - offset(grid, k));
    }
    grid->first[i + 1] = count;
  }
}

static void exchange(const double* sent, double* received, int count, int other)
{
  MPI_Request request;
  MPI_Irecv(received, count, MPI_DOUBLE, other, TAG, MPI_COMM_WORLD, &request);
  MPI_Send(sent, count, MPI_DOUBLE, other, TAG, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sum_in_row(const Grid* grid, double* values, int count)
{
  for (int bit = 1; bit < grid->side; bit *= 2) {
    exchange(values, grid->received, count, grid->row * grid->side + (grid->column ^ bit));
    for (int i = 0; i < count; i++)
      values[i] += grid->received[i];
  }
}

static double scalar_product(const Grid* grid, const double* one, const double* other)
{
  double sum = 0;
  for (int i = 0; i < grid->piece; i++)
    sum += one[i] * other[i];
  sum_in_row(grid, &sum, 1);
  return sum;
}

/* Multiplies; vector and result are the piece of this rank's column. */
static void multiply(const Grid* grid, const double* vector, double* result)
{
  for (int i = 0; i < grid->piece; i++) {
    double sum = grid->row == grid->column ? 4.0 * DIAGONALS * vector[i] : 0;
    for (int k = grid->first[i]; k < grid->first[i + 1]; k++)
      sum -= vector[grid->columns[k]];
    grid->product[i] = sum;
  }
  sum_in_row(grid, grid->product, grid->piece);
  exchange(grid->product, result, grid->piece, grid->column * grid->side + grid->row);
}

/* Solves A z = x; returns the residual. */
static double solve(const Grid* grid, const double* x, double* z, int iterations)
{
  const int n = grid->piece;
  double* r   = allocate((size_t)n, sizeof(double));
  double* p   = allocate((size_t)n, sizeof(double));
  double* q   = allocate((size_t)n, sizeof(double));
  for (int i = 0; i < n; i++) {
    z[i] = 0;
    r[i] = p[i] = x[i];
  }
  double rho = scalar_product(grid, r, r);
  for (int iteration = 0; iteration < iterations && rho > 0; iteration++) {
    multiply(grid, p, q);
    const double alpha = rho / scalar_product(grid, p, q);
    for (int i = 0; i < n; i++) {
      z[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double before = rho;
    rho                 = scalar_product(grid, r, r);
    for (int i = 0; i < n; i++)
      p[i] = r[i] + rho / before * p[i];
  }
  multiply(grid, z, r);
  for (int i = 0; i < n; i++)
    r[i] -= x[i];
  const double residual = sqrt(scalar_product(grid, r, r));
  free(r);
  free(p);
  free(q);
  return residual;
}

/* Returns an element of the exact solution. */
static double wanted(const Grid* grid, long index, int number)
{
  return 1 + remainder_of(index, grid->size) % (5 + number);
}

/* Returns an element of A times the exact solution, which every rank can compute locally. */
static double right_side(const Grid* grid, long index, int number)
{
  double sum = 4.0 * DIAGONALS * wanted(grid, index, number);
  for (int k = 0; k < DIAGONALS; k++)
    sum -= wanted(grid, index + offset(grid, k), number) + wanted(grid, index - offset(grid, k), number);
  return sum;
}

/* Returns the number of wrong elements in this rank's piece, plus one for a wrong residual. */
static int solve_known(const Grid* grid, int number, int iterations)
{
  const long begin = (long)grid->column * grid->piece;
  double* x        = allocate((size_t)grid->piece, sizeof(double));
  double* z        = allocate((size_t)grid->piece, sizeof(double));
  for (int i = 0; i < grid->piece; i++)
    x[i] = right_side(grid, begin + i, number);
  int wrong = !(solve(grid, x, z, iterations) < PRECISION);
  for (int i = 0; i < grid->piece; i++)
    wrong += !(fabs(z[i] - wanted(grid, begin + i, number)) < PRECISION);
  free(x);
  free(z);
  return wrong;
}

/* Returns the side of the square grid of ranks, which must be a power of two for the exchanges. */
static int side_of(int ranks)
{
  int side = 1;
  while (side * side < ranks)
    side *= 2;
  return side * side == ranks ? side : 0;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Grid grid = {.size = argc > 1 ? atoi(argv[1]) : 14000};
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &grid.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int solves     = argc > 2 ? atoi(argv[2]) : 15;
  const int iterations = argc > 3 ? atoi(argv[3]) : 25;
  grid.side            = side_of(ranks);
  if (grid.side == 0 || grid.size < 4 * DIAGONALS || grid.size % grid.side || solves < 1 || iterations < 1) {
    if (grid.rank == 0)
      fprintf(stderr,
              "usage: cg [SIZE [SOLVES [ITERATIONS]]]   on 1, 4, 16, 64, 256, ... ranks, whose square root divides"
              " SIZE, at least %d\n",
              4 * DIAGONALS);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  grid.row      = grid.rank / grid.side;
  grid.column   = grid.rank % grid.side;
  grid.piece    = grid.size / grid.side;
  grid.received = allocate((size_t)grid.piece, sizeof(double));
  grid.product  = allocate((size_t)grid.piece, sizeof(double));
  make_block(&grid);
  int wrong = 0;
  for (int number = 0; number < solves; number++)
    wrong += solve_known(&grid, number, iterations);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (grid.rank == 0)
    printf("cg: %d solves of %d unknowns: %s\n", solves, grid.size, wrong == 0 ? "right" : "WRONG");
  free(grid.first);
  free(grid.columns);
  free(grid.received);
  free(grid.product);
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
