/* SPDX-License-Identifier: LGPL-2.1-only */
/* The constructor calls that MPI_Type_get_envelope and MPI_Type_get_contents return (MPI 4.1, section 5.1.13): each
 * combiner, types with the layout of simpler ones, nested types, types whose parts' handles are freed, large-count
 * forms. */
#include "checks.h"

#include <mpi.h>
#include <string.h>

enum { MOST = 32 };

/* Decodes a type, which it frees, and compares the call with the expected one. @p parts: the handle of each part, or
 * MPI_DATATYPE_NULL for a derived part, whose handle differs. */
static void expect(const char* what, MPI_Datatype type, int combiner, int numbers, const int* integers, int offsets,
                   const MPI_Aint* addresses, int parts, const MPI_Datatype* types)
{
  int i[MOST], ni, na, nd, found;
  MPI_Aint a[MOST];
  MPI_Datatype d[MOST];
  check(MPI_Type_get_envelope(type, &ni, &na, &nd, &found) == MPI_SUCCESS, what);
  check(found == combiner && ni == numbers && na == offsets && nd == parts, what);
  check(MPI_Type_get_contents(type, MOST, MOST, MOST, i, a, d) == MPI_SUCCESS, what);
  check(ni == 0 || memcmp(i, integers, ni * sizeof *i) == 0, what);
  check(na == 0 || memcmp(a, addresses, na * sizeof *a) == 0, what);
  for (int part = 0; part < nd; ++part)
    check(types[part] == MPI_DATATYPE_NULL || types[part] == d[part], what);
  MPI_Type_free(&type);
}

#define INTS(...)                                                                                                      \
  (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[])                                                           \
  {                                                                                                                    \
    __VA_ARGS__                                                                                                        \
  }
#define BYTES(...)                                                                                                     \
  (int)(sizeof((MPI_Aint[]){__VA_ARGS__}) / sizeof(MPI_Aint)), (MPI_Aint[])                                            \
  {                                                                                                                    \
    __VA_ARGS__                                                                                                        \
  }
#define TYPES(...)                                                                                                     \
  (int)(sizeof((MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype)), (MPI_Datatype[])                                \
  {                                                                                                                    \
    __VA_ARGS__                                                                                                        \
  }
#define NONE 0, NULL

static void check_combiners(void)
{
  const int lengths[] = {1, 2}, places[] = {0, 4}, sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
  const MPI_Aint bytes[]     = {0, 16};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[] = {1, 1};
  int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, whole[] = {4, 6};
  MPI_Datatype made;
  MPI_Type_dup(MPI_INT, &made);
  expect("dup", made, MPI_COMBINER_DUP, NONE, NONE, TYPES(MPI_INT));
  MPI_Type_contiguous(3, MPI_INT, &made);
  expect("contiguous", made, MPI_COMBINER_CONTIGUOUS, INTS(3), NONE, TYPES(MPI_INT));
  MPI_Type_vector(3, 2, 4, MPI_INT, &made);
  expect("vector", made, MPI_COMBINER_VECTOR, INTS(3, 2, 4), NONE, TYPES(MPI_INT));
  MPI_Type_create_hvector(3, 2, 40, MPI_INT, &made);
  expect("hvector", made, MPI_COMBINER_HVECTOR, INTS(3, 2), BYTES(40), TYPES(MPI_INT));
  MPI_Type_indexed(2, lengths, places, MPI_INT, &made);
  expect("indexed", made, MPI_COMBINER_INDEXED, INTS(2, 1, 2, 0, 4), NONE, TYPES(MPI_INT));
  MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &made);
  expect("hindexed", made, MPI_COMBINER_HINDEXED, INTS(2, 1, 2), BYTES(0, 16), TYPES(MPI_INT));
  MPI_Type_create_indexed_block(2, 3, places, MPI_INT, &made);
  expect("indexed_block", made, MPI_COMBINER_INDEXED_BLOCK, INTS(2, 3, 0, 4), NONE, TYPES(MPI_INT));
  MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &made);
  expect("hindexed_block", made, MPI_COMBINER_HINDEXED_BLOCK, INTS(2, 3), BYTES(0, 16), TYPES(MPI_INT));
  MPI_Type_create_struct(2, lengths, bytes, types, &made);
  expect("struct", made, MPI_COMBINER_STRUCT, INTS(2, 1, 2), BYTES(0, 16), TYPES(MPI_INT, MPI_DOUBLE));
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made);
  expect("subarray", made, MPI_COMBINER_SUBARRAY, INTS(2, 4, 6, 2, 3, 1, 2, MPI_ORDER_FORTRAN), NONE, TYPES(MPI_INT));
  MPI_Type_create_darray(1, 0, 2, whole, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &made);
  expect(
      "darray", made, MPI_COMBINER_DARRAY,
      INTS(1, 0, 2, 4, 6, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 1, 1, MPI_ORDER_C),
      NONE, TYPES(MPI_INT));
  MPI_Type_create_resized(MPI_INT, -4, 16, &made);
  expect("resized", made, MPI_COMBINER_RESIZED, NONE, BYTES(-4, 16), TYPES(MPI_INT));
}

/* Types with another constructor's layout: dense, with a single part, without parts. */
static void check_simple_layouts(void)
{
  const int one[] = {1}, two[] = {1, 1}, none[] = {0}, next[] = {0, 1}, four[] = {4}, zero[] = {0};
  const MPI_Aint start[] = {0}, near[] = {0, 4};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  MPI_Datatype made;
  MPI_Type_contiguous(0, MPI_INT, &made);
  expect("contiguous of none", made, MPI_COMBINER_CONTIGUOUS, INTS(0), NONE, TYPES(MPI_INT));
  MPI_Type_vector(3, 2, 2, MPI_INT, &made);
  expect("dense vector", made, MPI_COMBINER_VECTOR, INTS(3, 2, 2), NONE, TYPES(MPI_INT));
  MPI_Type_vector(0, 2, 3, MPI_INT, &made);
  expect("vector of none", made, MPI_COMBINER_VECTOR, INTS(0, 2, 3), NONE, TYPES(MPI_INT));
  MPI_Type_create_hvector(3, 2, 8, MPI_INT, &made);
  expect("dense hvector", made, MPI_COMBINER_HVECTOR, INTS(3, 2), BYTES(8), TYPES(MPI_INT));
  MPI_Type_indexed(2, two, next, MPI_INT, &made);
  expect("dense indexed", made, MPI_COMBINER_INDEXED, INTS(2, 1, 1, 0, 1), NONE, TYPES(MPI_INT));
  MPI_Type_indexed(1, none, next, MPI_INT, &made);
  expect("indexed without elements", made, MPI_COMBINER_INDEXED, INTS(1, 0, 0), NONE, TYPES(MPI_INT));
  MPI_Type_indexed(0, NULL, NULL, MPI_INT, &made);
  expect("indexed of none", made, MPI_COMBINER_INDEXED, INTS(0), NONE, TYPES(MPI_INT));
  MPI_Type_create_hindexed(2, two, near, MPI_INT, &made);
  expect("dense hindexed", made, MPI_COMBINER_HINDEXED, INTS(2, 1, 1), BYTES(0, 4), TYPES(MPI_INT));
  MPI_Type_create_indexed_block(2, 1, next, MPI_INT, &made);
  expect("dense blocks", made, MPI_COMBINER_INDEXED_BLOCK, INTS(2, 1, 0, 1), NONE, TYPES(MPI_INT));
  MPI_Type_create_indexed_block(0, 1, NULL, MPI_INT, &made);
  expect("no blocks", made, MPI_COMBINER_INDEXED_BLOCK, INTS(0, 1), NONE, TYPES(MPI_INT));
  MPI_Type_create_hindexed_block(1, 3, start, MPI_INT, &made);
  expect("one block", made, MPI_COMBINER_HINDEXED_BLOCK, INTS(1, 3), BYTES(0), TYPES(MPI_INT));
  MPI_Type_create_struct(2, two, near, ints, &made);
  expect("dense struct", made, MPI_COMBINER_STRUCT, INTS(2, 1, 1), BYTES(0, 4), TYPES(MPI_INT, MPI_INT));
  MPI_Type_create_struct(1, one, start, ints, &made);
  expect("struct of one", made, MPI_COMBINER_STRUCT, INTS(1, 1), BYTES(0), TYPES(MPI_INT));
  MPI_Type_create_struct(0, NULL, NULL, NULL, &made);
  expect("struct of none", made, MPI_COMBINER_STRUCT, INTS(0), NONE, NONE);
  MPI_Type_create_subarray(1, four, four, zero, MPI_ORDER_C, MPI_INT, &made);
  expect("whole array", made, MPI_COMBINER_SUBARRAY, INTS(1, 4, 4, 0, MPI_ORDER_C), NONE, TYPES(MPI_INT));
  MPI_Type_create_resized(MPI_INT, 0, 4, &made);
  expect("resized to its size", made, MPI_COMBINER_RESIZED, NONE, BYTES(0, 4), TYPES(MPI_INT));
}

/* Parts outlive their handles, and are returned as new handles. */
static void check_parts(void)
{
  int ni, na, nd, combiner, integers[3], values[] = {1, 2, 3, 4, 5, 6, 7, 8}, column[2] = {0, 0};
  MPI_Aint addresses[2];
  MPI_Datatype inner, middle, outer, copy, found, again;
  MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, 4, &middle);
  MPI_Type_contiguous(2, middle, &outer);
  MPI_Type_free(&inner);
  MPI_Type_free(&middle);
  MPI_Type_dup(outer, &copy);
  MPI_Type_get_contents(copy, 0, 0, 1, NULL, NULL, &found);
  MPI_Type_get_envelope(found, &ni, &na, &nd, &combiner);
  check(combiner == MPI_COMBINER_CONTIGUOUS && ni == 1, "the duplicated type");
  MPI_Type_free(&found);
  MPI_Type_free(&copy);
  MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &middle);
  check(integers[0] == 2, "the length");
  MPI_Type_get_contents(middle, 0, 2, 1, NULL, addresses, &inner);
  MPI_Type_free(&middle);
  MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &middle);
  MPI_Type_get_contents(middle, 0, 2, 1, NULL, addresses, &again);
  check(addresses[0] == 0 && addresses[1] == 4, "the bounds");
  MPI_Type_free(&outer);
  MPI_Type_free(&middle);
  MPI_Type_free(&again); /* one of two handles */
  MPI_Type_get_contents(inner, 3, 0, 1, integers, NULL, &found);
  check(integers[0] == 2 && integers[1] == 1 && integers[2] == 3 && found == MPI_INT, "the innermost vector");
  MPI_Type_commit(&inner);
  MPI_Sendrecv(values, 1, inner, rank, 0, column, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(column[0] == 1 && column[1] == 4, "a message of a decoded type");
  MPI_Type_free(&inner);
  check(inner == MPI_DATATYPE_NULL, "the last handle");
}

/* The second handle of a live type is freed; the first one remains valid. */
static void check_live_part(void)
{
  int value = 7, back = 0;
  MPI_Datatype inner, outer, found;
  MPI_Type_contiguous(1, MPI_INT, &inner);
  MPI_Type_commit(&inner);
  MPI_Type_contiguous(1, inner, &outer);
  MPI_Type_get_contents(outer, 1, 0, 1, &back, NULL, &found);
  MPI_Type_free(&found);
  MPI_Type_free(&outer);
  MPI_Sendrecv(&value, 1, inner, rank, 0, &back, 1, inner, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(back == 7, "the part after its second handle");
  MPI_Type_free(&inner);
}

static void check_large(const char* what, MPI_Datatype type, int combiner, int numbers, const int* integers, int large,
                        const MPI_Count* counts)
{
  int i[MOST], found, small;
  MPI_Count ni, na, nc, nd, c[MOST];
  MPI_Aint a[MOST];
  MPI_Datatype d[MOST];
  MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &found);
  check(found == combiner && ni == numbers && na == 0 && nc == large && nd >= 1, what);
  MPI_Type_get_contents_c(type, ni, na, nc, nd, i, a, c, d);
  check(ni == 0 || memcmp(i, integers, ni * sizeof *i) == 0, what);
  check(nc == 0 || memcmp(c, counts, nc * sizeof *c) == 0, what);
  check(d[0] == MPI_INT, what);
  check(class_of(MPI_Type_get_envelope(type, &small, &small, &small, &small)) == MPI_ERR_TYPE, what);
  check(class_of(MPI_Type_get_contents(type, MOST, MOST, MOST, i, a, d)) == MPI_ERR_TYPE, what);
  MPI_Type_free(&type);
}

#define COUNTS(...)                                                                                                    \
  (int)(sizeof((MPI_Count[]){__VA_ARGS__}) / sizeof(MPI_Count)), (MPI_Count[])                                         \
  {                                                                                                                    \
    __VA_ARGS__                                                                                                        \
  }

static void check_large_counts(void)
{
  const MPI_Count lengths[] = {1, 3000000000}, places[] = {0, 2}, bytes[] = {0, 8}, sizes[] = {6}, starts[] = {1};
  const MPI_Count parts[]    = {2};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  int distribution[] = {MPI_DISTRIBUTE_BLOCK}, argument[] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {1};
  MPI_Count ni, na, nc, nd;
  int combiner;
  MPI_Datatype made;
  MPI_Type_contiguous_c(7, MPI_INT, &made);
  check_large("contiguous", made, MPI_COMBINER_CONTIGUOUS, NONE, COUNTS(7));
  MPI_Type_contiguous_c(6000000000, MPI_INT, &made);
  check_large("huge contiguous", made, MPI_COMBINER_CONTIGUOUS, NONE, COUNTS(6000000000));
  MPI_Type_vector_c(2, 3000000000, 4000000000, MPI_INT, &made);
  check_large("vector", made, MPI_COMBINER_VECTOR, NONE, COUNTS(2, 3000000000, 4000000000));
  MPI_Type_create_hvector_c(2, 3, 16, MPI_INT, &made);
  check_large("hvector", made, MPI_COMBINER_HVECTOR, NONE, COUNTS(2, 3, 16));
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made);
  check_large("indexed", made, MPI_COMBINER_INDEXED, NONE, COUNTS(2, 1, 3000000000, 0, 2));
  MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, &made);
  check_large("hindexed", made, MPI_COMBINER_HINDEXED, NONE, COUNTS(2, 1, 3000000000, 0, 8));
  MPI_Type_create_indexed_block_c(2, 1, places, MPI_INT, &made);
  check_large("indexed_block", made, MPI_COMBINER_INDEXED_BLOCK, NONE, COUNTS(2, 1, 0, 2));
  MPI_Type_create_hindexed_block_c(2, 1, bytes, MPI_INT, &made);
  check_large("hindexed_block", made, MPI_COMBINER_HINDEXED_BLOCK, NONE, COUNTS(2, 1, 0, 8));
  MPI_Type_create_struct_c(2, lengths, bytes, types, &made);
  check_large("struct", made, MPI_COMBINER_STRUCT, NONE, COUNTS(2, 1, 3000000000, 0, 8));
  MPI_Type_create_subarray_c(1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
  check_large("subarray", made, MPI_COMBINER_SUBARRAY, INTS(1, MPI_ORDER_C), COUNTS(6, 2, 1));
  MPI_Type_create_darray_c(1, 0, 1, sizes, distribution, argument, grid, MPI_ORDER_C, MPI_INT, &made);
  check_large("darray", made, MPI_COMBINER_DARRAY,
              INTS(1, 0, 1, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG, 1, MPI_ORDER_C), COUNTS(6));
  MPI_Type_create_resized_c(MPI_INT, 0, 16, &made);
  check_large("resized", made, MPI_COMBINER_RESIZED, NONE, COUNTS(0, 16));
  MPI_Type_vector(2, 1, 2, MPI_INT, &made);
  MPI_Type_get_envelope_c(made, &ni, &na, &nc, &nd, &combiner);
  check(combiner == MPI_COMBINER_VECTOR && ni == 3 && nc == 0 && nd == 1, "ints in the form with large counts");
  MPI_Type_free(&made);
}

/* Predefined datatypes: named, and unnamed (MPI_Type_create_f90_…). */
static void check_predefined(void)
{
  int ni = -1, na = -1, nd = -1, combiner = -1, integers[2] = {0, 0};
  double sum = 0, one = 1;
  MPI_Datatype real, same, number, complex;
  MPI_Type_get_envelope(MPI_DOUBLE_INT, &ni, &na, &nd, &combiner);
  check(ni == 0 && na == 0 && nd == 0 && combiner == MPI_COMBINER_NAMED, "a named datatype");
  check(class_of(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL)) == MPI_ERR_TYPE, "no contents");
  MPI_Type_create_f90_real(15, 307, &real);
  MPI_Type_create_f90_real(15, 307, &same);
  check(real == same, "one handle for the same arguments");
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &same);
  check(real != same, "a handle for others");
  MPI_Type_get_envelope(real, &ni, &na, &nd, &combiner);
  check(ni == 2 && na == 0 && nd == 0 && combiner == MPI_COMBINER_F90_REAL, "a real");
  MPI_Type_get_contents(real, 2, 0, 0, integers, NULL, NULL);
  check(integers[0] == 15 && integers[1] == 307, "its arguments");
  MPI_Type_create_f90_integer(9, &number);
  MPI_Type_get_envelope(number, &ni, &na, &nd, &combiner);
  MPI_Type_get_contents(number, 1, 0, 0, integers, NULL, NULL);
  check(ni == 1 && combiner == MPI_COMBINER_F90_INTEGER && integers[0] == 9, "an integer");
  MPI_Type_create_f90_complex(6, 37, &complex);
  MPI_Type_get_envelope(complex, &ni, &na, &nd, &combiner);
  check(ni == 2 && combiner == MPI_COMBINER_F90_COMPLEX, "a complex number");
  check(class_of(MPI_Type_free(&same)) == MPI_ERR_TYPE, "MPI's own datatypes stay");
  MPI_Allreduce(&one, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
  check(sum == 2, "a sum");
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_combiners();
  check_simple_layouts();
  check_parts();
  check_live_part();
  check_large_counts();
  check_predefined();
  if (rank == 0)
    puts("right");
  MPI_Finalize();
  return 0;
}
