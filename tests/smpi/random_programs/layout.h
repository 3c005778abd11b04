/* SPDX-License-Identifier: LGPL-2.1-only */
/* Derived datatypes, and where the elements of such a type lie: worked out here, without MPI. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "draw.h"

#include <mpi.h>

enum { GROUP = 12 }; ///< all counts are multiples of so many basic elements, so that types of 1, 2, 3, … of them fit

typedef struct {
  MPI_Datatype type;
  MPI_Datatype basic;
  int size;     ///< bytes of a basic element
  int elements; ///< basic elements in one of the type
  int derived;
  MPI_Aint at[GROUP]; ///< of each, from the type's address, in the order in which MPI takes them
  MPI_Aint extent;
  MPI_Aint whole; ///< what the extent should be, where stock SMPI says another; 0 elsewhere
} Layout;

typedef struct {
  MPI_Datatype type;
  int size;
} Basic;

/** One of MPI's integer and floating-point types. */
Basic draw_basic(Draw* draw);
Layout basic_layout(Basic basic);
/** A datatype of @p elements basic elements or fewer. SMPI packs some types wrongly where a message has several of
 *  them; @p count is how many a message will have, and those are not drawn. */
Layout draw_layout(Draw* draw, Basic basic, int count_of_groups);
/** The type's elements at an absolute address, for MPI_BOTTOM. */
Layout absolute_layout(const Layout* layout, const void* address, int count);
void free_layout(Layout* layout);
/** The bytes from the address of the first of @p count of the type that may be touched: from @p low to @p high. */
void bounds(const Layout* layout, int count, MPI_Aint* low, MPI_Aint* high);
/** Whether SMPI packs and unpacks so many. */
int packs_rightly(const Layout* layout, int count);

#endif
