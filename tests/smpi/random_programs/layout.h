/* SPDX-License-Identifier: LGPL-2.1-only */
/* Derived datatypes and the positions of their elements, computed without MPI. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "draw.h"

#include <mpi.h>

enum { GROUP = 12 }; ///< all counts are multiples of this, so that types of 1, 2, 3, … basic elements fit

typedef struct {
  MPI_Datatype type;
  MPI_Datatype basic;
  int size;     ///< of a basic element, in bytes
  int elements; ///< basic elements per element of the type
  int derived;
  MPI_Aint at[GROUP]; ///< offset of each basic element from the type's address, in MPI's order
  MPI_Aint extent;
  MPI_Aint whole; ///< correct extent, for types that stock SMPI may get wrong; 0 for others
} Layout;

typedef struct {
  MPI_Datatype type;
  int size;
} Basic;

/** Returns one of MPI's integer and floating-point types. */
Basic draw_basic(Draw* draw);
Layout basic_layout(Basic basic);
/** Returns a datatype whose number of basic elements divides GROUP. SMPI packs some types incorrectly if a message
 *  contains several of them; such types are avoided for messages of @p count_of_groups groups. */
Layout draw_layout(Draw* draw, Basic basic, int count_of_groups);
/** Returns a type with the same elements at an absolute address, for MPI_BOTTOM. */
Layout absolute_layout(const Layout* layout, const void* address, int count);
void free_layout(Layout* layout);
/** Computes the bytes, relative to the address of the first of @p count elements, that may be accessed: from @p low to
 *  @p high. */
void bounds(const Layout* layout, int count, MPI_Aint* low, MPI_Aint* high);
/** Returns whether SMPI packs and unpacks that many elements correctly. */
int packs_rightly(const Layout* layout, int count);

#endif
