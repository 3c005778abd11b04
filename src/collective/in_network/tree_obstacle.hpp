// SPDX-License-Identifier: LGPL-2.1-only
/* Obstacles to executing a call in a tree of switches: missing capabilities, or a communicator without a tree. */
#pragma once

#include "collective/decision.hpp"
#include "collective/in_network/reduction_tree.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/switch/switch_model.hpp"

#include <optional>
#include <span>

namespace weft {

/** Returns the fallback reason that corresponds to a missing tree. */
Fallback reason_of(NoTree obstacle);

/** Returns the reason why no tree of switches can execute @p call; none if one can. @p switches: the models of the
 * tree's switches or, without a tree (for the reason @p no_tree), of all smart switches of the fabric: if none of them
 * could execute the call, that takes precedence as the reason. */
Fallback tree_obstacle(const CallDescriptor& call, std::optional<NoTree> no_tree,
                       std::span<const SwitchModel* const> switches);

} // namespace weft
