// SPDX-License-Identifier: LGPL-2.1-only
/* Detects programs that wait for their own computation, by any of three signs:
 *
 *   - a rank reads the clock many times in succession, and only the reads themselves advance it
 *     (smpi/wtime);
 *   - between many pairs of reads of equal times, this machine computes for a microsecond or more;
 *   - between fewer pairs, it computes for seconds in total.
 *
 * Programs that read the clock around their MPI calls do not compute between the end of one and
 * the start of the next. The note is printed while the program runs, since the run may never end;
 * the record does not depend on it.
 */
#include "binding/observe/clock_reads.hpp"

#include "binding/abi/original.hpp"
#include "binding/observe/computation_clock.hpp"
#include "binding/observe/profile.hpp"
#include "binding/ranks/actor_map.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <sys/time.h>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

using Machine = std::chrono::steady_clock;

constexpr std::int64_t MOST_IN_A_ROW = 100'000;
constexpr std::int64_t MOST_STEPS    = 10'000;
constexpr std::int64_t LEAST_READS   = 1'000;
constexpr std::chrono::microseconds STEP(1);
constexpr std::chrono::seconds MOST_COMPUTING(5);
constexpr aid_t UNWATCHED = -1;

/** Clock reads of one rank. */
struct Reads {
  double time         = -1; ///< simulated time at the last return
  std::int64_t in_row = 0;  ///< consecutive reads that found the clock where the previous one left it
  Machine::time_point returned;
};

struct AllReads {
  ActorMap<Reads> by_rank;
  std::int64_t still = 0; ///< reads that found the clock where the same rank's previous read left it
  std::int64_t steps = 0; ///< those of `still` before which this machine computed for at least STEP
  Machine::duration computing{};
  bool told = false;

  static AllReads& get()
  {
    static AllReads reads;
    return reads;
  }
};

bool computation_is_free()
{
  static const bool FREE = not simgrid::config::get_value<bool>("smpi/simulate-computation");
  return FREE;
}

void tell(int rank)
{
  std::fprintf(stderr,
               "weft: note: rank %d keeps reading the clock (MPI_Wtime, gettimeofday, clock_gettime), which does not "
               "advance: computation takes no simulated time, so a program that computes for a given time, or derives "
               "its number of steps from the time of one, may never end; --host-speed times the computation\n",
               rank);
}

} // namespace

ClockRead::ClockRead() : rank_(UNWATCHED)
{
  AllReads& all = AllReads::get();
  if (all.told || not computation_is_free() || not clocks_are_simulated())
    return;
  rank_        = sg::this_actor::get_pid();
  Reads& reads = all.by_rank[rank_];
  if (sg::Engine::get_clock() != reads.time) {
    reads.in_row = 0;
    return;
  }
  ++reads.in_row;
  ++all.still;
  const auto computed = Machine::now() - reads.returned;
  all.computing += computed;
  all.steps += computed >= STEP ? 1 : 0;
  all.told = reads.in_row >= MOST_IN_A_ROW || all.steps >= MOST_STEPS ||
             (all.still >= LEAST_READS && all.computing >= MOST_COMPUTING);
  if (all.told)
    tell(Profile::get().rank_of(rank_));
}

ClockRead::~ClockRead()
{
  if (rank_ == UNWATCHED)
    return;
  Reads& reads   = AllReads::get().by_rank[rank_];
  reads.time     = sg::Engine::get_clock();
  reads.returned = Machine::now();
}

double watched_Wtime(double (*next_definition)()) // NOLINT(readability-identifier-naming): MPI's name
{
  const ClockRead read;
  return next_definition();
}

} // namespace weft

// NOLINTBEGIN(readability-identifier-naming): SMPI's names
extern "C" {

WEFT_INTERPOSED int smpi_gettimeofday(struct timeval* time, struct timezone* zone)
{
  static const auto THEIRS = weft::original<decltype(&smpi_gettimeofday)>("smpi_gettimeofday");
  const weft::ClockRead read;
  return THEIRS(time, zone);
}

WEFT_INTERPOSED int smpi_clock_gettime(clockid_t clock, struct timespec* time)
{
  static const auto THEIRS = weft::original<decltype(&smpi_clock_gettime)>("smpi_clock_gettime");
  const weft::ClockRead read;
  return THEIRS(clock, time);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
