/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random numbers: the same on every machine and at every rank, from what they are drawn for. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>

typedef uint64_t Random;

/* A sequence of its own for each pair of values. */
Random sequence(uint64_t of, uint64_t number);
uint64_t draw_bits(Random* state);
int draw(Random* state, int below);

#endif
