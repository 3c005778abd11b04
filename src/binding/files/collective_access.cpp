// SPDX-License-Identifier: LGPL-2.1-only
/* Exchanges of offsets and counts use the rounds of Bruck's algorithms, as MPICH does for short messages
 * (src/mpi/coll/allgather/allgather_intra_brucks.c, alltoall/alltoall_intra_brucks.c); rounds do not overlap. Rounds of
 * two-phase I/O do not overlap either, because each begins with an Alltoall (ADIOI_Exch_and_write in
 * ad_write_coll.c). */
#include "binding/files/collective_access.hpp"

#include "binding/run/run_context.hpp"

#include <bit>
#include <utility>

namespace weft {
namespace {

constexpr double OFFSET_BYTES  = 8;  // ADIO_Offset
constexpr double COUNT_BYTES   = 4;  // int
constexpr double REQUEST_BYTES = 16; // offset and length of an extent
constexpr std::int64_t POINTER = 8;  // bytes of the shared pointer

using FileOfRanks = std::shared_ptr<OpenFile>;

VertexId host_of(const OpenFile& file, int rank)
{
  return file.hosts[static_cast<std::size_t>(rank)];
}

/** Returns the number of ranks whose data a rank holds before a round: 2^round. */
int before_round(int round)
{
  return static_cast<int>(1U << static_cast<unsigned>(round));
}

/** Returns the bytes that one rank sends in round @p round of Bruck's Allgather of items. */
double allgather_bytes(int ranks, int round, double item)
{
  const int have = before_round(round);
  return item * std::min(have, ranks - have);
}

/** Returns the bytes for Bruck's Alltoall: the blocks whose index has this bit. */
double alltoall_bytes(int ranks, int round, double item)
{
  const int bit    = before_round(round);
  const int rest   = ranks % (2 * bit);
  const int blocks = ranks / (2 * bit) * bit + std::max(0, rest - bit);
  return item * blocks;
}

void add_allgather(FileSystem& files, const FileOfRanks& file, double item, FileSteps& steps)
{
  add_exchange(
      files, file, [ranks = file->size(), item](int round) { return allgather_bytes(ranks, round, item); }, steps);
}

void add_alltoall(FileSystem& files, const FileOfRanks& file, double item, FileSteps& steps)
{
  add_exchange(
      files, file, [ranks = file->size(), item](int round) { return alltoall_bytes(ranks, round, item); }, steps);
}

/** Sends data between ranks and aggregators as part of the current step. */
void send_between(FileSystem& files, const OpenFile& file, int from, int to, double bytes, FileSteps& steps)
{
  if (from != to)
    files.network().send(file.world, host_of(file, from), host_of(file, to), Bytes(bytes), steps.branch());
}

void add_pieces(FileSystem& files, const FileOfRanks& file, std::vector<CollectiveRound::Piece> pieces, bool write,
                FileSteps& steps)
{
  steps.then([&files, file, pieces = std::move(pieces), write](FileSteps& now) {
    for (const auto& [rank, aggregator, bytes] : pieces)
      send_between(files, *file, write ? rank : aggregator, write ? aggregator : rank, static_cast<double>(bytes), now);
  });
}

/** Adds the aggregators' accesses of a round; @p reads_first: the reads that must precede writes. */
void add_round_accesses(FileSystem& files, const FileOfRanks& file,
                        const std::vector<CollectiveRound::Access>& accesses, bool write, bool reads_first,
                        FileSteps& steps)
{
  steps.then([&files, file, accesses, write, reads_first](FileSteps& now) {
    for (const auto& [aggregator, access] : accesses)
      if (not reads_first || access.read_first)
        files.access(*file, host_of(*file, aggregator), write && not reads_first, access.extents, now);
  });
}

void add_two_phase(FileSystem& files, const FileOfRanks& file, const CollectiveFileCall& call, bool write,
                   FileSteps& steps)
{
  CollectivePlan plan = plan_two_phase(call.parts, write, file->hints);
  add_alltoall(files, file, COUNT_BYTES, steps);
  steps.then([&files, file, lists = std::move(plan.lists)](FileSteps& now) {
    for (const auto& [rank, aggregator, extents] : lists)
      send_between(files, *file, rank, aggregator, REQUEST_BYTES * static_cast<double>(extents), now);
  });
  for (CollectiveRound& round : plan.rounds) {
    if (not write)
      add_round_accesses(files, file, round.accesses, false, false, steps);
    add_alltoall(files, file, COUNT_BYTES, steps);
    if (write)
      add_round_accesses(files, file, round.accesses, true, true, steps);
    add_pieces(files, file, std::move(round.pieces), write, steps);
    if (write)
      add_round_accesses(files, file, round.accesses, true, false, steps);
  }
  if (write)
    add_agreement(files, file, steps);
}

/** Starts each rank's own access, which completes separately. */
void begin_apart(FileSystem& files, const FileOfRanks& file, const std::shared_ptr<CollectiveFileCall>& call,
                 bool write, FileSteps& steps)
{
  for (std::size_t rank = 0; rank < call->parts.size(); ++rank) {
    const RankPart& part = call->parts[rank];
    const auto own       = FileSteps::make();
    add_accesses(files, file, part.host, write,
                 independent_accesses(part.extents, write, part.contiguous_memory, file->hints), *own);
    own->run([completion = call->completions[rank], end = steps.branch()] {
      completion->fire();
      end();
    });
  }
}

} // namespace

void add_accesses(FileSystem& files, const std::shared_ptr<const OpenFile>& file, VertexId host, bool write,
                  std::vector<DeviceAccess> accesses, FileSteps& steps)
{
  for (DeviceAccess& access : accesses) {
    if (access.read_first)
      steps.then([&files, file, host, extents = access.extents](FileSteps& now) {
        files.access(*file, host, false, extents, now);
      });
    steps.then([&files, file, host, write, extents = std::move(access.extents)](FileSteps& now) {
      files.access(*file, host, write, extents, now);
    });
  }
}

void add_shared_pointer(FileSystem& files, std::shared_ptr<OpenFile> file, VertexId host, FileSteps& steps)
{
  steps.then([file](FileSteps& now) { file->lock.take(now.branch()); });
  for (const bool write : {false, true})
    steps.then([&files, file, host, write](FileSteps& now) { files.access(*file, host, write, {{0, POINTER}}, now); });
  steps.then([file = std::move(file)](FileSteps& /*now*/) { file->lock.release(); });
}

void add_exchange(FileSystem& files, const FileOfRanks& file, const std::function<double(int)>& bytes, FileSteps& steps)
{
  const int ranks = file->size();
  for (int round = 0; before_round(round) < ranks; ++round)
    steps.then([&files, file, round, ranks, payload = bytes(round)](FileSteps& now) {
      for (int rank = 0; rank < ranks; ++rank)
        send_between(files, *file, rank, (rank + before_round(round)) % ranks, payload, now);
    });
}

void add_barrier(FileSystem& files, const FileOfRanks& file, FileSteps& steps)
{
  add_exchange(files, file, [](int) { return 0.0; }, steps);
}

void add_agreement(FileSystem& files, const FileOfRanks& file, FileSteps& steps)
{
  add_exchange(files, file, [](int) { return COUNT_BYTES; }, steps);
}

void begin_collective_access(FileSystem& files, const FileOfRanks& file,
                             const std::shared_ptr<CollectiveFileCall>& call, bool write, bool ordered)
{
  const auto steps = FileSteps::make();
  if (ordered) { // the pointer is passed from rank to rank (ADIO_Get_shared_fp in MPI_File_write_ordered)
    for (int rank = 0; rank < file->size(); ++rank) {
      if (rank > 0)
        steps->then([&files, file, rank](FileSteps& now) { send_between(files, *file, rank - 1, rank, 0, now); });
      add_shared_pointer(files, file, host_of(*file, rank), *steps);
    }
  }
  const HintSwitch use = write ? file->hints.collective_write : file->hints.collective_read;
  if (use != HintSwitch::disable) // first and last offsets (ADIOI_GEN_WriteStridedColl)
    for (int offset = 0; offset < 2; ++offset)
      add_allgather(files, file, OFFSET_BYTES, *steps);
  const bool together = use == HintSwitch::enable || (use == HintSwitch::automatic && interleave(call->parts));
  if (together) {
    add_two_phase(files, file, *call, write, *steps);
    files.begin(steps, [call] {
      for (const auto& completion : call->completions)
        completion->fire();
    });
    return;
  }
  steps->then([&files, file, call, write](FileSteps& now) { begin_apart(files, file, call, write, now); });
  files.begin(steps, [] {});
}

} // namespace weft
