// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/calls/call_plan.hpp"

#include "binding/ranks/current.hpp"

namespace weft {

PlanScope::PlanScope(CallPlan& plan, MPI_Comm comm) : plan_(plan), comm_(comm), actor_(current_actor())
{
  innermost = this;
}

CallPlan* PlanScope::if_own(MPI_Comm comm) const
{
  return comm == comm_ && actor_ == current_actor() ? &plan_ : nullptr;
}

} // namespace weft
