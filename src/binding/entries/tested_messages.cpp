// SPDX-License-Identifier: LGPL-2.1-only
/* Messages that are tested, and not waited for.
 *
 * SimGrid keeps a message among the activities of its two ranks, to be cancelled where one dies, until it has ended. It
 * lets go of one that is waited for; what MPI_Test and its like find at its end stays with the rank as long as that
 * lives, with 440 bytes (ActivityImpl::test in src/kernel/activity/ActivityImpl.cpp, CommImpl::finish).
 */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <string_view>

namespace simgrid::kernel::activity {

WEFT_INTERPOSED bool CommImpl::test(actor::ActorImpl* issuer)
{
  static const auto THEIRS = weft::original<bool (*)(CommImpl*, actor::ActorImpl*)>(
      "_ZN7simgrid6kernel8activity8CommImpl4testEPNS0_5actor9ActorImplE");
  const bool ended = THEIRS(this, issuer);
  // There is nothing more to cancel then, and both ranks forget it.
  if (ended && std::string_view(reinterpret_cast<ActivityImpl*>(this)->get_state_str()) == smpi::FLOW_ARRIVED)
    cancel();
  return ended;
}

} // namespace simgrid::kernel::activity
