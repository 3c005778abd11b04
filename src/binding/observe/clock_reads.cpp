// SPDX-License-Identifier: LGPL-2.1-only
/* Detects programs that wait for their own computation, by any of three signs:
 *
 *   - a rank reads the clock many times in succession, and only the reads themselves advance it (smpi/wtime);
 *   - between many pairs of reads of equal times, the rank computes for a microsecond or more of real time;
 *   - between fewer pairs, it computes for seconds in total.
 *
 * Programs that read the clock around their MPI calls do not compute between the end of one call and the start of the
 * next. The note is printed while the program runs, since the run may never end; the record does not depend on it.
 */
#include "binding/observe/clock_reads.hpp"

#include "binding/observe/computation_clock.hpp"
#include "binding/observe/profile.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/actor_map.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <simgrid/s4u.hpp>

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
  std::int64_t steps = 0; ///< those of `still` that follow at least STEP of real computation
  Machine::duration computing{};
  bool told = false;

  static AllReads& get()
  {
    static AllReads reads;
    return reads;
  }
};

void tell(int rank, bool is_in_mpi)
{
  std::fprintf(stderr,
               "weft: note: rank %d keeps reading the clock (MPI_Wtime, std::chrono, time, clock and the like), which "
               "does not advance: computation takes no simulated time, so a program that computes for a given time, or "
               "derives its number of steps from the time of one, may never end; %s\n",
               rank,
               is_in_mpi ? "--host-speed times the computation"
                         : "--host-speed times the computation between MPI_Init and MPI_Finalize alone");
}

} // namespace

ClockRead::ClockRead() : rank_(UNWATCHED)
{
  AllReads& all        = AllReads::get();
  const bool is_in_mpi = clocks_are_simulated();
  if (all.told || (is_in_mpi && computation_is_simulated()) || is_sampling() || not sg::Actor::self())
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
    tell(is_in_mpi ? Profile::get().rank_of(rank_) : rank_here().value_or(0), is_in_mpi);
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
