/* SPDX-License-Identifier: LGPL-2.1-only */
/* Reductions: what ranks contribute, and what comes of it. */
#ifndef REDUCE_H
#define REDUCE_H

#include "buffer.h"

typedef struct {
  MPI_Op op;
  Basic basic;
  int own; ///< an operation of this program's, which needs to know the layouts of the types that it is given
  int commutes;
} Reduction;

void make_operations(void);
Reduction draw_reduction(Draw* draw);
/** Rank @p tag's contribution to a block. */
void contribute(const Reduction* reduction, Buffer* buffer, int block, int first, uint64_t tag);
/** Expect the reduction of contributions @p tags[0], …, in this order. @p first: number of the block's first element.
 */
void expect_reduction(const Reduction* reduction, Buffer* buffer, int block, int first, const uint64_t* tags,
                      int ranks);
/** Operations know types by their layouts; a type of another rank's is looked up in its rank's. */
void remember_layout(const Layout* layout);
void forget_layouts(void);

#endif
