/* SPDX-License-Identifier: LGPL-2.1-only */
/* What calls carry: elements of MPI's predefined types, in items of one or four, laid out with gaps or without. */
#ifndef DATA_H
#define DATA_H

#include "draw.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { BASES = 18, LAYOUTS = 8, OPERATIONS = 15, ITEM = 4, LARGEST_ELEMENT = 16 };

typedef enum { SIGNED_INTEGER, UNSIGNED_INTEGER, REAL, PAIR } Family;

/* Items of several elements as an MPI datatype. Offsets and extent are in elements. */
typedef struct {
  const char* name;
  MPI_Datatype type;
  int per_item; /* how many of that type are an item */
  int elements; /* in an item */
  int offsets[ITEM];
  int extent;
} Layout;

typedef struct {
  const char* name;
  MPI_Datatype type;
  Family family;
  size_t size;
  size_t significant; /* bytes; what follows is padding, which need not arrive */
  Layout layouts[LAYOUTS];
} Base;

typedef struct {
  const char* name;
  MPI_Op op;
  unsigned families; /* a bit each */
  bool commutative;
  bool of_items; /* of four unsigned integers; not predefined */
} Operation;

extern Base bases[BASES];
extern Operation operations[OPERATIONS];

void make_data(void);
void free_data(void);

/* The only layout of items of one element. */
enum { PLAIN = 0 };

bool is_derived(const Layout* layout);
bool fits(const Operation* operation, const Base* base, const Layout* layout);

/* Any order of a reduction gives the same bits, unless inexact. */
void fill(const Base* base, void* element, uint64_t bits, bool inexact);
/* inout = in op inout, of items without gaps. */
void apply(const Operation* operation, const Base* base, const void* in, void* inout, int elements);

#endif
