// SPDX-License-Identifier: LGPL-2.1-only
/* MPI program that replays a trace (`weft replay`): `replayer actions|calls FILE`, or `replayer goal FILE ENDS`, where
 * ENDS is the file for the end times of ranks. Every rank executes its own lines.
 *
 * SimGrid's own replayer, smpireplaymain, is not used because in SimGrid 4.1 it
 * - aborts in every algorithm that asks which ranks share a host, which are most of Open MPI's from
 *   16 ranks on (Comm::init_smp lets a rank leave replay mode while others send to it in that
 *   mode);
 * - knows no operations, so it cannot tell what a switch would aggregate;
 * - bypasses the MPI functions, and with them everything that interposes on them.
 *
 * python/weft/trace has already checked the file line by line, so any error found here is a bug in
 * weft. */
#include "replay/call_player.hpp"
#include "replay/goal_player.hpp"
#include "replay/player.hpp"
#include "replay/scratch.hpp"

#include <climits>
#include <string_view>

namespace {

/** Replays a trace in SimGrid's format. All ranks are in one process and share the open file. */
void play_actions(const char* path, int rank, int ranks)
{
  static weft::replay::Trace lines(path, ranks);
  weft::replay::Player player(rank, ranks);
  for (auto action = lines.next(rank); action && action->name() != "finalize"; action = lines.next(rank))
    player.play(*action);
  MPI_Finalize();
}

/** Replays a trace in weft's own format. */
void play_calls(const char* path, int rank, int ranks)
{
  static weft::replay::CallFile lines(path, ranks);
  weft::replay::CallPlayer player;
  MPI_Buffer_attach(weft::replay::Scratch::to_send().of(0), INT_MAX); // for MPI_Bsend; SMPI does not access it
  for (auto words = lines.next(rank); words; words = lines.next(rank))
    player.play(*words);
}

/** Executes a schedule in GOAL. */
void play_schedule(const char* path, const char* ends, int rank, int ranks)
{
  static const weft::replay::GoalFile SCHEDULE(path, ranks);
  static weft::replay::RankEnds times(ranks);
  weft::replay::GoalPlayer(SCHEDULE.operations_of(rank)).play();
  times.note(rank, ends);
  MPI_Finalize();
}

} // namespace

int main(int argc, char** argv) // NOLINT(bugprone-exception-escape): the run ends, with what it says
{
  int rank  = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (std::string_view(argv[1]) == "goal") {
    play_schedule(argv[2], argv[3], rank, ranks);
    return 0;
  }
  (std::string_view(argv[1]) == "calls" ? &play_calls : &play_actions)(argv[2], rank, ranks);
  return 0;
}
