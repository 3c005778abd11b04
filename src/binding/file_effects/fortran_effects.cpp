// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/file_effects/fortran_effects.hpp"

#include "binding/file_effects/simulated_order.hpp"
#include "binding/process/fortran.hpp"

namespace weft {

void order_fortran_statements()
{
  before_statement = [] { come_in_order(nullptr); };
  after_open       = [] { await_others_of_instant(nullptr); };
}

} // namespace weft
