// SPDX-License-Identifier: LGPL-2.1-only
/* Sums of single-precision numbers on a switch that adds 32-bit integers: SwitchML's block floating point.
 *
 *   A. Sapio et al.: Scaling Distributed Machine Learning with In-Network Aggregation. NSDI 2021. Implemented as in its
 *   host library (github p4lang/p4app-switchML, commit 1135acc,
 *   client_lib/src/prepostprocessors/cpu_exponent_quantizer_ppp.cc).
 *
 * All ranks agree on the exponent of a block (one packet's elements): the smallest e with |x| < 2^e for all elements.
 * Each rank multiplies by floor((2^31 - 1) / ranks) / 2^e and rounds to the nearest integer, ties to even. The switch
 * adds the integers, and each rank divides by the factor. SwitchML does not round the quotient down, so its sum can
 * overflow with 257 ranks or more if all hold the block's largest value; this implementation cannot overflow.
 */
#pragma once

#include <cstddef>
#include <span>

namespace weft {

/** Adds @p contributions, one per rank, into @p sum, block by block of @p block elements; the last block may be
 * shorter. All spans have the same size. @p sum may alias a contribution.
 *
 *  The error of an element is at most ranks / 2 units of the block's grid, 2^e / floor((2^31 - 1) / ranks), plus the
 *  rounding to single precision. The result does not depend on the order of ranks. Sums beyond single precision are
 *  infinite. A block with a NaN or an infinity has no exponent: all its elements become NaN (undefined in SwitchML's
 *  library). */
void add_fixed_point(std::span<const float* const> contributions, std::span<float> sum, std::size_t block);

} // namespace weft
