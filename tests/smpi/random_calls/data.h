/* SPDX-License-Identifier: LGPL-2.1-only */
/* Data of calls: elements of MPI's predefined types, in items of one or four elements, with or without gaps. */
#ifndef DATA_H
#define DATA_H

#include "draw.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { BASES = 18, LAYOUTS = 8, OPERATIONS = 15, ITEM = 4, LARGEST_ELEMENT = 16 };

typedef enum { SIGNED_INTEGER, UNSIGNED_INTEGER, REAL, PAIR } Family;

/* Items of one or more elements as an MPI datatype. Offsets and extent are in elements. */
typedef struct {
  const char* name;
  MPI_Datatype type;
  int per_item; /* elements of the datatype per item */
  int elements; /* per item */
  int offsets[ITEM];
  int extent;
} Layout;

typedef struct {
  const char* name;
  MPI_Datatype type;
  Family family;
  size_t size;
  size_t significant; /* bytes; the rest is padding, which need not be transferred */
  Layout layouts[LAYOUTS];
} Base;

typedef struct {
  const char* name;
  MPI_Op op;
  unsigned families; /* one bit each */
  bool commutative;
  bool of_items; /* user-defined, on four unsigned integers */
} Operation;

extern Base bases[BASES];
extern Operation operations[OPERATIONS];

void make_data(void);
void free_data(void);

/* Index of the only layout with one element per item. */
enum { PLAIN = 0 };

bool is_derived(const Layout* layout);
bool fits(const Operation* operation, const Base* base, const Layout* layout);

/* Fills an element; unless inexact, reductions of filled elements give the same bits in any order. */
void fill(const Base* base, void* element, uint64_t bits, bool inexact);
/* Computes inout = in op inout for items without gaps. */
void apply(const Operation* operation, const Base* base, const void* in, void* inout, int elements);

#endif
