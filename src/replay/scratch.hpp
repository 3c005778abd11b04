// SPDX-License-Identifier: LGPL-2.1-only
/* Memory for data that is never read. SMPI does not copy from or to its shared memory, in which a whole block maps to
 * the same MiB. All ranks use the same block; blocks handed out stay valid, for open requests. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <mpi.h>

namespace weft::replay {

class Scratch {
  void* memory_                      = nullptr;
  std::size_t size_                  = 0;
  static constexpr std::size_t LEAST = 1048576;

public:
  void* of(std::size_t bytes)
  {
    if (bytes > size_ || not memory_) {
      size_   = std::max({2 * size_, bytes, LEAST});
      memory_ = SMPI_SHARED_MALLOC(size_);
    }
    return memory_;
  }
  static Scratch& to_send()
  {
    static Scratch scratch;
    return scratch;
  }
  static Scratch& to_receive()
  {
    static Scratch scratch;
    return scratch;
  }
};

} // namespace weft::replay
