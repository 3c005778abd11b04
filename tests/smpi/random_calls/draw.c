/* SPDX-License-Identifier: LGPL-2.1-only */
#include "draw.h"

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
uint64_t draw_bits(Random* state)
{
  uint64_t bits = *state += 0x9e3779b97f4a7c15u;
  bits          = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits          = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

Random sequence(uint64_t of, uint64_t number)
{
  Random state = of;
  state        = draw_bits(&state) + number;
  return draw_bits(&state);
}

int draw(Random* state, int below)
{
  return (int)(draw_bits(state) % (uint64_t)below);
}
