// SPDX-License-Identifier: LGPL-2.1-only
/* Memory of objects that are made as often as others of their kind go: what has been given back last is still near the
 * processor, and is what is given next. An allocator that keeps what is given back for later, and takes first what it
 * has had for longest, has one wait for memory each time where the objects are more than caches hold. Of threads, one
 * runs at a time, as SimGrid's actors do. */
#pragma once

#include <cstddef>
#include <new>

namespace weft {

/** An allocator of single objects. It keeps little of what it is given back: the rest goes. */
template <class Object> class Reused {
  struct Piece {
    Piece* next;
  };
  static_assert(sizeof(Object) >= sizeof(Piece) && alignof(Object) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static constexpr std::size_t MOST = 256;

  // Without a destructor: objects may still go while static ones do.
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what all allocators of these objects have
  static inline constinit Piece* kept      = nullptr;
  static inline constinit std::size_t held = 0;
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

public:
  using value_type = Object; // NOLINT(readability-identifier-naming): the standard's name

  Reused() = default;
  template <class Other> Reused(const Reused<Other>& /*other*/) {} // NOLINT(google-explicit-constructor): as it must be

  Object* allocate(std::size_t number)
  {
    if (number != 1 || not kept)
      return static_cast<Object*>(::operator new(number * sizeof(Object)));
    Piece* const piece = kept;
    kept               = piece->next;
    --held;
    return reinterpret_cast<Object*>(piece);
  }
  void deallocate(Object* object, std::size_t number)
  {
    if (number != 1 || held == MOST) {
      ::operator delete(object);
      return;
    }
    kept = new (object) Piece{kept};
    ++held;
  }
  template <class Other> bool operator==(const Reused<Other>& /*other*/) const { return true; }
};

} // namespace weft
