// SPDX-License-Identifier: LGPL-2.1-only
/* Pool for the coroutine frames of schedules. Thousands of ranks begin and end together, with frames of few sizes:
 * freed frames are reused by size. When no frame is in use, nearly all memory is returned, since a run of a million
 * ranks needs it elsewhere. Not thread-safe. */
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace weft {

class Frames {
  struct Free {
    Free* next;
  };
  static constexpr std::size_t STEP    = 16; // size classes: the alignment of operator new
  static constexpr std::size_t LARGEST = 4096;

public:
  static constexpr std::size_t SLAB = std::size_t{1024} * 1024;
  static constexpr std::size_t KEPT = 32; ///< slabs kept while no frame is in use

private:
  using Slab = std::array<std::byte, SLAB>;

  std::array<Free*, LARGEST / STEP + 1> free_{}; // by size
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::size_t used_ = 0;    // slabs in use
  std::size_t at_   = SLAB; // offset of the free part of the last slab
  std::size_t live_ = 0;    // frames in use

  void* from_slab(std::size_t bytes);
  void forget();

public:
  void* allocate(std::size_t bytes);
  void deallocate(void* frame, std::size_t bytes);
  /** Returns the size of all slabs. */
  std::size_t held() const { return slabs_.size() * SLAB; }
};

} // namespace weft
