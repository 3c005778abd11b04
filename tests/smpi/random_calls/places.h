/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communicators used by the calls. */
#ifndef PLACES_H
#define PLACES_H

#include "draw.h"

#include <mpi.h>
#include <stdbool.h>

enum { PLACES = 8, FRESH = 7 /* created for a single case and freed after it */ };

typedef struct {
  const char* name;
  MPI_Comm comm;      /* MPI_COMM_NULL on other ranks */
  bool several_hosts; /* only then may a switch be involved */
} Place;

extern Place places[PLACES];

void make_places(uint64_t seed);
void free_places(void);
void make_fresh_place(Random random);
void free_fresh_place(void);

#endif
