/* SPDX-License-Identifier: LGPL-2.1-only */
/* The communicators that calls are on. */
#ifndef PLACES_H
#define PLACES_H

#include "draw.h"

#include <mpi.h>
#include <stdbool.h>

enum { PLACES = 8, FRESH = 7 /* made for one case and freed after it */ };

typedef struct {
  const char* name;
  MPI_Comm comm;      /* MPI_COMM_NULL at ranks that are not in it */
  bool several_hosts; /* so that a switch may have to do with it */
} Place;

extern Place places[PLACES];

void make_places(uint64_t seed);
void free_places(void);
void make_fresh_place(Random random);
void free_fresh_place(void);

#endif
