// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/mechanism.hpp"

#include <stdexcept>

namespace weft {

Seconds Mechanism::predicted(Communicator& /*communicator*/, const CallDescriptor& /*call*/, int /*calls*/)
{
  throw std::logic_error(std::string(kind.name) + " predicts no times");
}

} // namespace weft
