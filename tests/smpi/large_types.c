/* SPDX-License-Identifier: LGPL-2.1-only */
/* Large-count forms of functions on datatypes, packing, operations and windows, compared with the int forms and beyond
 * their range; contents of distributed arrays; names of services. Prints `right` per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPACE = 64, BLOCKS = 3 };
static const MPI_Count HUGE_COUNT = 3000000000;

static int rank, size;

static void expect(int holds, const char* what)
{
  if (holds)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  exit(1);
}

/* Compares the packed data of two types, and their extents. Frees both. */
static void compare(MPI_Datatype large, MPI_Datatype plain, const char* what)
{
  int data[SPACE], one[SPACE] = {0}, other[SPACE] = {0}, place = 0;
  MPI_Count low, extent, position = 0;
  MPI_Aint plain_low, plain_extent;
  for (int i = 0; i < SPACE; i++)
    data[i] = 100 + i;
  MPI_Type_commit(&large);
  MPI_Type_commit(&plain);
  MPI_Type_get_extent_c(large, &low, &extent);
  MPI_Type_get_extent(plain, &plain_low, &plain_extent);
  expect(low == plain_low && extent == plain_extent, what);
  MPI_Pack_c(data, 1, large, one, sizeof one, &position, MPI_COMM_SELF);
  MPI_Pack(data, 1, plain, other, sizeof other, &place, MPI_COMM_SELF);
  expect(position == place && memcmp(one, other, sizeof one) == 0, what);
  MPI_Type_free(&large);
  MPI_Type_free(&plain);
}

static void check_small(void)
{
  int lengths[BLOCKS] = {1, 2, 3}, places[BLOCKS] = {0, 3, 8}, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
  MPI_Count large_lengths[BLOCKS] = {1, 2, 3}, large_places[BLOCKS] = {0, 3, 8}, large_sizes[2] = {4, 6};
  MPI_Count large_parts[2] = {2, 3}, large_starts[2] = {1, 2}, bytes[BLOCKS] = {0, 12, 32};
  MPI_Aint plain_bytes[BLOCKS] = {0, 12, 32};
  MPI_Datatype types[BLOCKS]   = {MPI_INT, MPI_FLOAT, MPI_INT}, large, plain;
  MPI_Type_vector_c(3, 2, 4, MPI_INT, &large);
  MPI_Type_vector(3, 2, 4, MPI_INT, &plain);
  compare(large, plain, "Type_vector_c");
  MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &large);
  MPI_Type_create_hvector(3, 2, 20, MPI_INT, &plain);
  compare(large, plain, "Type_create_hvector_c");
  MPI_Type_indexed_c(BLOCKS, large_lengths, large_places, MPI_INT, &large);
  MPI_Type_indexed(BLOCKS, lengths, places, MPI_INT, &plain);
  compare(large, plain, "Type_indexed_c");
  MPI_Type_create_hindexed_c(BLOCKS, large_lengths, bytes, MPI_INT, &large);
  MPI_Type_create_hindexed(BLOCKS, lengths, plain_bytes, MPI_INT, &plain);
  compare(large, plain, "Type_create_hindexed_c");
  MPI_Type_create_indexed_block_c(BLOCKS, 2, large_places, MPI_INT, &large);
  MPI_Type_create_indexed_block(BLOCKS, 2, places, MPI_INT, &plain);
  compare(large, plain, "Type_create_indexed_block_c");
  MPI_Type_create_hindexed_block_c(BLOCKS, 2, bytes, MPI_INT, &large);
  MPI_Type_create_hindexed_block(BLOCKS, 2, plain_bytes, MPI_INT, &plain);
  compare(large, plain, "Type_create_hindexed_block_c");
  MPI_Type_create_struct_c(BLOCKS, large_lengths, bytes, types, &large);
  MPI_Type_create_struct(BLOCKS, lengths, plain_bytes, types, &plain);
  compare(large, plain, "Type_create_struct_c");
  MPI_Type_create_subarray_c(2, large_sizes, large_parts, large_starts, MPI_ORDER_C, MPI_INT, &large);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &plain);
  compare(large, plain, "Type_create_subarray_c");
  MPI_Type_create_resized_c(MPI_INT, -4, 12, &large);
  MPI_Type_create_resized(MPI_INT, -4, 12, &plain);
  compare(large, plain, "Type_create_resized_c");
}

static void check_size(MPI_Datatype type, MPI_Count bytes, MPI_Count extent, const char* what)
{
  MPI_Count found, low, found_extent;
  MPI_Type_size_c(type, &found);
  MPI_Type_get_extent_c(type, &low, &found_extent);
  expect(found == bytes && found_extent == extent, what);
  MPI_Type_free(&type);
}

static void check_large(void)
{
  MPI_Count lengths[2] = {HUGE_COUNT, 1}, places[2] = {0, HUGE_COUNT}, bytes[2] = {0, 4 * HUGE_COUNT};
  MPI_Count sizes[2] = {4, HUGE_COUNT}, parts[2] = {2, HUGE_COUNT - 1}, starts[2] = {1, 1}, found;
  MPI_Datatype types[2] = {MPI_INT, MPI_CHAR}, made;
  MPI_Type_vector_c(2, HUGE_COUNT, 2 * HUGE_COUNT, MPI_INT, &made);
  check_size(made, 8 * HUGE_COUNT, 12 * HUGE_COUNT, "a large vector");
  MPI_Type_indexed_c(2, lengths, places, MPI_INT, &made);
  check_size(made, 4 * HUGE_COUNT + 4, 4 * HUGE_COUNT + 4, "large blocks");
  MPI_Type_create_struct_c(2, lengths, bytes, types, &made);
  MPI_Type_size_c(made, &found);
  expect(found == 4 * HUGE_COUNT + 1, "a large structure");
  MPI_Type_free(&made);
  MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made);
  check_size(made, 8 * (HUGE_COUNT - 1), 16 * HUGE_COUNT, "a part of a large array");
  MPI_Pack_size_c(HUGE_COUNT, MPI_INT, MPI_COMM_WORLD, &found);
  expect(found == 4 * HUGE_COUNT, "the size of packed data");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(MPI_Type_create_hvector_c(HUGE_COUNT, 1, 8, MPI_INT, &made) == MPI_ERR_COUNT, "too many blocks");
}

static void check_contents(void)
{
  int gsizes[2] = {7, 9}, distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {1, 1}, combiner, integers[12], numbers, addresses, types;
  MPI_Count large_numbers, large_addresses, counts, large_types;
  MPI_Datatype array, copy, element;
  MPI_Type_create_darray(1, 0, 2, gsizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &array);
  MPI_Type_get_envelope(array, &numbers, &addresses, &types, &combiner);
  expect(numbers == 12 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_DARRAY, "a distributed array");
  MPI_Type_get_contents(array, 12, 0, 1, integers, NULL, &element);
  expect(integers[0] == 1 && integers[1] == 0 && integers[2] == 2 && integers[3] == 7 && integers[4] == 9 &&
             integers[5] == MPI_DISTRIBUTE_CYCLIC && integers[7] == 2 && integers[8] == MPI_DISTRIBUTE_DFLT_DARG &&
             integers[10] == 1 && integers[11] == MPI_ORDER_C && element == MPI_INT,
         "its contents");
  MPI_Type_dup(array, &copy);
  MPI_Type_get_envelope_c(copy, &large_numbers, &large_addresses, &counts, &large_types, &combiner);
  expect(combiner == MPI_COMBINER_DUP && counts == 0 && large_types == 1, "a copy");
  MPI_Type_free(&copy);
  MPI_Type_free(&array);
}

static void add(void* in, void* inout, MPI_Count* count, MPI_Datatype* type)
{
  expect(*type == MPI_INT, "the type of an operation");
  for (MPI_Count i = 0; i < *count; i++)
    ((int*)inout)[i] += ((int*)in)[i];
}

static void check_others(void)
{
  int sum = 0, memory = 0, value = rank + 1, *base, packed[2], got = 0;
  MPI_Aint bytes, unit;
  MPI_Count position = 0;
  MPI_Op operation;
  MPI_Win win;
  MPI_Status status;
  MPI_Op_create_c(add, 1, &operation);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, operation, MPI_COMM_WORLD);
  expect(sum == size * (size + 1) / 2, "an operation");
  MPI_Op_free(&operation);
  MPI_Win_create_c(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  expect(memory == (rank + size - 1) % size + 1, "a window");
  MPI_Win_free(&win);
  MPI_Win_allocate_c(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  base[3] = 1;
  MPI_Win_free(&win);
  MPI_Win_allocate_shared_c(16, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
  MPI_Win_shared_query_c(win, 0, &bytes, &unit, &base);
  expect(bytes == 16 && unit == 4, "a shared window");
  MPI_Win_free(&win);
  MPI_Pack_c(&value, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  position = 0;
  MPI_Unpack_c(packed, sizeof packed, &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
  expect(got == value && position == sizeof value, "packed data");
  MPI_Status_set_elements_c(&status, MPI_INT, 3);
  MPI_Get_count_c(&status, MPI_INT, &position);
  expect(position == 3, "elements of a status");
}

static void check_names(void)
{
  char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME] = "";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(MPI_Lookup_name("weather", MPI_INFO_NULL, found) == MPI_ERR_NAME, "a name that nobody has published");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("weather", MPI_INFO_NULL, port);
    expect(MPI_Publish_name("weather", MPI_INFO_NULL, port) == MPI_ERR_SERVICE, "a name that is published");
  }
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  expect(MPI_Lookup_name("weather", MPI_INFO_NULL, found) == MPI_SUCCESS && strcmp(port, found) == 0, "a name");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    expect(MPI_Unpublish_name("weather", MPI_INFO_NULL, port) == MPI_SUCCESS, "taking back a name");
    expect(MPI_Unpublish_name("weather", MPI_INFO_NULL, port) == MPI_ERR_SERVICE, "taking back a name twice");
    expect(MPI_Close_port(port) == MPI_SUCCESS && MPI_Close_port(port) == MPI_ERR_PORT, "closing a port");
  }
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_small();
  check_large();
  check_contents();
  check_others();
  check_names();
  printf("right\n");
  MPI_Finalize();
  return 0;
}
