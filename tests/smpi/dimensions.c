/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI_Dims_create: compares the spread of the dimensions with the minimum over all decompositions, and checks given
 * dimensions. */
#include <mpi.h>
#include <stdio.h>

static int wrong;

/* The minimum difference between the largest and the smallest factor over decompositions of `number` into factors
 * between `low` and `high`. */
static int least_spread(int number, int count, int low, int high)
{
  int least = -1;
  if (count == 0)
    return number == 1 ? high - low : -1;
  for (int factor = 1; factor <= number; factor++) {
    if (number % factor != 0)
      continue;
    const int spread = least_spread(number / factor, count - 1, low == 0 || factor < low ? factor : low,
                                    factor > high ? factor : high);
    if (spread >= 0 && (least < 0 || spread < least))
      least = spread;
  }
  return least;
}

static void check(int ranks, int count)
{
  int dims[4] = {0, 0, 0, 0}, product = 1, falling = 1;
  MPI_Dims_create(ranks, count, dims);
  for (int i = 0; i < count; i++) {
    product *= dims[i];
    falling &= i == 0 || dims[i] <= dims[i - 1];
  }
  if (product != ranks || !falling || dims[0] - dims[count - 1] != least_spread(ranks, count, 0, 0)) {
    printf("wrong: %d ranks in %d dimensions\n", ranks, count);
    wrong = 1;
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  for (int ranks = 1; ranks <= 720; ranks++)
    for (int count = 1; count <= 4; count++)
      check(ranks, count);
  int given[4] = {0, 5, 0, 3}, large[3] = {0, 0, 0}, bad[2] = {7, 0}, none[1];
  MPI_Dims_create(180, 4, given);
  wrong |= given[0] != 4 || given[1] != 5 || given[2] != 3 || given[3] != 3;
  MPI_Dims_create(2147483647, 3, large);
  wrong |= large[0] != 2147483647 || large[1] != 1 || large[2] != 1;
  MPI_Dims_create(1, 0, none);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int class;
  MPI_Error_class(MPI_Dims_create(180, 2, bad), &class);
  wrong |= class != MPI_ERR_DIMS;
  printf(wrong ? "wrong\n" : "right\n");
  MPI_Finalize();
  return 0;
}
