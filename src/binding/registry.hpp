// SPDX-License-Identifier: LGPL-2.1-only
/* Mechanisms of a run. */
#pragma once

#include "binding/run/mechanism.hpp"
#include "binding/run/run_context.hpp"

#include <memory>
#include <vector>

namespace weft {

using MakeMechanism = std::unique_ptr<Mechanism> (*)(RunContext& context);

/** Returns one mechanism of each kind, in the order of mechanism_kinds(). */
std::vector<std::unique_ptr<Mechanism>> make_mechanisms(RunContext& context);

/** Appends a mechanism from outside weft while its library is loaded, like add_mechanism_kind(). */
bool add_mechanism(MakeMechanism make);

} // namespace weft
