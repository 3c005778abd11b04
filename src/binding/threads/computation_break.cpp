// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/computation_break.hpp"

#include "binding/abi/smpi/actor_extensions.hpp"

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

namespace weft {
namespace {

/** Returns whether computation of the current rank takes simulated time now. */
bool computation_is_charged()
{
  static const bool SIMULATED = simgrid::config::get_value<bool>("smpi/simulate-computation");
  const auto* const self      = SIMULATED ? simgrid::s4u::Actor::self() : nullptr;
  const auto* const rank      = self ? self->extension(simgrid::smpi::ActorExt::EXTENSION_ID) : nullptr;
  return rank && rank->initialized() != 0 && rank->finalized() == 0 && rank->sampling() == 0;
}

} // namespace

ComputationBreak::ComputationBreak() : charges_(computation_is_charged())
{
  if (charges_)
    smpi_bench_end();
}

ComputationBreak::~ComputationBreak()
{
  if (charges_)
    smpi_bench_begin();
}

} // namespace weft
