// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's computation timer, read only if its value is used.
 *
 * SMPI reads the thread's CPU time at the start and end of each MPI call: two system calls per MPI call, a tenth of the
 * cost of an offloaded Allreduce. It needs them to convert computation into simulated time (weft's --host-speed), for
 * its own statistics, and inside loops that a program samples (SMPI_SAMPLE_…). With privatization by mmap it also maps
 * a rank's variables there. In all other cases these functions of SMPI have no effect. Calls from other threads of the
 * program do not change the main thread's computation.
 */
#include "binding/observe/computation_clock.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/actor_extensions.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"
#include "binding/threads/program_threads.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

namespace weft {
namespace {

/** True once the program has sampled a loop. */
bool& program_samples()
{
  static bool samples = false;
  return samples;
}

bool is_read()
{
  static const bool BY_SETTINGS = not is_on(TuningId::computation_clock) ||
                                  simgrid::config::get_value<bool>("smpi/simulate-computation") ||
                                  simgrid::config::get_value<bool>("smpi/display-timing");
  return BY_SETTINGS || program_samples();
}

} // namespace

namespace {

const simgrid::smpi::ActorExt* extension_of_rank()
{
  const auto* self = simgrid::s4u::Actor::self();
  return self ? self->extension(simgrid::smpi::ActorExt::EXTENSION_ID) : nullptr;
}

} // namespace

bool is_sampling()
{
  const auto* rank = program_samples() ? extension_of_rank() : nullptr;
  return rank && rank->sampling() != 0;
}

bool clocks_are_simulated()
{
  const auto* rank = extension_of_rank();
  return rank && rank->initialized() != 0 && rank->finalized() == 0 && rank->sampling() == 0;
}

bool computation_is_simulated()
{
  static const bool SIMULATED = simgrid::config::get_value<bool>("smpi/simulate-computation");
  return SIMULATED;
}

void settle_computation()
{
  if (not computation_is_simulated() || not clocks_are_simulated())
    return;
  smpi_bench_end();
  smpi_bench_begin();
}

} // namespace weft

// NOLINTBEGIN(readability-identifier-naming): SMPI's names
extern "C" {

WEFT_INTERPOSED void smpi_bench_begin()
{
  static const auto THEIRS = weft::original<decltype(&smpi_bench_begin)>("smpi_bench_begin");
  if (weft::is_read() && not weft::is_other_thread())
    THEIRS();
}

WEFT_INTERPOSED void smpi_bench_end()
{
  static const auto THEIRS = weft::original<decltype(&smpi_bench_end)>("smpi_bench_end");
  if (weft::is_read() && not weft::is_other_thread())
    THEIRS();
}

/** Start of a sampled loop. */
WEFT_INTERPOSED int smpi_sample_cond(int global, const char* file, const char* tag, int iterations, double threshold,
                                     int count)
{
  static const auto THEIRS = weft::original<decltype(&smpi_sample_cond)>("smpi_sample_cond");
  weft::program_samples()  = true;
  return THEIRS(global, file, tag, iterations, threshold, count);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
