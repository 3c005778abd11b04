/* SPDX-License-Identifier: LGPL-2.1-only */
/* Pseudo-random numbers that depend only on the state from which they are drawn. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>

typedef struct {
  uint64_t state;
} Draw;

/** SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static inline uint64_t mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
  return mix(mix(a) ^ b);
}

/** Returns a number below @p limit. */
static inline int below(Draw* draw, int limit)
{
  draw->state = mix(draw->state);
  return (int)(draw->state % (uint64_t)limit);
}

/** Returns true with a probability of 1 / @p times. */
static inline int once_in(Draw* draw, int times)
{
  return below(draw, times) == 0;
}

#endif
