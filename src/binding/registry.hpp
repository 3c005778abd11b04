// SPDX-License-Identifier: LGPL-2.1-only
/* The mechanisms that a run has. */
#pragma once

#include "binding/run/mechanism.hpp"
#include "binding/run/run_context.hpp"

#include <memory>
#include <vector>

namespace weft {

using MakeMechanism = std::unique_ptr<Mechanism> (*)(RunContext& context);

/** One of each, in the order of mechanism_kinds(). */
std::vector<std::unique_ptr<Mechanism>> make_mechanisms(RunContext& context);

/** Appends one that is not weft's own, while its library is loaded; as add_mechanism_kind(). */
bool add_mechanism(MakeMechanism make);

} // namespace weft
