/* SPDX-License-Identifier: LGPL-2.1-only */
/* Arguments and contents that SMPI accepts, refuses or drops, unlike MPI; on two or more ranks. */
#include "checks.h"

#include <mpi.h>
#include <stdio.h>

static int ranks;

/* A grid with more positions than ranks; MPI_Reduce_local with a wrong buffer; an extent with a null pointer. */
static void check_refused(void)
{
  int sizes[] = {ranks, 2}, periods[] = {0, 0}, values[] = {1, 2}, others[] = {3, 4};
  MPI_Comm grid = MPI_COMM_SELF;
  MPI_Count low;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid)) == MPI_ERR_DIMS, "a large grid");
  check(grid == MPI_COMM_NULL, "no communicator");
  check(class_of(MPI_Reduce_local(MPI_IN_PLACE, values, 2, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER, "MPI_IN_PLACE");
  check(class_of(MPI_Reduce_local(values, MPI_IN_PLACE, 2, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER, "MPI_IN_PLACE");
  check(class_of(MPI_Reduce_local(values, values, 2, MPI_INT, MPI_SUM)) == MPI_ERR_BUFFER, "one buffer");
  check(MPI_Reduce_local(values, others, 2, MPI_INT, MPI_SUM) == MPI_SUCCESS && others[1] == 6, "two buffers");
  check(class_of(MPI_Type_get_extent_x(MPI_INT, &low, NULL)) == MPI_ERR_ARG, "no place for the extent");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Messages of elements without data, from and to NULL. */
static void check_empty(void)
{
  int lengths[] = {0, 0}, count = -1;
  MPI_Aint places[] = {0, 4};
  MPI_Datatype empty;
  MPI_Request request;
  MPI_Status status;
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Irecv(NULL, 2, empty, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(NULL, 1, empty, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, empty, &count);
  check(status.MPI_SOURCE == rank && count == 0, "elements without data");
  MPI_Type_free(&empty);
}

static void check_contents(void)
{
  int displacements[]  = {2, 7, 9}, integers[8], combiner, counts[3];
  MPI_Aint addresses[] = {8, 64}, found[2];
  MPI_Datatype type, element, part;
  for (int length = 0; length < 3; length++) {
    MPI_Type_create_indexed_block(3, length, displacements, MPI_INT, &type);
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    check(counts[0] == 5 && counts[1] == 0 && counts[2] == 1 && combiner == MPI_COMBINER_INDEXED_BLOCK, "blocks");
    MPI_Type_get_contents(type, 5, 0, 1, integers, found, &element);
    check(integers[0] == 3 && integers[1] == length && integers[3] == 7 && element == MPI_INT, "their contents");
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_block(2, length, addresses, MPI_INT, &type);
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    check(counts[0] == 2 && counts[1] == 2 && counts[2] == 1 && combiner == MPI_COMBINER_HINDEXED_BLOCK, "by bytes");
    MPI_Type_get_contents(type, 2, 2, 1, integers, found, &element);
    check(integers[0] == 2 && integers[1] == length && found[0] == 8 && found[1] == 64, "their contents, by bytes");
    MPI_Type_free(&type);
  }
  /* Types used to build other types need not be committed. */
  int sizes[] = {4, 4}, parts[] = {2, 2}, starts[] = {1, 1}, data[32] = {0}, got[8] = {0}, position = 0;
  for (int i = 0; i < 32; i++)
    data[i] = i;
  MPI_Type_contiguous(2, MPI_INT, &element);
  check(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, element, &part) == MPI_SUCCESS, "a part");
  MPI_Type_commit(&part);
  MPI_Pack(data, 1, part, got, sizeof got, &position, MPI_COMM_SELF);
  check(position == sizeof got && got[0] == 10 && got[3] == 13 && got[4] == 18 && got[7] == 21, "its data");
  MPI_Type_free(&part);
  MPI_Type_free(&element);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check_refused();
  check_empty();
  check_contents();
  MPI_Finalize();
  if (rank == 0)
    printf("right\n");
  return 0;
}
