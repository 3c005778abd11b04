// SPDX-License-Identifier: LGPL-2.1-only
/* Stream granularity: packets stream through the tree of switches, one flow per tree switch. */
#pragma once

#include "binding/run/mechanism.hpp"
#include "binding/run/run_context.hpp"

#include <memory>

namespace weft {

std::unique_ptr<Mechanism> make_stream(RunContext& context);

} // namespace weft
