/* SPDX-License-Identifier: LGPL-2.1-only */
/* Buffer of a rank: blocks of a datatype, and the expected final contents, including the gaps between elements. */
#ifndef BUFFER_H
#define BUFFER_H

#include "layout.h"

#include <stddef.h>

enum { MOST_RANKS = 64 };

typedef struct {
  Layout layout;
  Layout inner; ///< layout on which an absolute type is based
  int blocks;
  int counts[MOST_RANKS];        ///< per block, in elements of the type
  int displacements[MOST_RANKS]; ///< per block, in extents of the type
  unsigned char* storage;
  unsigned char* expected;
  size_t size;
  unsigned char* origin; ///< within storage
  void* address;         ///< passed to MPI: origin or MPI_BOTTOM
} Buffer;

/** Creates a buffer of @p blocks blocks, block b with @p groups[b] groups. The blocks of a @p ragged buffer are in any
 * order, with gaps. The rank's own @p mine decides all properties except the sizes. */
Buffer make_buffer(Draw* mine, Basic basic, int blocks, const int* groups, int ragged);
/** Creates a buffer for a layout that all ranks share. */
Buffer make_shared_buffer(Layout layout, int blocks, const int* groups);
/** Turns a buffer of one block into one at MPI_BOTTOM. */
void make_absolute(Buffer* buffer);
/** Returns element @p index of a block, in the storage or in the expected contents. */
unsigned char* element(const Buffer* buffer, unsigned char* base, int block, int index);
int elements_of(const Buffer* buffer, int block);
/** Fills a block with values derived from @p tag, which are also the expected final contents. */
void fill(Buffer* buffer, int block, uint64_t tag);
/** Sets the expected final contents to the values derived from @p tag. */
void expect(Buffer* buffer, int block, uint64_t tag);
/** Returns the first byte that differs from the expected contents, or -1 if none does. */
long difference(const Buffer* buffer);
void free_buffer(Buffer* buffer);

#endif
