// SPDX-License-Identifier: LGPL-2.1-only
/* Sums of single-precision numbers on a switch that adds 32-bit integers: SwitchML's block floating point.
 *
 *   A. Sapio et al.: Scaling Distributed Machine Learning with In-Network Aggregation. NSDI 2021. Its host library
 *   (github p4lang/p4app-switchML, commit 1135acc, client_lib/src/prepostprocessors/cpu_exponent_quantizer_ppp.cc) is
 *   what is done here.
 *
 * All ranks agree on the largest exponent of a block (one packet's elements): the smallest e with |x| < 2^e for all of
 * them. Each multiplies by floor((2^31 - 1) / ranks) / 2^e and rounds to the nearest integer, to the even one halfway.
 * The switch adds the integers, and each rank divides by the factor. SwitchML does not round the quotient down; its sum
 * could overflow from 257 ranks on, where all have the block's largest value, and this one cannot.
 */
#pragma once

#include <cstddef>
#include <span>

namespace weft {

/** Add up @p contributions, one per rank, each of as many elements as @p sum, which may be one of them: block by block
 * of
 *  @p block elements, the last of what is left.
 *
 *  The sum of an element is off by at most ranks / 2 units of the block's grid, 2^e / floor((2^31 - 1) / ranks), and by
 *  what rounding it to single precision takes; it does not depend on the order of ranks. Sums that exceed single
 *  precision are infinite. A block in which some rank has a NaN or an infinity has no exponent: all of its elements are
 * NaN. (SwitchML's library leaves those undefined.) */
void add_fixed_point(std::span<const float* const> contributions, std::span<float> sum, std::size_t block);

} // namespace weft
