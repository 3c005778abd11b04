// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/chunks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weft {
namespace {

/** Returns the runs of chunks in @p range whose bit equals @p value. */
std::vector<ChunkRun> runs_of(const std::vector<bool>& bits, bool value, ChunkRun range)
{
  std::vector<ChunkRun> runs;
  for (std::int64_t chunk = range.first; chunk < range.first + range.count; ++chunk) {
    if (bits[static_cast<std::size_t>(chunk)] != value)
      continue;
    if (runs.empty() || runs.back().first + runs.back().count != chunk)
      runs.push_back({chunk, 0});
    ++runs.back().count;
  }
  return runs;
}

} // namespace

std::int64_t count_chunks(const std::vector<ChunkRun>& runs)
{
  std::int64_t count = 0;
  for (const ChunkRun& run : runs)
    count += run.count;
  return count;
}

std::vector<ChunkRun> without(ChunkRun run, const std::vector<ChunkRun>& runs)
{
  std::vector<ChunkRun> between;
  std::int64_t next      = run.first;
  const std::int64_t end = run.first + run.count;
  for (const ChunkRun& gap : runs) {
    if (gap.first + gap.count <= next)
      continue;
    if (gap.first >= end)
      break;
    if (gap.first > next)
      between.push_back({next, gap.first - next});
    next = gap.first + gap.count;
  }
  if (end > next)
    between.push_back({next, end - next});
  return between;
}

std::vector<ChunkRun> runs_of(std::vector<std::int64_t> chunks)
{
  std::ranges::sort(chunks);
  std::vector<ChunkRun> runs;
  for (const std::int64_t chunk : chunks) {
    if (not runs.empty() && chunk < runs.back().first + runs.back().count)
      continue;
    if (runs.empty() || chunk > runs.back().first + runs.back().count)
      runs.push_back({chunk, 0});
    ++runs.back().count;
  }
  return runs;
}

ChunkBitmap::ChunkBitmap(std::int64_t chunks)
    : chunks_(chunks), missing_(chunks), received_(static_cast<std::size_t>(chunks))
{
}

std::vector<ChunkRun> ChunkBitmap::add(ChunkRun run)
{
  if (run.first < 0 || run.count < 0 || run.first + run.count > chunks_)
    throw std::logic_error("chunks " + std::to_string(run.first) + " + " + std::to_string(run.count) +
                           " are not in a block of " + std::to_string(chunks_));
  std::vector<ChunkRun> added = runs_of(received_, false, run);
  for (std::int64_t chunk = run.first; chunk < run.first + run.count; ++chunk)
    received_[static_cast<std::size_t>(chunk)] = true;
  missing_ -= count_chunks(added);
  return added;
}

std::vector<ChunkRun> ChunkBitmap::missing() const
{
  return runs_of(received_, false, {0, chunks_});
}

} // namespace weft
