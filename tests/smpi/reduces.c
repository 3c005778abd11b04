/* SPDX-License-Identifier: LGPL-2.1-only */
/* Successive reductions to rank 0, as in Reduce of the Parallel Research Kernels (MPI1/Reduce):
 *
 *     reduces CALLS ELEMENTS [barrier]
 *
 * Only the root needs a sum before its next call. With `barrier` all ranks synchronise before each call.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int elements = atoi(argv[2]);
  double* vector     = calloc((size_t)elements, sizeof(double));
  for (int calls = atoi(argv[1]); calls > 0; calls--) {
    if (argc > 3)
      MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : vector, vector, elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  free(vector);
  MPI_Finalize();
  return 0;
}
