// SPDX-License-Identifier: LGPL-2.1-only
/* The hosts' multicast protocol on top of the switches' multicast. */
#pragma once

#include "binding/run/mechanism.hpp"
#include "binding/run/run_context.hpp"

#include <memory>

namespace weft {

std::unique_ptr<Mechanism> make_multicast(RunContext& context);

} // namespace weft
