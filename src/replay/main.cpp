// SPDX-License-Identifier: LGPL-2.1-only
/* The MPI program that replays a trace (`weft replay`): every rank calls what its lines say, `replayer actions|calls
 * FILE`.
 *
 * SimGrid has a replayer of its own, smpireplaymain. It is not used, because in SimGrid 4.1 it
 * - aborts in every algorithm that asks which ranks share a host (Comm::init_smp lets a rank leave replay mode while
 *   others send to it in that mode), which are most of Open MPI's from 16 ranks on;
 * - knows no operations, so that it cannot tell what a switch would have added up;
 * - bypasses the MPI functions, and with them whatever stands in their place.
 * The file was checked line by line before (python/weft/trace): what is wrong with it here is a fault of weft's.
 */
#include "replay/call_player.hpp"
#include "replay/player.hpp"
#include "replay/scratch.hpp"

#include <climits>
#include <string_view>

namespace {

/** SimGrid's lines; all ranks are in one process and read one file. */
void play_actions(const char* path, int rank, int ranks)
{
  static weft::replay::Trace lines(path, ranks);
  weft::replay::Player player(rank, ranks);
  for (auto action = lines.next(rank); action && action->name() != "finalize"; action = lines.next(rank))
    player.play(*action);
  MPI_Finalize();
}

/** weft's own. */
void play_calls(const char* path, int rank, int ranks)
{
  static weft::replay::CallFile lines(path, ranks);
  weft::replay::CallPlayer player;
  MPI_Buffer_attach(weft::replay::Scratch::to_send().of(0), INT_MAX); // for MPI_Bsend; SMPI leaves it alone
  for (auto words = lines.next(rank); words; words = lines.next(rank))
    player.play(*words);
}

} // namespace

int main(int argc, char** argv)
{
  int rank  = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  (std::string_view(argv[1]) == "calls" ? &play_calls : &play_actions)(argv[2], rank, ranks);
  return 0;
}
