// SPDX-License-Identifier: LGPL-2.1-only
/* Message granularity: store-and-forward of whole messages over the switches of a tree. */
#pragma once

#include "binding/run/mechanism.hpp"
#include "binding/run/run_context.hpp"

#include <memory>

namespace weft {

std::unique_ptr<Mechanism> make_message(RunContext& context);

} // namespace weft
