/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random numbers that depend only on their purpose, identical on every machine and rank. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>

typedef uint64_t Random;

/* Returns an independent sequence for each pair of values. */
Random sequence(uint64_t of, uint64_t number);
uint64_t draw_bits(Random* state);
int draw(Random* state, int below);

#endif
