// SPDX-License-Identifier: LGPL-2.1-only
/* Division of vectors into segments and blocks. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <algorithm>
#include <cstdint>

namespace weft {

/** Vector in segments of equal length; the last may be shorter. */
struct Segments {
  Elements count;
  Elements length;

  /** Divides @p count elements of a call; one segment if @p segment is less than one element, as in
   * Open MPI. */
  static Segments of(const HostCall& call, Elements count, Bytes segment)
  {
    const bool cut = segment >= call.element && segment < call.bytes(count) && call.element > Bytes();
    return {count, cut ? rounded(segment, call.element) : count};
  }
  Elements number() const { return length > 0 ? (count + length - 1) / length : 0; }
  Elements at(Elements index) const { return std::min(length, count - index * length); }

private:
  /** Returns the number of elements closest to @p segment; half an element rounds up, as in Open
   * MPI. */
  static Elements rounded(Bytes segment, Bytes element)
  {
    const auto whole = static_cast<Elements>(segment / element);
    const Bytes rest = segment - element * static_cast<double>(whole);
    return rest * 2.0 > element ? whole + 1 : whole;
  }
};

/** Returns whether there is at least one element per rank. */
inline bool has_one_for_each(const HostCall& call)
{
  return call.count >= call.ranks;
}

/** Vector in one block per rank; if it does not divide evenly, the first blocks are one element
 * longer. */
struct Blocks {
  Elements count;
  int number;

  Elements at(int index) const { return count / number + (index < count % number ? 1 : 0); }
};

} // namespace weft
