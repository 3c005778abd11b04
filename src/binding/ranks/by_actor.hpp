// SPDX-License-Identifier: LGPL-2.1-only
/* What is found by an actor's number. SimGrid counts actors from 0 and uses no number again (ActorIDTrait's constructor
 * in src/kernel/actor/ActorImpl.cpp), and there are hardly any but ranks: so an array has hardly a gap. */
#pragma once

#include <simgrid/forward.h>

#include <cstddef>
#include <vector>

namespace weft {

/** A value for each actor, Value{} as long as nobody has said another. */
template <class Value> class ByActor {
  std::vector<Value> values_; // up to that of the largest number that somebody has made

  /** Apart from those who look up, which have it in line. */
  [[gnu::noinline]] void grow(std::size_t size) { values_.resize(size); }

public:
  /** That of @p actor, made where there is none. It stays where it is until another's is made. */
  typename std::vector<Value>::reference operator[](aid_t actor)
  {
    const auto at = static_cast<std::size_t>(actor);
    if (at >= values_.size())
      grow(at + 1);
    return values_[at];
  }

  /** That of @p actor, which may be no actor's number; null where none has been made. */
  Value* find(aid_t actor)
  {
    const auto at = static_cast<std::size_t>(actor);
    return at < values_.size() ? &values_[at] : nullptr;
  }

  /** A copy of it, and Value{} where none has been made. */
  Value get(aid_t actor) const
  {
    const auto at = static_cast<std::size_t>(actor);
    return at < values_.size() ? values_[at] : Value{};
  }
};

} // namespace weft
