// SPDX-License-Identifier: LGPL-2.1-only
/* Computation of programs, with OS noise on their cores: SMPI executes computation through SimGrid's exec_init, on
 * which weft interposes as interposed.cpp does on SMPI's functions. */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/current_run.hpp"

#include <simgrid/s4u.hpp>

namespace simgrid::s4u::this_actor {

WEFT_INTERPOSED ExecPtr exec_init(double flops)
{
  static const auto THEIRS = weft::original(static_cast<ExecPtr (*)(double)>(&exec_init));
  weft::CoreNoise& noise   = weft::current_run().core_noise;
  if (not noise.any())
    return THEIRS(flops);
  const double speed = get_host()->get_speed();
  return THEIRS(noise.with_os_noise(weft::Seconds(flops / speed)).value() * speed);
}

} // namespace simgrid::s4u::this_actor
