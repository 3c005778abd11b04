// SPDX-License-Identifier: LGPL-2.1-only
/* How algorithms cut vectors. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <algorithm>
#include <cstdint>

namespace weft {

/** A vector in segments of equal length, of which the last may be shorter. */
struct Segments {
  Elements count;
  Elements length;

  /** Of @p count elements of a call; one segment where @p segment is less than one element, as Open MPI has it. */
  static Segments of(const HostCall& call, Elements count, Bytes segment)
  {
    const bool cut = segment >= call.element && segment < call.bytes(count) && call.element > Bytes();
    return {count, cut ? rounded(segment, call.element) : count};
  }
  Elements number() const { return length > 0 ? (count + length - 1) / length : 0; }
  Elements at(Elements index) const { return std::min(length, count - index * length); }

private:
  /** As many elements as come next to @p segment: Open MPI goes up from half an element on. */
  static Elements rounded(Bytes segment, Bytes element)
  {
    const auto whole = static_cast<Elements>(segment / element);
    const Bytes rest = segment - element * static_cast<double>(whole);
    return rest * 2.0 > element ? whole + 1 : whole;
  }
};

/** Whether there is an element for each rank. */
inline bool has_one_for_each(const HostCall& call)
{
  return call.count >= call.ranks;
}

/** A vector in as many blocks as there are ranks: the first ones an element longer where it does not divide evenly. */
struct Blocks {
  Elements count;
  int number;

  Elements at(int index) const { return count / number + (index < count % number ? 1 : 0); }
};

} // namespace weft
