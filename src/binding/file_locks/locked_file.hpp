// SPDX-License-Identifier: LGPL-2.1-only
/* Locks that ranks hold and wait for, by file.
 *
 * A rank's record locks are locks of an open file description (F_OFD_SETLK) that weft opens for the rank and the file.
 * The kernel therefore lets them exclude locks of other ranks and of other processes. The ranges are also recorded
 * here, to report who holds a lock.
 *
 * Waits are served in FIFO order. Whoever releases a lock acquires the freed locks on behalf of the waiting ranks, and
 * wakes these: so each lock has its next owner at the moment of its release, in simulated time and in real time. */
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
  static constexpr off_t END = std::numeric_limits<off_t>::max(); ///< as last byte: up to any future end of the file

  off_t first;
  off_t last; ///< inclusive
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
  int owner = -1; ///< descriptor of the open file description that owns the locks in the kernel
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
  int descriptor; ///< the program's descriptor
  LockedRange range{};
  std::function<int()> attempt; ///< tries to acquire the lock without blocking: 0, or -1 with errno
  State state = State::waiting;
  int error   = 0; ///< errno of a failed attempt
  Gate gate{};
};

struct LockedFile {
  std::map<aid_t, RecordLocks> records;
  /** Rank by descriptor on which it has acquired locks by flock() or F_OFD_SETLK. */
  std::map<int, aid_t> descriptors;
  std::vector<std::shared_ptr<LockWait>> waits; ///< in order of arrival

  /** Returns the ranks other than @p rank, which may be -1, whose record locks conflict with @p range. */
  std::vector<aid_t> holders(const LockedRange& range, aid_t rank) const;
  bool is_unused() const { return records.empty() && descriptors.empty() && waits.empty(); }
};

using LockedFiles = std::map<FileKey, LockedFile>;

/** Returns whether a rank holds the lock for which @p wait waits; if none does, another process does. */
bool is_held_by_rank(const FileKey& key, const LockedFile& file, const LockWait& wait);

/** Returns whether a wait of @p rank for record locks of @p range would be a cycle: it would wait for a rank that waits
 * for it, directly or through others. */
bool would_deadlock(const LockedFiles& files, const LockedFile& file, const LockedRange& range, aid_t rank);

} // namespace weft
