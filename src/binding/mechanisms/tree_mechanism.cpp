// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/tree_mechanism.hpp"

#include "binding/mechanisms/offload.hpp"

namespace weft {

Fallback TreeMechanism::obstacle(Communicator& communicator, const CallDescriptor& call)
{
  if (not does(*call.kind))
    return Fallback::collective;
  const CommunicatorTree& tree = *tree_state(context_, communicator).tree();
  return tree_obstacle(call, tree.no_tree, tree.models);
}

Fallback TreeMechanism::shortage(Communicator& communicator, const CallDescriptor& /*call*/)
{
  switch (tree_state(context_, communicator).channels()) {
    case ChannelGrant::all_taken:
      return Fallback::no_free_channel;
    case ChannelGrant::over_quota:
      return Fallback::job_quota;
    case ChannelGrant::locked:
      return Fallback::locked;
    case ChannelGrant::reserved:
      return Fallback::reserved;
    case ChannelGrant::granted:
      break;
  }
  return Fallback::none;
}

std::shared_ptr<OffloadedCall> TreeMechanism::start(const std::shared_ptr<Communicator>& communicator,
                                                    const CallDescriptor& call)
{
  tree_state(context_, *communicator).take_channels();
  return make(communicator, call);
}

} // namespace weft
