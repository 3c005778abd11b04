/* SPDX-License-Identifier: LGPL-2.1-only */
/* Legal calls that are error-prone to implement; argv[1] names one. Every rank prints "right" or
 * its result. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/** Ranks enter their next call while one is in flight that other ranks have completed. */
static int overlap(void)
{
  int x = 1, y = 0, z = 0;
  MPI_Request request;
  MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank % 2 == 1)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&x, &z, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return y == size && z == size;
}

/** SMPI determines the ranks of each host, in its k-nomial Bcast, while a call is in flight. */
static int neighbours(void)
{
  static char bytes[4000];
  int x = 1, y = 0;
  MPI_Request request;
  MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  memset(bytes, rank == 0 ? 7 : 0, sizeof bytes);
  MPI_Bcast(bytes, sizeof bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return y == size && bytes[3999] == 7;
}

static MPI_Datatype at(const void* where, int count)
{
  MPI_Datatype type;
  MPI_Aint address;
  MPI_Get_address(where, &address);
  MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static int bottom(void)
{
  int from[4] = {rank, 1, 2, 3}, to[256];
  memset(to, -1, sizeof to);
  MPI_Datatype one = at(from, 4), other = at(to, 4);
  MPI_Bcast(MPI_BOTTOM, 1, one, 1, MPI_COMM_WORLD);
  int right = from[0] == 1 && from[3] == 3;
  from[0]   = rank;
  MPI_Allgather(MPI_BOTTOM, 1, one, to, 4, MPI_INT, MPI_COMM_WORLD);
  for (int other_rank = 0; other_rank < size; other_rank++)
    right &= to[4 * other_rank] == other_rank && to[4 * other_rank + 3] == 3;
  MPI_Scatter(to, 4, MPI_INT, MPI_BOTTOM, 1, one, 0, MPI_COMM_WORLD);
  right &= from[0] == rank;
  MPI_Alltoall(MPI_BOTTOM, 0, one, MPI_BOTTOM, 0, other, MPI_COMM_WORLD);
  MPI_Request request;
  from[0] = rank;
  MPI_Igather(MPI_BOTTOM, 1, one, to, 4, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&one);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0)
    right &= to[4 * (size - 1)] == size - 1;
  MPI_Type_free(&other);
  return right;
}

static void add_fours(void* in, void* inout, int* count, MPI_Datatype* type)
{
  int size_in_bytes;
  MPI_Aint low, extent;
  MPI_Type_size(*type, &size_in_bytes);
  MPI_Type_get_true_extent(*type, &low, &extent);
  for (int i = 0; i < *count * size_in_bytes / 4; i++)
    *(int*)((char*)inout + low + 4 * i) += *(int*)((char*)in + low + 4 * i);
}

/** Reductions with MPI_BOTTOM: the datatype contains absolute addresses, which differ by rank. */
static int places(void)
{
  int* mine = malloc(64 + 1024 * rank);
  MPI_Op add;
  MPI_Op_create(add_fours, 1, &add);
  for (int i = 0; i < 4; i++)
    mine[i] = rank + i;
  MPI_Datatype type = at(mine, 4);
  MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, add, MPI_COMM_WORLD);
  int sum = size * (size - 1) / 2, right = mine[0] == sum && mine[3] == sum + 3 * size;
  for (int i = 0; i < 4; i++)
    mine[i] = 1;
  MPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, 1, type, add, MPI_COMM_WORLD);
  right &= mine[0] == rank + 1 && mine[3] == rank + 1;
  MPI_Type_free(&type);
  MPI_Op_free(&add);
  free(mine);
  return right;
}

/** Scatter of large blocks from a root other than rank 0. */
static int scattered(void)
{
  enum { EACH = 40000 };
  int* from = malloc(sizeof(int) * EACH * (rank == 2 ? size : 1));
  int* to   = malloc(sizeof(int) * EACH);
  for (int i = 0; rank == 2 && i < EACH * size; i++)
    from[i] = i;
  MPI_Scatter(from, EACH, MPI_INT, to, EACH, MPI_INT, 2, MPI_COMM_WORLD);
  int right = to[0] == rank * EACH && to[EACH - 1] == (rank + 1) * EACH - 1;
  free(from);
  free(to);
  return right;
}

static int alltoallv(void)
{
  int from[64], to[64], counts[64], places[64], right = 1;
  for (int i = 0; i < size; i++)
    counts[i] = 1, places[i] = i, from[i] = 100 * rank + i;
  MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++)
    right &= to[i] == 100 * i + rank;
  return right;
}

/** 768 KiB to each rank: pairwise exchange in Open MPI on fewer than 8 ranks. */
static int alltoall(void)
{
  const int each = 3 << 16;
  int *from = malloc(sizeof(int) * each * size), *to = malloc(sizeof(int) * each * size), right = 1;
  for (int i = 0; i < each * size; i++)
    from[i] = 100 * rank + i / each;
  MPI_Alltoall(from, each, MPI_INT, to, each, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < each * size; i++)
    right &= to[i] == 100 * (i / each) + rank;
  free(from);
  free(to);
  return right;
}

/** Reduce_scatter in which only one rank has a part. */
static int parts(void)
{
  int from[64], to = -1, counts[64];
  for (int i = 0; i < size; i++)
    counts[i] = i == 1, from[i] = rank;
  MPI_Reduce_scatter(from, &to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return to == (rank == 1 ? size * (size - 1) / 2 : -1);
}

static int strided(void)
{
  int from[100], *to = malloc(sizeof(int) * 200 * size), right = 1;
  MPI_Datatype pair, spread;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 16, &spread);
  MPI_Type_commit(&spread);
  for (int i = 0; i < 100; i++)
    from[i] = 1000 * rank + i;
  for (int i = 0; i < 200 * size; i++)
    to[i] = -1;
  // Ranks may describe the same data by different datatypes.
  if (rank % 2 == 0)
    MPI_Allgather(from, 100, MPI_INT, to, 50, spread, MPI_COMM_WORLD);
  else
    MPI_Allgather(from, 100, MPI_INT, to, 100, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 100 * size; i++)
    right &= to[rank % 2 == 0 ? 2 * i : i] == 1000 * (i / 100) + i % 100;
  for (int i = 0; rank % 2 == 0 && i < 100 * size; i++)
    right &= to[2 * i + 1] == -1;
  free(to);
  return right;
}

/** Operation that returns the first operand: associative, but not commutative. */
static void first(void* in, void* inout, int* count, MPI_Datatype* type)
{
  (void)type;
  memcpy(inout, in, sizeof(int) * (size_t)*count);
}

static int ordered(void)
{
  int from[3] = {rank + 1, rank + 2, rank + 3}, to[3] = {0, 0, 0}, before[3] = {0, 0, 0}, right = 1;
  MPI_Op op;
  MPI_Op_create(&first, 0, &op);
  MPI_Allreduce(from, to, 3, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Scan(from, before, 3, MPI_INT, op, MPI_COMM_WORLD);
  for (int i = 0; i < 3; i++)
    right &= to[i] == i + 1 && before[i] == i + 1;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, from, 3, MPI_INT, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Op_free(&op);
  return right && from[2] == 3;
}

/** Elements at negative displacements, exchanged in place. */
static int below(void)
{
  const int lengths[2] = {1, 1}, places[2] = {-3, -1};
  MPI_Datatype indexed, type;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &indexed);
  MPI_Type_create_resized(indexed, 0, 16, &type);
  MPI_Type_commit(&type);
  int all[512], right = 1;
  for (int i = 0; i < 512; i++)
    all[i] = -1;
  int* blocks = all + 8;
  for (int i = 0; i < size; i++)
    blocks[4 * i - 3] = blocks[4 * i - 1] = 100 * rank + i;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 1, type, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++)
    right &= blocks[4 * i - 3] == 100 * i + rank && blocks[4 * i - 1] == 100 * i + rank && blocks[4 * i - 2] == -1;
  return right;
}

/** Two subarrays of matrices in one message. */
static int subarray(void)
{
  const int matrix[2] = {2, 3}, part[2] = {1, 2}, start[2] = {1, 1};
  int from[12], *to = calloc((size_t)size, sizeof from), right = 1;
  MPI_Datatype type;
  MPI_Type_create_subarray(2, matrix, part, start, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 12; i++)
    from[i] = 100 * rank + i + 1;
  MPI_Allgather(from, 2, type, to, 2, type, MPI_COMM_WORLD);
  for (int i = 0; i < 12 * size; i++)
    right &= to[i] == (i % 6 < 4 ? 0 : 100 * (i / 12) + i % 12 + 1);
  free(to);
  MPI_Type_free(&type);
  return right;
}

static const struct {
  const char* name;
  int (*call)(void);
} CALLS[] = {{"overlap", overlap},     {"neighbours", neighbours}, {"bottom", bottom},     {"places", places},
             {"scattered", scattered}, {"alltoallv", alltoallv},   {"alltoall", alltoall}, {"parts", parts},
             {"strided", strided},     {"ordered", ordered},       {"below", below},       {"subarray", subarray}};

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
    if (argc < 2 || strcmp(argv[1], CALLS[i].name) == 0)
      printf("%s %d: %s\n", CALLS[i].name, rank, CALLS[i].call() ? "right" : "WRONG");
  MPI_Finalize();
  return 0;
}
