// SPDX-License-Identifier: LGPL-2.1-only
/* What most algorithms are made of: a message there and one back at the same time. */
#pragma once

#include "collective/hosts/host_call.hpp"

namespace weft {

/** MPI_Sendrecv as Open MPI's collectives do it: the receive is posted, the message sent, the receive waited for. */
inline Schedule send_receive(int to, Bytes sent, int from, Bytes received)
{
  const Request coming = co_yield irecv(from, received);
  co_yield send(to, sent);
  co_yield wait(coming);
}

} // namespace weft
