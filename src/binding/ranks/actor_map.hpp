// SPDX-License-Identifier: LGPL-2.1-only
/* Values by actor id. SimGrid counts actors from 0 and never reuses an id (ActorIDTrait's
 * constructor in src/kernel/actor/ActorImpl.cpp), and nearly all actors are ranks, so an array has
 * few gaps. */
#pragma once

#include <simgrid/forward.h>

#include <cstddef>
#include <vector>

namespace weft {

/** Dense map from actor id to value; absent entries read as Value{}. */
template <class Value> class ActorMap {
  std::vector<Value> values_; // up to the largest id that has an entry

  /** Out of line, so that look-ups are inlined. */
  [[gnu::noinline]] void grow(std::size_t size) { values_.resize(size); }

public:
  /** Returns the value of @p actor, created if absent. The reference is valid until another entry
   * is created. */
  typename std::vector<Value>::reference operator[](aid_t actor)
  {
    const auto at = static_cast<std::size_t>(actor);
    if (at >= values_.size())
      grow(at + 1);
    return values_[at];
  }

  /** Returns the value of @p actor, which may be an invalid id; null if absent. */
  Value* find(aid_t actor)
  {
    const auto at = static_cast<std::size_t>(actor);
    return at < values_.size() ? &values_[at] : nullptr;
  }

  /** Returns a copy of the value of @p actor; Value{} if absent. */
  Value get(aid_t actor) const
  {
    const auto at = static_cast<std::size_t>(actor);
    return at < values_.size() ? values_[at] : Value{};
  }
};

} // namespace weft
