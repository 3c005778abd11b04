// SPDX-License-Identifier: LGPL-2.1-only
/* Locks that ranks hold and await, by file.
 *
 * A rank's record locks are locks of an open file description (F_OFD_SETLK) that weft opens for the rank and the file.
 * The kernel therefore lets them exclude those of other ranks and of other processes. The ranges are noted here too,
 * to say who holds a lock.
 *
 * Waits are served in the order of arrival. Whoever releases a lock takes the locks that have become free on behalf of
 * the ranks that await them, and wakes these: so each lock has its next owner at the moment of its release, in
 * simulated time and in real time. */
#pragma once

#include "binding/file_locks/system_files.hpp"
#include "binding/ranks/sleep.hpp"

#include <fcntl.h>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <simgrid/forward.h>
#include <vector>

namespace weft {

/** Locked bytes of a file. */
struct LockedRange {
  static constexpr off_t END = std::numeric_limits<off_t>::max(); ///< as last byte: however long the file grows

  off_t first;
  off_t last; ///< included
  short type; ///< F_RDLCK or F_WRLCK; F_UNLCK in requests

  bool overlaps(const LockedRange& other) const { return first <= other.last && other.first <= last; }
  bool conflicts(const LockedRange& other) const
  {
    return overlaps(other) && (type == F_WRLCK || other.type == F_WRLCK);
  }
  /** Returns the range in the kernel's form. */
  struct flock to_flock() const;
};

/** Record locks of a rank on a file. */
struct RecordLocks {
  int owner = -1; ///< descriptor of the open file description that owns them in the kernel
  std::vector<LockedRange> ranges;

  /** Applies a request that the kernel has granted. */
  void set(const LockedRange& wanted);
};

/** Wait of a rank for a lock. */
struct LockWait {
  enum class State { waiting, granted, failed, retry };
  enum class Kind { record, flock, description };

  aid_t rank;
  Kind kind;
  int descriptor; ///< the program's
  LockedRange range{};
  std::function<int()> attempt; ///< tries to take the lock without blocking: 0, or -1 with errno
  State state = State::waiting;
  int error   = 0; ///< of a failed one
  Gate gate{};
};

struct LockedFile {
  std::map<aid_t, RecordLocks> records;
  /** Ranks by descriptors of theirs on which they have taken locks by flock() or F_OFD_SETLK. */
  std::map<int, aid_t> descriptors;
  std::vector<std::shared_ptr<LockWait>> waits; ///< in order of arrival

  /** Returns the ranks but @p rank, which may be -1, whose record locks conflict with @p range. */
  std::vector<aid_t> holders(const LockedRange& range, aid_t rank) const;
  bool is_unused() const { return records.empty() && descriptors.empty() && waits.empty(); }
};

using LockedFiles = std::map<FileKey, LockedFile>;

/** Returns whether a rank holds what @p wait awaits: if none does, another process does. */
bool is_held_by_rank(const FileKey& key, const LockedFile& file, const LockWait& wait);

/** Returns whether @p rank would wait for itself if it waited for record locks of @p range: for a rank that waits for
 * it directly or through others. */
bool would_deadlock(const LockedFiles& files, const LockedFile& file, const LockedRange& range, aid_t rank);

} // namespace weft
