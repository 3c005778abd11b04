// SPDX-License-Identifier: LGPL-2.1-only
/* Why a tree of switches cannot do a call: what its switches lack, or what keeps the communicator from having one. */
#pragma once

#include "collective/decision.hpp"
#include "collective/in_network/reduction_tree.hpp"
#include "model/collective/collective_kind.hpp"
#include "model/switch/switch_model.hpp"

#include <optional>
#include <span>
#include <string>

namespace weft {

/** What a call asks of switches. */
struct SwitchCall {
  const CollectiveKind* kind = nullptr;
  std::string datatype;  ///< MPI's name; empty where the collective has none
  std::string operation; ///< MPI's name; empty where there is none, or where a replayed trace does not say
  Bytes message;         ///< the whole vector
};

/** The obstacle to a tree, as a reason of calls. */
Fallback reason_of(NoTree obstacle);

/** Why no tree of switches can do @p call; none where one can. @p switches: the models of the tree's; without a tree,
 *  where @p no_tree says why, those of all the fabric's smart switches: where none of them could do the call, that is
 *  the reason. */
Fallback tree_obstacle(const SwitchCall& call, std::optional<NoTree> no_tree,
                       std::span<const SwitchModel* const> switches);

} // namespace weft
