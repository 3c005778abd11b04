// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_mechanism.hpp"

#include "binding/mechanisms/offload.hpp"
#include "binding/run/core_call.hpp"
#include "binding/settings/settings.hpp"

namespace weft {

Fallback TreeMechanism::obstacle(Communicator& communicator, const Described& described)
{
  if (not does(described.kind()))
    return Fallback::collective;
  const CommunicatorTree& tree = *tree_state(context_, communicator).tree();
  return tree_obstacle(switch_call(described), tree.no_tree, tree.models);
}

Fallback TreeMechanism::shortage(Communicator& communicator, const Described& described)
{
  if (not memory_is_shared() && needs_shared_memory(described))
    return Fallback::privatization;
  return tree_state(context_, communicator).channels_are_free() ? Fallback::none : Fallback::no_free_channel;
}

std::shared_ptr<OffloadedCall> TreeMechanism::start(const std::shared_ptr<Communicator>& communicator,
                                                    const Described& described)
{
  tree_state(context_, *communicator).take_channels();
  return make(communicator, described);
}

} // namespace weft
