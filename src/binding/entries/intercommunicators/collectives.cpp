// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/intercommunicators/collectives.hpp"

#include "binding/entries/frame/current_run.hpp"

#include <string>

namespace weft {

void refuse_between(const char* function)
{
  current_run().abort("unsupported", std::string("the program called ") + function + " on an intercommunicator");
}

} // namespace weft
