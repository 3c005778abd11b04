/* SPDX-License-Identifier: LGPL-2.1-only */
/* Products and sums of complex numbers by every name of their datatypes: the product over n ranks of i is i^n. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>

static const double POWERS[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
static int wrong;

static void check(const char* name, double sum_r, double sum_i, double product_r, double product_i)
{
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double* power = POWERS[size % 4];
  if (sum_r != 0 || sum_i != size || product_r != power[0] || product_i != power[1]) {
    fprintf(stderr, "%s: sum %g%+gi, product %g%+gi\n", name, sum_r, sum_i, product_r, product_i);
    wrong = 1;
  }
}

#define CHECK(C_TYPE, TYPE)                                                                                            \
  {                                                                                                                    \
    C_TYPE one = I, sum = 0, product = 0;                                                                              \
    MPI_Allreduce(&one, &sum, 1, TYPE, MPI_SUM, MPI_COMM_WORLD);                                                       \
    MPI_Allreduce(&one, &product, 1, TYPE, MPI_PROD, MPI_COMM_WORLD);                                                  \
    check(#TYPE, creal(sum), cimag(sum), creal(product), cimag(product));                                              \
  }

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  CHECK(float complex, MPI_COMPLEX)
  CHECK(float complex, MPI_COMPLEX8)
  CHECK(float complex, MPI_C_FLOAT_COMPLEX)
  CHECK(double complex, MPI_DOUBLE_COMPLEX)
  CHECK(double complex, MPI_COMPLEX16)
  CHECK(double complex, MPI_C_DOUBLE_COMPLEX)
  CHECK(long double complex, MPI_COMPLEX32)
  CHECK(long double complex, MPI_C_LONG_DOUBLE_COMPLEX)
  MPI_Finalize();
  return wrong;
}
