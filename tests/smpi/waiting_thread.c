/* SPDX-License-Identifier: LGPL-2.1-only */
/* Rank 1 posts a receive for which another of its actors waits; rank 0 sends after a second. The actor prints the data
 * that it received, and the time. */
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <stdio.h>

enum { TAG = 1, SENT = 42 };

static MPI_Request request;
static int received;

static void wait_for_request(int argc, char** argv)
{
  (void)argc;
  (void)argv;
  SMPI_thread_create();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("received %d at %.0f s\n", received, MPI_Wtime());
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const int sent = SENT;
    sg_actor_sleep_for(1);
    MPI_Send(&sent, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(&received, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    sg_actor_t actor = sg_actor_init("waiting", sg_host_self());
    sg_actor_start(actor, wait_for_request, 0, NULL);
    sg_actor_sleep_for(2);
  }
  MPI_Finalize();
  return 0;
}
