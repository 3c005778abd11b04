/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random numbers that all ranks draw alike (SplitMix64). */
#pragma once

#include <stdint.h>

static uint64_t state; /* the seed; set by the program */

static inline int below(int n)
{
  state += 0x9E3779B97F4A7C15U;
  uint64_t z = state;
  z          = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z          = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return (int)((z ^ (z >> 31)) % (uint64_t)n);
}
