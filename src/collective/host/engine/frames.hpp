// SPDX-License-Identifier: LGPL-2.1-only
/* Memory for the frames of schedules. Ranks by the thousand begin and end at once, each with a frame or more of a few
 * sizes: what one has used is the next one's of that size. When none is left, nearly all goes back to where it came
 * from, since ranks by the million have as many bytes for each other's use. For one thread. */
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
  static constexpr std::size_t STEP    = 16; // by which sizes differ: what operator new aligns to
  static constexpr std::size_t LARGEST = 4096;

public:
  static constexpr std::size_t SLAB = std::size_t{1024} * 1024;
  static constexpr std::size_t KEPT = 32; ///< slabs, when there are no frames

private:
  using Slab = std::array<std::byte, SLAB>;

  std::array<Free*, LARGEST / STEP + 1> free_{}; // by size
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::size_t used_ = 0;    // slabs, of which the last one
  std::size_t at_   = SLAB; // from here on is free
  std::size_t live_ = 0;    // frames

  void* from_slab(std::size_t bytes);
  void forget();

public:
  void* allocate(std::size_t bytes);
  void deallocate(void* frame, std::size_t bytes);
  /** Bytes that it holds, for frames that there are and that may come. */
  std::size_t held() const { return slabs_.size() * SLAB; }
};

} // namespace weft
