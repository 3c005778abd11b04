/* SPDX-License-Identifier: LGPL-2.1-only */
/* A rank's buffer: blocks of a datatype, and what it must hold in the end, down to the bytes between the elements. */
#ifndef BUFFER_H
#define BUFFER_H

#include "layout.h"

#include <stddef.h>

enum { MOST_RANKS = 64 };

typedef struct {
  Layout layout;
  Layout inner; ///< what an absolute type is made of
  int blocks;
  int counts[MOST_RANKS];        ///< of each block, in elements of the type
  int displacements[MOST_RANKS]; ///< of each block, in extents of the type
  unsigned char* storage;
  unsigned char* expected;
  size_t size;
  unsigned char* origin; ///< in storage
  void* address;         ///< for MPI: origin or MPI_BOTTOM
} Buffer;

/** A buffer of @p blocks, block b of @p groups[b] groups. Those of a @p ragged one lie in any order, with gaps.
 *  Everything but the sizes is up to the rank: @p mine. */
Buffer make_buffer(Draw* mine, Basic basic, int blocks, const int* groups, int ragged);
/** The same for a layout that all ranks share. */
Buffer make_shared_buffer(Layout layout, int blocks, const int* groups);
/** Turn a buffer of one block into one at MPI_BOTTOM. */
void make_absolute(Buffer* buffer);
/** Element @p index of a block, in storage or in what is expected. */
unsigned char* element(const Buffer* buffer, unsigned char* base, int block, int index);
int elements_of(const Buffer* buffer, int block);
/** Fill a block with what @p tag stands for; what is expected too. */
void fill(Buffer* buffer, int block, uint64_t tag);
/** Expect that in the end. */
void expect(Buffer* buffer, int block, uint64_t tag);
/** The first byte that is not as expected; -1: all are. */
long difference(const Buffer* buffer);
void free_buffer(Buffer* buffer);

#endif
