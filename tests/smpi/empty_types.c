/* SPDX-License-Identifier: LGPL-2.1-only */
/* Derived types without data, as libraries create them for parts of a matrix that a rank does not own: packing,
 * messages, collectives and windows move no data. Prints `right` per rank. */
#include "checks.h"

enum { KINDS = 7, COUNT = 3 };

static MPI_Datatype make_empty(int kind)
{
  const int none[2]           = {0, 0};
  const int displacements[2]  = {4, 1};
  const MPI_Aint bytes[2]     = {16, 0};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype made, dense;
  switch (kind) {
    case 0:
      MPI_Type_contiguous(0, MPI_DOUBLE, &made);
      break;
    case 1:
      MPI_Type_vector(0, 2, 5, MPI_DOUBLE, &made);
      break;
    case 2:
      MPI_Type_vector(2, 0, 5, MPI_DOUBLE, &made);
      break;
    case 3:
      MPI_Type_indexed(2, none, displacements, MPI_DOUBLE, &made);
      break;
    case 4:
      MPI_Type_create_hindexed(2, none, bytes, MPI_INT, &made);
      break;
    case 5:
      MPI_Type_create_struct(2, none, bytes, types, &made);
      break;
    default:
      MPI_Type_contiguous(0, MPI_INT, &dense);
      MPI_Type_create_resized(dense, 0, 16, &made);
      MPI_Type_free(&dense);
  }
  MPI_Type_commit(&made);
  return made;
}

static void check_packing(MPI_Datatype empty, const double* data, double* kept)
{
  char buffer[64];
  int size = -1, position = 8;
  MPI_Type_size(empty, &size);
  check(size == 0, "size");
  MPI_Pack(data, COUNT, empty, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
  check(position == 8, "position after packing");
  MPI_Unpack(buffer, sizeof buffer, &position, kept, COUNT, empty, MPI_COMM_WORLD);
  check(position == 8, "position after unpacking");
}

static void check_messages(MPI_Datatype empty, const double* data, double* kept, int peer)
{
  int count = -1;
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Sendrecv(data, COUNT, empty, peer, 1, kept, COUNT, empty, peer, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, empty, &count);
  check(count == 0, "count of a message");
  MPI_Sendrecv(data, COUNT, empty, peer, 2, kept, 8, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  check(count == 0, "count of a message of numbers");
  MPI_Irecv(kept, COUNT, empty, rank, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(data, 0, MPI_DOUBLE, rank, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv_replace(kept, COUNT, empty, peer, 4, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void check_collectives(MPI_Datatype empty, const double* data, double* kept, int ranks)
{
  int counts[8], displacements[8];
  for (int other = 0; other < ranks; ++other) {
    counts[other]        = COUNT;
    displacements[other] = 0;
  }
  MPI_Request request;
  MPI_Bcast(kept, COUNT, empty, 0, MPI_COMM_WORLD);
  MPI_Gather(data, COUNT, empty, kept, COUNT, empty, 0, MPI_COMM_WORLD);
  MPI_Gatherv(data, COUNT, empty, kept, counts, displacements, empty, 0, MPI_COMM_WORLD);
  MPI_Scatter(data, COUNT, empty, kept, COUNT, empty, 0, MPI_COMM_WORLD);
  MPI_Scatterv(data, counts, displacements, empty, kept, COUNT, empty, 0, MPI_COMM_WORLD);
  MPI_Allgather(data, COUNT, empty, kept, COUNT, empty, MPI_COMM_WORLD);
  MPI_Allgatherv(data, COUNT, empty, kept, counts, displacements, empty, MPI_COMM_WORLD);
  MPI_Alltoall(data, COUNT, empty, kept, COUNT, empty, MPI_COMM_WORLD);
  MPI_Alltoallv(data, counts, displacements, empty, kept, counts, displacements, empty, MPI_COMM_WORLD);
  MPI_Ialltoall(data, COUNT, empty, kept, COUNT, empty, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void check_windows(MPI_Datatype empty, const double* data, double* kept, int peer)
{
  MPI_Win window;
  MPI_Win_create(kept, 8 * sizeof *kept, sizeof *kept, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  double got = 5;
  MPI_Win_fence(0, window);
  MPI_Put(data, COUNT, empty, peer, 0, COUNT, empty, window);
  MPI_Get(&got, COUNT, empty, peer, 0, COUNT, empty, window);
  MPI_Win_fence(0, window);
  check(got == 5, "value after MPI_Get");
  MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int peer       = ranks - 1 - rank;
  const double data[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int kind = 0; kind < KINDS; ++kind) {
    double kept[8]     = {2, 2, 2, 2, 2, 2, 2, 2};
    MPI_Datatype empty = make_empty(kind);
    check_packing(empty, data, kept);
    check_messages(empty, data, kept, peer);
    check_collectives(empty, data, kept, ranks);
    check_windows(empty, data, kept, peer);
    for (int i = 0; i < 8; ++i)
      check(kept[i] == 2, "values that nothing was received into");
    MPI_Type_free(&empty);
  }
  puts("right");
  MPI_Finalize();
  return 0;
}
