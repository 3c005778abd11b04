// SPDX-License-Identifier: LGPL-2.1-only
/* A rank that sleeps until SimGrid's kernel wakes it: what a semaphore does at several times the cost, of which a
 * collective needs one a rank and call. */
#pragma once

#include <simgrid/forward.h>

namespace weft {

class Sleep {
  simgrid::kernel::actor::ActorImpl* sleeper_ = nullptr;
  bool over_                                  = false;

public:
  /** From the rank, once: until wake(), at once where that has been called. */
  void sleep();
  /** From the kernel, once. */
  void wake();
};

} // namespace weft
