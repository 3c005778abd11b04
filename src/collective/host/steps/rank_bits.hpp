// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks as binary numbers, whose digits algorithms change one at a time. @p bit is a power of two. */
#pragma once

#include <algorithm>

namespace weft {

/** Returns whether that digit of @p rank is 1. */
constexpr bool has(int rank, int bit)
{
  return rank / bit % 2 != 0;
}

/** Returns the rank that differs in that digit. */
constexpr int flip_bit(int rank, int bit)
{
  return has(rank, bit) ? rank - bit : rank + bit;
}

/** Returns the rank that differs in each digit that is 1 in @p digits. */
constexpr int xor_with(int rank, int digits)
{
  return static_cast<int>(static_cast<unsigned>(rank) ^ static_cast<unsigned>(digits));
}

/** Returns the first of the @p bit ranks that differ in lower digits only. */
constexpr int first_of(int rank, int bit)
{
  return rank - rank % bit;
}

/** Returns the number of ranks below @p ranks in which that digit is 1. */
constexpr int count_below_with_bit(int ranks, int bit)
{
  return ranks / (2 * bit) * bit + std::max(0, ranks % (2 * bit) - bit);
}

/** Returns the largest power of two that is at most @p ranks. */
constexpr int power_of_two_below(int ranks)
{
  int power = 1;
  while (power * 2 <= ranks)
    power *= 2;
  return power;
}

constexpr bool is_power_of_two(int ranks)
{
  return power_of_two_below(ranks) == ranks;
}

} // namespace weft
