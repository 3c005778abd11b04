// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/file_locks/locked_file.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace weft {

struct flock LockedRange::to_flock() const
{
  struct flock lock{};
  lock.l_type   = type;
  lock.l_whence = SEEK_SET;
  lock.l_start  = first;
  lock.l_len    = last == END ? 0 : last - first + 1;
  return lock;
}

void RecordLocks::set(const LockedRange& wanted)
{
  std::vector<LockedRange> rest;
  for (const LockedRange& one : ranges) {
    if (not one.overlaps(wanted)) {
      rest.push_back(one);
      continue;
    }
    if (one.first < wanted.first)
      rest.push_back({one.first, wanted.first - 1, one.type});
    if (one.last > wanted.last)
      rest.push_back({wanted.last + 1, one.last, one.type});
  }
  if (wanted.type != F_UNLCK)
    rest.push_back(wanted);
  ranges = std::move(rest);
}

std::vector<aid_t> LockedFile::holders(const LockedRange& range, aid_t rank) const
{
  std::vector<aid_t> found;
  for (const auto& [other, held] : records)
    if (other != rank && std::ranges::any_of(held.ranges, [&](const LockedRange& one) { return one.conflicts(range); }))
      found.push_back(other);
  return found;
}

bool is_held_by_rank(const FileKey& key, const LockedFile& file, const LockWait& wait)
{
  using enum LockWait::Kind;
  const auto any_holds = [&](std::string_view kind, const auto& counts) { return process_holds(key, kind, counts); };
  if (wait.kind == flock)
    return any_holds("FLOCK", [](int) { return true; });
  const aid_t excepted = wait.kind == record ? wait.rank : -1; // the rank's own record locks exclude its descriptor's
  if (not file.holders(wait.range, excepted).empty())
    return true;
  return any_holds("OFDLCK", [&](int descriptor) {
    const auto is_owner = [descriptor](const auto& one) { return one.second.owner == descriptor; };
    return std::ranges::none_of(file.records, is_owner) && (wait.kind == record || descriptor != wait.descriptor);
  });
}

bool would_deadlock(const LockedFiles& files, const LockedFile& file, const LockedRange& range, aid_t rank)
{
  std::vector<aid_t> to_visit = file.holders(range, rank);
  std::set<aid_t> visited;
  while (not to_visit.empty()) {
    const aid_t one = to_visit.back();
    to_visit.pop_back();
    if (one == rank)
      return true;
    if (not visited.insert(one).second)
      continue;
    for (const auto& [key, other] : files)
      for (const auto& wait : other.waits)
        if (wait->rank == one && wait->kind == LockWait::Kind::record)
          std::ranges::copy(other.holders(wait->range, one), std::back_inserter(to_visit));
  }
  return false;
}

} // namespace weft
