// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/calls/paths.hpp"

#include "binding/mechanisms/message/message_offload.hpp"
#include "binding/mechanisms/multicast/multicast_offload.hpp"
#include "binding/mechanisms/stream/stream_offload.hpp"

#include <stdexcept>

namespace weft {

std::shared_ptr<OffloadedCall> make_offloaded_call(Simulation& simulation,
                                                   const std::shared_ptr<Communicator>& communicator, Path path,
                                                   const Described& described)
{
  switch (path) {
    case Path::stream:
      return make_stream_call(simulation, communicator, described);
    case Path::message:
      return make_message_call(simulation, communicator, described);
    case Path::multicast:
      return make_multicast_call(simulation, communicator, described);
    case Path::host:
      break;
  }
  throw std::logic_error("no way of offloading a call");
}

} // namespace weft
