// SPDX-License-Identifier: LGPL-2.1-only
/* A simcall of a rank ends its turn: others run before it goes on. What weft does in a rank's turn that SimGrid does
 * not do there must not end it, or other messages might come first: it is done as the kernel does it, at once. */
#pragma once

#include "binding/abi/private_abi.hpp"

namespace weft {

/** While this lives, simcalls are carried out at once. */
class AsKernel {
  simgrid::kernel::context::Context* self_ = simgrid::kernel::context::Context::self();

public:
  AsKernel() { simgrid::kernel::context::Context::set_current(nullptr); }
  AsKernel(const AsKernel&)            = delete;
  AsKernel& operator=(const AsKernel&) = delete;
  ~AsKernel() { simgrid::kernel::context::Context::set_current(self_); }
};

} // namespace weft
