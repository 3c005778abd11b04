// SPDX-License-Identifier: LGPL-2.1-only
/* Messages that are tested, not waited for.
 *
 * SimGrid keeps a message in the activity lists of its two ranks until it has ended, so that it is cancelled if a rank
 * dies. A message that is waited for is released; one whose end is found by MPI_Test and the like stays with the rank,
 * at 440 bytes, until the rank ends (ActivityImpl::test in src/kernel/activity/ActivityImpl.cpp, CommImpl::finish). */
#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/original.hpp"
#include "binding/settings/tunings.hpp"

#include <string_view>

namespace simgrid::kernel::activity {

WEFT_INTERPOSED bool CommImpl::test(actor::ActorImpl* issuer)
{
  static const auto THEIRS = weft::original<bool (*)(CommImpl*, actor::ActorImpl*)>(
      "_ZN7simgrid6kernel8activity8CommImpl4testEPNS0_5actor9ActorImplE");
  const bool ended = THEIRS(this, issuer);
  // The message can no longer be cancelled, so both ranks drop it.
  if (ended && weft::is_on(weft::TuningId::tested_messages) &&
      std::string_view(reinterpret_cast<ActivityImpl*>(this)->get_state_str()) == FLOW_ARRIVED)
    cancel();
  return ended;
}

} // namespace simgrid::kernel::activity
