/* SPDX-License-Identifier: LGPL-2.1-only */
/* Reductions: the ranks' contributions and the expected results. */
#ifndef REDUCE_H
#define REDUCE_H

#include "buffer.h"

typedef struct {
  MPI_Op op;
  Basic basic;
  int own; ///< user-defined operation, which needs the layouts of the types with which it is called
  int commutes;
} Reduction;

void make_operations(void);
Reduction draw_reduction(Draw* draw);
/** Fills a block with the contribution of the rank identified by @p tag. */
void contribute(const Reduction* reduction, Buffer* buffer, int block, int first, uint64_t tag);
/** Sets the expected contents to the reduction of the contributions @p tags[0], …, in this order. @p first is the
 * number of the block's first element. */
void expect_reduction(const Reduction* reduction, Buffer* buffer, int block, int first, const uint64_t* tags,
                      int ranks);
/** Records a layout, which operations look up by type. A type of another rank is looked up in that rank's table. */
void remember_layout(const Layout* layout);
void forget_layouts(void);

#endif
