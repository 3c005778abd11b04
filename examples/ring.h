/* SPDX-License-Identifier: LGPL-2.1-only */
/* Allgather and Reduce-Scatter (MPI_INT, MPI_SUM) around the ring of all ranks, in steps driven by
 * the caller: P - 1 times, each rank passes on to the next what it received from the previous one.
 * Several rings may run concurrently, each at its own pace.
 */
#ifndef RING_H
#define RING_H

#include <mpi.h>
#include <stddef.h>
#include <string.h>

typedef struct {
  int rank;
  int ranks;
  int count;         /* numbers in one part */
  int tag;           /* unique among the rings in flight */
  int reduces;       /* true for a Reduce-Scatter */
  int checked;       /* true: numbers are added up; false: only moved */
  int* parts;        /* one per rank: gathered, or to be reduced */
  int* reduced;      /* Reduce-Scatter: this rank's part of the sums */
  int* partial[2];   /* Reduce-Scatter: parts in flight */
  MPI_Request* open; /* two requests of the current step */
  int step;
} Ring;

/* Returns the part that belongs to the rank `behind` places behind this one. */
static int* part_behind(const Ring* ring, int behind)
{
  return ring->parts + (size_t)((ring->rank + 2 * ring->ranks - behind) % ring->ranks) * (size_t)ring->count;
}

static int* ring_incoming(const Ring* ring)
{
  if (!ring->reduces)
    return part_behind(ring, ring->step + 1);
  return ring->step == ring->ranks - 2 ? ring->reduced : ring->partial[ring->step % 2];
}

static int* ring_outgoing(const Ring* ring)
{
  if (!ring->reduces)
    return part_behind(ring, ring->step);
  return ring->step == 0 ? part_behind(ring, 1) : ring->partial[(ring->step - 1) % 2];
}

static int ring_done(const Ring* ring)
{
  return ring->step >= ring->ranks - 1;
}

/* Starts the current step; its requests are `ring->open`. */
static void ring_start_step(const Ring* ring)
{
  const int before = (ring->rank + ring->ranks - 1) % ring->ranks, next = (ring->rank + 1) % ring->ranks;
  if (ring_done(ring))
    return;
  MPI_Irecv(ring_incoming(ring), ring->count, MPI_INT, before, ring->tag, MPI_COMM_WORLD, &ring->open[0]);
  MPI_Isend(ring_outgoing(ring), ring->count, MPI_INT, next, ring->tag, MPI_COMM_WORLD, &ring->open[1]);
}

/* Starts the ring. An Allgather's own part must be in its place among `parts`. */
static void ring_start(Ring* ring)
{
  ring->step    = 0;
  ring->open[0] = ring->open[1] = MPI_REQUEST_NULL;
  if (ring->ranks == 1 && ring->reduces && ring->checked)
    memcpy(ring->reduced, ring->parts, sizeof(int) * (size_t)ring->count);
  ring_start_step(ring);
}

/* Advances to the next step if the current one's requests have completed. */
static void ring_advance(Ring* ring)
{
  if (ring_done(ring) || ring->open[0] != MPI_REQUEST_NULL || ring->open[1] != MPI_REQUEST_NULL)
    return;
  if (ring->reduces && ring->checked) {
    int* sum       = ring_incoming(ring);
    const int* own = part_behind(ring, ring->step + 2);
    for (int i = 0; i < ring->count; i++)
      sum[i] += own[i];
  }
  ring->step++;
  ring_start_step(ring);
}

/* Waits until a request of any ring completes, and advances. The rings' requests are contiguous
 * from `open` on. Returns 0 if no request is open. */
static int rings_wait_any(Ring* rings, int count, MPI_Request* open)
{
  int completed;
  MPI_Waitany(2 * count, open, &completed, MPI_STATUS_IGNORE);
  if (completed == MPI_UNDEFINED)
    return 0;
  ring_advance(&rings[completed / 2]);
  return 1;
}

#endif
