/* SPDX-License-Identifier: LGPL-2.1-only */
/* Basic elements of messages, types by their properties, distributed arrays and external32. Prints `right` per rank. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Receives `bytes` of a structure of an int and two doubles, and returns the number of basic elements. */
static int elements_in(int ints, int doubles)
{
  struct Part {
    int i;
    double d[2];
  } part               = {1, {2, 3}}, received[2];
  int lengths[]        = {1, 2}, count, again;
  MPI_Aint places[]    = {offsetof(struct Part, i), offsetof(struct Part, d)};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, whole, sent;
  MPI_Status status;
  MPI_Count large;
  MPI_Type_create_struct(2, lengths, places, types, &whole);
  MPI_Type_commit(&whole);
  lengths[0] = ints;
  lengths[1] = doubles;
  MPI_Type_create_struct(2, lengths, places, types, &sent);
  MPI_Type_commit(&sent);
  MPI_Sendrecv(&part, 1, sent, 0, 0, received, 2, whole, 0, 0, MPI_COMM_SELF, &status);
  MPI_Get_elements(&status, whole, &count);
  MPI_Get_elements_x(&status, whole, &large);
  expect(large == count, "MPI_Get_elements_x");
  MPI_Get_elements_c(&status, whole, &large);
  expect(large == count, "MPI_Get_elements_c");
  MPI_Get_elements(&status, MPI_BYTE, &again);
  expect(again == ints * (int)sizeof(int) + doubles * (int)sizeof(double), "elements of a predefined type");
  MPI_Type_free(&whole);
  MPI_Type_free(&sent);
  return count;
}

static void check_elements(void)
{
  expect(elements_in(0, 0) == 0, "no elements");
  expect(elements_in(1, 0) == 1, "the first element");
  expect(elements_in(1, 1) == 2, "two elements");
  expect(elements_in(1, 2) == 3, "a whole structure");
  MPI_Datatype pair;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
  expect(pair == MPI_DOUBLE_INT, "the pair of a double and an int");
  MPI_Type_get_value_index(MPI_INT, MPI_DOUBLE, &pair);
  expect(pair == MPI_DATATYPE_NULL, "a pair that does not exist");
}

static void check_sizes(void)
{
  const int classes[] = {MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_COMPLEX};
  const int sizes[]   = {8, 4, 16};
  MPI_Datatype type;
  int size, class;
  for (int i = 0; i < 3; i++) {
    MPI_Type_match_size(classes[i], sizes[i], &type);
    MPI_Type_size(type, &size);
    expect(size == sizes[i], "a type of a size");
  }
  MPI_Type_create_f90_real(12, MPI_UNDEFINED, &type);
  MPI_Type_size(type, &size);
  expect(size == 8, "a real of a precision");
  MPI_Type_create_f90_complex(MPI_UNDEFINED, 30, &type);
  MPI_Type_size(type, &size);
  expect(size == 8, "a complex of a range");
  MPI_Type_create_f90_integer(5, &type);
  MPI_Type_size(type, &size);
  expect(size == 4, "an integer of a range");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), &class);
  expect(class == MPI_ERR_ARG, "a real of three bytes");
  MPI_Error_class(MPI_Type_create_f90_real(1000, MPI_UNDEFINED, &type), &class);
  expect(class == MPI_ERR_ARG, "a real of 1000 digits");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

enum { ROWS = 7, COLUMNS = 11, RANKS = 6 };

/* Parts of a grid of 2 x 3 ranks: blocks of rows, and cyclic pairs of columns. */
static void check_arrays(int order)
{
  static int array[ROWS * COLUMNS], part[ROWS * COLUMNS], seen[ROWS * COLUMNS];
  int sizes[]         = {ROWS, COLUMNS};
  int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 3}, sum = 0;
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    array[i] = i;
  for (int rank = 0; rank < RANKS; rank++) {
    MPI_Datatype type;
    MPI_Aint low, extent;
    int size, position = 0, count = 0;
    MPI_Type_create_darray(RANKS, rank, 2, sizes, distributions, arguments, grid, order, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &low, &extent);
    expect(low == 0 && extent == (MPI_Aint)sizeof array, "the extent of a part");
    MPI_Type_size(type, &size);
    MPI_Pack(array, 1, type, part, sizeof part, &position, MPI_COMM_SELF);
    expect(position == size, "the size of a part");
    for (int outer = 0; outer < (order == MPI_ORDER_C ? ROWS : COLUMNS); outer++)
      for (int inner = 0; inner < (order == MPI_ORDER_C ? COLUMNS : ROWS); inner++) {
        const int row = order == MPI_ORDER_C ? outer : inner, column = order == MPI_ORDER_C ? inner : outer;
        if (row / 4 != rank / 3 || column / 2 % 3 != rank % 3)
          continue;
        const int place = order == MPI_ORDER_C ? row * COLUMNS + column : column * ROWS + row;
        expect(part[count++] == place, "an element of a part");
        seen[place]++;
      }
    expect(count * (int)sizeof(int) == size, "the elements of a part");
    MPI_Type_free(&type);
  }
  for (int i = 0; i < ROWS * COLUMNS; i++)
    sum += seen[i] == 1;
  expect(sum == ROWS * COLUMNS, "all parts");
}

static void check_external(void)
{
  const unsigned char one[] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe};
  unsigned char packed[256];
  int ints[] = {1, -2}, read_ints[2] = {0, 0}, class;
  long longs[]       = {-5, 7}, read_longs[2];
  long double wide[] = {1.0L / 3, -0.0L}, read_wide[2];
  double spread[] = {1.5, 9, -2.5}, read_spread[] = {0, 9, 0};
  MPI_Aint place = 0, size = 0;
  MPI_Datatype gapped;
  MPI_Pack_external("external32", ints, 2, MPI_INT, packed, sizeof packed, &place);
  expect(place == 8 && memcmp(packed, one, 8) == 0, "packed ints");
  MPI_Pack_external("external32", longs, 2, MPI_LONG, packed, sizeof packed, &place);
  expect(place == 16, "packed longs");
  MPI_Pack_external_size("external32", 2, MPI_LONG_DOUBLE, &size);
  expect(size == 32, "the size of packed long doubles");
  MPI_Pack_external("external32", wide, 2, MPI_LONG_DOUBLE, packed, sizeof packed, &place);
  expect(packed[16] == 0x3f && packed[17] == 0xfd && packed[18] == 0x55, "a packed long double");
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gapped);
  MPI_Type_commit(&gapped);
  MPI_Pack_external("external32", spread, 1, gapped, packed, sizeof packed, &place);
  expect(place == 64 && packed[48] == 0x3f && packed[49] == 0xf8, "packed doubles");
  MPI_Count from = 0;
  MPI_Unpack_external_c("external32", packed, sizeof packed, &from, read_ints, 2, MPI_INT);
  place = from;
  MPI_Unpack_external("external32", packed, sizeof packed, &place, read_longs, 2, MPI_LONG);
  MPI_Unpack_external("external32", packed, sizeof packed, &place, read_wide, 2, MPI_LONG_DOUBLE);
  MPI_Unpack_external("external32", packed, sizeof packed, &place, read_spread, 1, gapped);
  expect(place == 64, "the end of the unpacked data");
  expect(read_ints[0] == 1 && read_ints[1] == -2, "unpacked ints");
  expect(read_longs[0] == -5 && read_longs[1] == 7, "unpacked longs");
  expect(read_wide[0] == wide[0] && read_wide[1] == 0, "unpacked long doubles");
  expect(memcmp(read_spread, spread, sizeof spread) == 0, "unpacked doubles");
  MPI_Type_free(&gapped);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Pack_external("internal", ints, 2, MPI_INT, packed, sizeof packed, &place), &class);
  expect(class == MPI_ERR_ARG, "an unknown representation");
  MPI_Error_class(MPI_Pack_external("external32", ints, 2, MPI_INT, packed, 65, &place), &class);
  expect(class == MPI_ERR_TRUNCATE && place == 64, "too little space");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/** Copies of types, and their copies, have the original's data. */
static void check_copies(void)
{
  enum { TYPES = 5 };
  const int from[8] = {0, 1, 2, 3, 4, 5, 6, 7}, lengths[3] = {1, 2, 1}, displacements[3] = {0, 3, 7};
  const MPI_Aint bytes[3] = {0, 12, 28};
  MPI_Datatype types[TYPES];
  MPI_Type_vector(3, 1, 3, MPI_INT, &types[0]);
  MPI_Type_create_hvector(3, 1, 12, MPI_INT, &types[1]);
  MPI_Type_indexed(3, lengths, displacements, MPI_INT, &types[2]);
  MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &types[3]);
  MPI_Type_create_indexed_block(3, 1, displacements, MPI_INT, &types[4]);
  for (int type = 0; type < TYPES; type++) {
    MPI_Datatype copy, second;
    int packed[4] = {0}, again[4] = {0}, length = 0, length_again = 0;
    MPI_Type_commit(&types[type]);
    MPI_Pack(from, 1, types[type], packed, sizeof packed, &length, MPI_COMM_SELF);
    MPI_Type_dup(types[type], &copy);
    MPI_Type_dup(copy, &second);
    MPI_Type_free(&types[type]);
    MPI_Type_free(&copy);
    MPI_Pack(from, 1, second, again, sizeof again, &length_again, MPI_COMM_SELF);
    expect(length == length_again && memcmp(packed, again, sizeof packed) == 0, "data of a copied type");
    MPI_Type_free(&second);
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  check_copies();
  check_elements();
  check_sizes();
  check_arrays(MPI_ORDER_C);
  check_arrays(MPI_ORDER_FORTRAN);
  check_external();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
