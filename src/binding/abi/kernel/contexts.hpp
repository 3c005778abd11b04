// SPDX-License-Identifier: LGPL-2.1-only
/* Contexts, in which actors run (src/kernel/context/Context.hpp). */
#pragma once

namespace simgrid::kernel::context {

/** Interposed in binding/ranks/current.cpp. */
class Context {
public:
  static Context* self();                ///< the current context
  static void set_current(Context* now); ///< null: no context, which simcalls interpret as the kernel
};

} // namespace simgrid::kernel::context
