// SPDX-License-Identifier: LGPL-2.1-only
/* Simcalls that do not yield. A rank's simcall ends its turn: other ranks run before it resumes.
 * Work that weft adds to a rank's turn must not end the turn, or messages might be reordered; such work runs
 * immediately, as in the kernel. */
#pragma once

#include "binding/abi/kernel/contexts.hpp"

namespace weft {

/** Scope in which simcalls are executed immediately. */
class KernelScope {
  simgrid::kernel::context::Context* self_ = simgrid::kernel::context::Context::self();

public:
  KernelScope() { simgrid::kernel::context::Context::set_current(nullptr); }
  KernelScope(const KernelScope&)            = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  ~KernelScope() // NOLINT(bugprone-exception-escape): SimGrid's function was found at the start of the run
  {
    simgrid::kernel::context::Context::set_current(self_);
  }
};

} // namespace weft
