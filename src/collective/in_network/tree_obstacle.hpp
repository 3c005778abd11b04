// SPDX-License-Identifier: LGPL-2.1-only
/* Why a tree of switches cannot do a call: what its switches lack, or what keeps the communicator from having one. */
#pragma once

#include "collective/decision.hpp"
#include "collective/in_network/reduction_tree.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/switch/switch_model.hpp"

#include <optional>
#include <span>

namespace weft {

/** The obstacle to a tree, as a reason of calls. */
Fallback reason_of(NoTree obstacle);

/** Why no tree of switches can do @p call; none where one can. @p switches: the models of the tree's; without a tree,
 *  where @p no_tree says why, those of all the fabric's smart switches: where none of them could do the call, that is
 *  the reason. */
Fallback tree_obstacle(const CallDescriptor& call, std::optional<NoTree> no_tree,
                       std::span<const SwitchModel* const> switches);

} // namespace weft
