/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communication of NAS FT: a three-dimensional Fourier transform on a grid divided into slabs.
 * Plain MPI.
 *
 *     ft [NX NY NZ [ITERATIONS]]
 *
 * It represents spectral codes: all data of a rank are repeatedly sent to all others, in blocks of
 * the grid's size / ranks^2.
 *
 * The communication is that of NAS FT in its one-dimensional layout (ft.f, NPB 3.3, layout_1D): a
 * rank has NZ / ranks planes; it transforms them along x and y, an MPI_Alltoall transposes the
 * slabs, and it transforms along z. After one such forward transform, each of ITERATIONS (6 in
 * class A) advances the heat equation in time, transforms backwards, which is one MPI_Alltoall
 * again, and sums up a checksum, an MPI_Reduce of one complex number. Class A is 256 x 256 x 128;
 * for 256 ranks NAS FT divides it into pencils, which requires an MPI_Alltoall along each side of
 * its grid of ranks. 128 x 256 x 256 has as many points and fits in slabs.
 *
 * The computation differs: the heat equation starts with waves of known decay, so that each rank
 * can check all of its points after each iteration; the checksum is the number of wrong points.
 */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, WAVES = 3, X = 0, Y = 1, Z = 2 };
#define TAU 6.283185307179586476925
#define DIFFUSION 1e-4
#define PRECISION 1e-9

typedef double complex Complex;

/* Wave numbers along the grid's sides, and amplitudes. */
static const int wave_numbers[WAVES][3] = {{1, 2, -3}, {-2, 0, 1}, {3, -1, 2}};
static const double heights[WAVES]      = {1.0, 0.5, 0.25};

typedef struct {
  int rank, ranks;
  int size[3];
  int planes; /* z planes on this rank while x and y are complete */
  int rows;   /* y rows on this rank while z is complete */
  size_t points;
  Complex* waves[WAVES][3]; /* each wave along each side */
} Grid;

static void* allocate(size_t count, size_t bytes)
{
  void* memory = calloc(count, bytes);
  if (memory == NULL) {
    fprintf(stderr, "ft: no memory for %zu bytes\n", count * bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return memory;
}

static void reverse_bits(Complex* line, int size)
{
  for (int i = 1, j = 0; i < size; i++) {
    int bit = size / 2;
    for (; j & bit; bit /= 2)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      const Complex swapped = line[i];
      line[i]               = line[j];
      line[j]               = swapped;
    }
  }
}

/* Cooley-Tukey transform in place; `roots` has size / 2 roots of unity. */
static void transform_line(Complex* line, const Complex* roots, int size)
{
  reverse_bits(line, size);
  for (int half = 1; half < size; half *= 2) {
    const int step = size / 2 / half;
    for (int start = 0; start < size; start += 2 * half)
      for (int i = start; i < start + half; i++) {
        const Complex odd = line[i + half] * roots[(i - start) * step];
        line[i + half]    = line[i] - odd;
        line[i] += odd;
      }
  }
}

/* Transforms all lines along one side: they start at multiples of `stride * size`, plus 0 to
 * `stride` - 1. */
static void transform(Complex* values, size_t points, int size, size_t stride, int sign)
{
  Complex* line  = allocate((size_t)size, sizeof(Complex));
  Complex* roots = allocate((size_t)size, sizeof(Complex));
  for (int i = 0; i < size / 2; i++)
    roots[i] = cexp(sign * I * TAU * i / size);
  for (size_t block = 0; block < points; block += stride * (size_t)size)
    for (size_t start = block; start < block + stride; start++) {
      for (int i = 0; i < size; i++)
        line[i] = values[start + (size_t)i * stride];
      transform_line(line, roots, size);
      for (int i = 0; i < size; i++)
        values[start + (size_t)i * stride] = line[i];
    }
  free(line);
  free(roots);
}

/* Copies from [plane][y][x] to blocks per rank [rank][plane][row][x], or back. */
static void cut(const Grid* grid, Complex* slab, Complex* blocks, int back)
{
  const size_t line = (size_t)grid->size[X];
  for (int plane = 0; plane < grid->planes; plane++)
    for (int y = 0; y < grid->size[Y]; y++) {
      const int rank     = y / grid->rows;
      Complex* in_slab   = slab + ((size_t)plane * grid->size[Y] + y) * line;
      Complex* in_blocks = blocks + (((size_t)rank * grid->planes + plane) * grid->rows + y % grid->rows) * line;
      for (size_t x = 0; x < line; x++)
        if (back)
          in_slab[x] = in_blocks[x];
        else
          in_blocks[x] = in_slab[x];
    }
}

/* Transposes received blocks, which are [z][row][x]. */
static void turn(const Grid* grid, const Complex* sent, Complex* received)
{
  const int count = (int)(2 * grid->points / (size_t)grid->ranks);
  MPI_Alltoall(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void forwards(const Grid* grid, Complex* slab, Complex* turned, Complex* spare)
{
  transform(slab, grid->points, grid->size[X], 1, -1);
  transform(slab, grid->points, grid->size[Y], (size_t)grid->size[X], -1);
  cut(grid, slab, spare, 0);
  turn(grid, spare, turned);
  transform(turned, grid->points, grid->size[Z], (size_t)grid->rows * grid->size[X], -1);
}

static void backwards(const Grid* grid, Complex* turned, Complex* slab, Complex* spare)
{
  transform(turned, grid->points, grid->size[Z], (size_t)grid->rows * grid->size[X], 1);
  turn(grid, turned, spare);
  cut(grid, slab, spare, 1);
  transform(slab, grid->points, grid->size[Y], (size_t)grid->size[X], 1);
  transform(slab, grid->points, grid->size[X], 1, 1);
}

/* Returns the fraction of a wave's amplitude that remains after a time. */
static double decay(const int numbers[3], double time)
{
  double square = 0;
  for (int side = X; side <= Z; side++)
    square += (double)numbers[side] * numbers[side];
  return exp(-TAU * TAU * DIFFUSION * square * time);
}

static void make_waves(Grid* grid)
{
  for (int wave = 0; wave < WAVES; wave++)
    for (int side = X; side <= Z; side++) {
      const int size          = grid->size[side];
      grid->waves[wave][side] = allocate((size_t)size, sizeof(Complex));
      for (int i = 0; i < size; i++)
        grid->waves[wave][side][i] = cexp(I * TAU * wave_numbers[wave][side] * i / size);
    }
}

static void free_waves(Grid* grid)
{
  for (int wave = 0; wave < WAVES; wave++)
    for (int side = X; side <= Z; side++)
      free(grid->waves[wave][side]);
}

/* Sets the points of the slab to their exact values at a time, or returns how many differ from
 * them. */
static int compare(const Grid* grid, Complex* slab, double time, int set)
{
  const size_t nx = (size_t)grid->size[X], ny = (size_t)grid->size[Y];
  double height[WAVES];
  int wrong = 0;
  for (int wave = 0; wave < WAVES; wave++)
    height[wave] = heights[wave] * decay(wave_numbers[wave], time);
  for (size_t i = 0; i < grid->points; i++) {
    const size_t x = i % nx, y = i / nx % ny, z = (size_t)(grid->rank * grid->planes) + i / nx / ny;
    Complex sum = 0;
    for (int wave = 0; wave < WAVES; wave++)
      sum += height[wave] * grid->waves[wave][X][x] * grid->waves[wave][Y][y] * grid->waves[wave][Z][z];
    if (set)
      slab[i] = sum;
    else
      wrong += !(cabs(slab[i] - sum) < PRECISION);
  }
  return wrong;
}

/* Returns the frequency of an index of a transformed line. */
static int frequency(int place, int size)
{
  return place <= size / 2 ? place : place - size;
}

/* Advances the transformed grid by a time step, and applies the scaling of the next backward
 * transform. */
static void evolve(const Grid* grid, Complex* turned, Complex* evolved, double time)
{
  const double scale = 1.0 / ((double)grid->points * grid->ranks);
  const size_t nx = (size_t)grid->size[X], rows = (size_t)grid->rows;
  for (size_t i = 0; i < grid->points; i++) {
    const int y          = (int)(i / nx % rows) + grid->rank * grid->rows;
    const int numbers[3] = {frequency((int)(i % nx), grid->size[X]), frequency(y, grid->size[Y]),
                            frequency((int)(i / nx / rows), grid->size[Z])};
    evolved[i]           = turned[i] * (scale * decay(numbers, time));
  }
}

/* Returns the number of wrong points over all iterations; valid on rank 0. */
static double run(const Grid* grid, int iterations)
{
  Complex* slab    = allocate(grid->points, sizeof(Complex));
  Complex* turned  = allocate(grid->points, sizeof(Complex));
  Complex* evolved = allocate(grid->points, sizeof(Complex));
  Complex* spare   = allocate(grid->points, sizeof(Complex));
  double all       = 0;
  compare(grid, slab, 0, 1);
  forwards(grid, slab, turned, spare);
  for (int iteration = 1; iteration <= iterations; iteration++) {
    evolve(grid, turned, evolved, iteration);
    backwards(grid, evolved, slab, spare);
    const double checksum[2] = {compare(grid, slab, iteration, 0), 0};
    double sum[2]            = {0, 0};
    MPI_Reduce(checksum, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    all += sum[0];
  }
  free(slab);
  free(turned);
  free(evolved);
  free(spare);
  return all;
}

static int fits(const Grid* grid)
{
  for (int side = X; side <= Z; side++)
    if (grid->size[side] < 8 || (grid->size[side] & (grid->size[side] - 1)) != 0)
      return 0;
  return grid->size[Y] % grid->ranks == 0 && grid->size[Z] % grid->ranks == 0;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Grid grid = {.size = {128, 256, 256}};
  MPI_Comm_rank(MPI_COMM_WORLD, &grid.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &grid.ranks);
  for (int side = X; side <= Z && argc > 3; side++)
    grid.size[side] = atoi(argv[1 + side]);
  const int iterations = argc > 4 ? atoi(argv[4]) : 6;
  if (argc == 2 || argc == 3 || !fits(&grid) || iterations < 1) {
    if (grid.rank == 0)
      fputs("usage: ft [NX NY NZ [ITERATIONS]]   powers of two from 8 on; the ranks must divide NY and NZ\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  grid.planes = grid.size[Z] / grid.ranks;
  grid.rows   = grid.size[Y] / grid.ranks;
  grid.points = (size_t)grid.size[X] * grid.size[Y] * grid.planes;
  make_waves(&grid);
  const double wrong = run(&grid, iterations);
  free_waves(&grid);
  if (grid.rank == 0)
    printf("ft: %d x %d x %d, %d iterations: %s\n", grid.size[X], grid.size[Y], grid.size[Z], iterations,
           wrong == 0 ? "right" : "WRONG");
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
