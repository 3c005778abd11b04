// SPDX-License-Identifier: LGPL-2.1-only
/* Free list for objects that are created and destroyed at the same rate. It is LIFO, so that the memory returned next
 * is most likely still cached; general allocators that reuse the oldest block first cause a cache miss per object. Not
 * thread-safe: SimGrid's actors run one at a time. */
#pragma once

#include <cstddef>
#include <new>

namespace weft {

/** Allocator for single objects that keeps up to 256 freed ones for reuse. */
template <class Object> class RecyclingAllocator {
  struct Piece {
    Piece* next;
  };
  static_assert(sizeof(Object) >= sizeof(Piece) && alignof(Object) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static constexpr std::size_t MOST = 256;

  // No destructor, since objects may be freed during static destruction.
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): shared by all allocators of Object
  static inline constinit Piece* kept      = nullptr;
  static inline constinit std::size_t held = 0;
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

public:
  using value_type = Object; // NOLINT(readability-identifier-naming): required of allocators

  RecyclingAllocator() = default;
  template <class Other>
  RecyclingAllocator(const RecyclingAllocator<Other>& /*other*/)
  {} // NOLINT(google-explicit-constructor): required of allocators

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
  template <class Other> bool operator==(const RecyclingAllocator<Other>& /*other*/) const { return true; }
};

} // namespace weft
