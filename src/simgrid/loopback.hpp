/* What ranks of one host hand each other for an offloaded call: through the host's loopback, as their messages go. */
#pragma once

#include "base/units.hpp"

#include <simgrid/s4u.hpp>

#include <functional>

namespace weft {

/** Start a transfer within @p host; @p done runs in SimGrid's kernel context when its last byte has arrived. */
void send_within(simgrid::s4u::Host* host, Bytes bytes, std::function<void()> done);

} // namespace weft
