/* SPDX-License-Identifier: LGPL-2.1-only */
/* Patterns of point-to-point messages. Plain MPI: any MPI compiler builds it.
 *
 *     messages pairs|servers ITERATIONS
 *
 * pairs: in each iteration every rank exchanges 1 KiB with a random partner by MPI_Sendrecv.
 * servers: of 64 ranks one is a server, which answers the others' requests of 64 B in the order of their arrival, by
 * MPI_ANY_SOURCE and MPI_ANY_TAG, with 1 KiB each.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST = 64, BYTES = 1024, GROUP = 64, EXIT_USAGE = 2 };

static void pairs(int rank, int ranks, int iterations)
{
  char out[BYTES] = {0}, in[BYTES];
  unsigned random = 1;
  for (int i = 0; i < iterations; i++) {
    random            = random * 1664525U + 1013904223U; /* Numerical Recipes' generator */
    const int partner = (int)((random % (unsigned)ranks + (unsigned)(ranks - rank)) % (unsigned)ranks);
    if (partner != rank)
      MPI_Sendrecv(out, BYTES, MPI_CHAR, partner, i, in, BYTES, MPI_CHAR, partner, i, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
  }
}

static void servers(int rank, int ranks, int iterations)
{
  char buffer[BYTES] = {0};
  const int server   = rank / GROUP * GROUP;
  if (rank != server) {
    for (int i = 0; i < iterations; i++) {
      MPI_Send(buffer, REQUEST, MPI_CHAR, server, i, MPI_COMM_WORLD);
      MPI_Recv(buffer, BYTES, MPI_CHAR, server, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return;
  }
  const int clients = (ranks - server < GROUP ? ranks - server : GROUP) - 1;
  for (int i = 0; i < clients * iterations; i++) {
    MPI_Status status;
    MPI_Recv(buffer, REQUEST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Send(buffer, BYTES, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) {
    fprintf(stderr, "usage: messages pairs|servers ITERATIONS\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
  }
  (strcmp(argv[1], "pairs") == 0 ? pairs : servers)(rank, ranks, atoi(argv[2]));
  MPI_Finalize();
  return EXIT_SUCCESS;
}
