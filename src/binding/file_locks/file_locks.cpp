// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/file_locks/file_locks.hpp"

#include "binding/file_locks/locked_file.hpp"
#include "binding/file_locks/system_files.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <simgrid/s4u.hpp>
#include <sys/file.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Leaked, since ranks may outlive static objects. */
LockedFiles& locked_files()
{
  static auto* const ALL = new LockedFiles;
  return *ALL;
}

constinit bool locks_are_used = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): read at each close

/** Scope in which the current thread locks and unlocks on behalf of its rank. */
class RankTurn {
  const bool begun_ = threads_may_call && not is_forked_child() && begin_call();
  std::optional<aid_t> rank_;

public:
  RankTurn() : rank_(not is_forked_child() && rank_here() ? std::optional(current_actor()) : std::nullopt) {}
  RankTurn(const RankTurn&)            = delete;
  RankTurn& operator=(const RankTurn&) = delete;
  ~RankTurn()
  {
    const int error = errno;
    if (begun_)
      end_call();
    errno = error;
  }

  /** Returns whether a rank runs, rather than SimGrid, a forked child, or a thread that may not call MPI. */
  explicit operator bool() const { return rank_.has_value(); }
  aid_t operator*() const { return *rank_; }
};

int fail(int error)
{
  errno = error;
  return -1;
}

bool is_conflict(int error)
{
  return error == EAGAIN || error == EACCES;
}

/** Acquires the locks that are free now for the ranks that wait for them, and wakes these ranks. */
void serve_waits(const FileKey& key)
{
  const int error  = errno;
  const auto found = locked_files().find(key);
  if (found == locked_files().end())
    return;
  LockedFile& file = found->second;
  std::map<LockWait::Kind, bool> held; // by a rank; cached, since the kernel answers slowly
  std::vector<std::shared_ptr<LockWait>> over;
  for (const auto& wait : std::vector(file.waits)) {
    if (wait->attempt() == 0) {
      wait->state      = LockWait::State::granted;
      held[wait->kind] = true;
    } else if (not is_conflict(errno)) {
      wait->state = LockWait::State::failed;
    } else {
      if (wait->kind == LockWait::Kind::record || not held.contains(wait->kind))
        held[wait->kind] = is_held_by_rank(key, file, *wait);
      if (held[wait->kind])
        continue;
      wait->state = LockWait::State::retry;
    }
    wait->error = errno;
    std::erase(file.waits, wait);
    over.push_back(wait);
  }
  if (file.is_unused())
    locked_files().erase(found);
  for (const auto& wait : over) // other ranks may run meanwhile
    wait->gate.open();
  errno = error;
}

/** Waits until another rank has released the lock, and it has been acquired for the current rank or cannot be. */
LockWait::State wait_in_turn(const FileKey& key, const std::shared_ptr<LockWait>& wait)
{
  wait->state = LockWait::State::waiting;
  locked_files()[key].waits.push_back(wait);
  if (wait->kind == LockWait::Kind::flock)
    serve_waits(key); // the attempt has released the descriptor's previous lock (flock(2))
  wait->gate.pass();
  return wait->state;
}

/** Acquires a lock by @p wait's attempts or, where another process and no rank holds it, by @p block in real time. */
int take(const FileKey& key, const std::shared_ptr<LockWait>& wait, const std::function<int()>& block)
{
  while (wait->attempt() != 0) {
    if (not is_conflict(errno))
      return -1;
    const LockedFile& file = locked_files()[key];
    if (not is_held_by_rank(key, file, *wait))
      return block();
    if (wait->kind == LockWait::Kind::record && would_deadlock(locked_files(), file, wait->range, wait->rank))
      return fail(EDEADLK);
    const LockWait::State state = wait_in_turn(key, wait);
    if (state == LockWait::State::failed)
      return fail(wait->error);
    if (state == LockWait::State::granted)
      return 0;
  }
  return 0;
}

// ---- Record locks -----------------------------------------------------------------------------------------------

/** Reads a request of fcntl(). Returns nothing, with errno, if it describes no bytes. */
std::optional<LockedRange> range_of(int descriptor, const struct flock& lock, off_t size)
{
  off_t base = 0;
  if (lock.l_whence == SEEK_CUR)
    base = lseek(descriptor, 0, SEEK_CUR);
  else if (lock.l_whence == SEEK_END)
    base = size;
  off_t start = 0;
  off_t end   = LockedRange::END; // exclusive
  errno       = EINVAL;
  if (lock.l_whence < SEEK_SET || lock.l_whence > SEEK_END || base < 0)
    return std::nullopt;
  if (__builtin_add_overflow(base, lock.l_start, &start) ||
      (lock.l_len != 0 && __builtin_add_overflow(start, lock.l_len, &end))) {
    errno = EOVERFLOW;
    return std::nullopt;
  }
  if (lock.l_len < 0)
    std::swap(start, end);
  if (start < 0)
    return std::nullopt;
  return LockedRange{start, lock.l_len == 0 ? LockedRange::END : end - 1, lock.l_type};
}

/** Returns whether the descriptor permits the lock (POSIX, fcntl(): EBADF). */
bool permits(int descriptor, short type)
{
  const int mode = system_fcntl(descriptor, F_GETFL, nullptr) & O_ACCMODE; // NOLINT(bugprone-signed-bitwise)
  return type == F_UNLCK || mode == O_RDWR || mode == (type == F_WRLCK ? O_WRONLY : O_RDONLY);
}

/** Releases a rank's record locks on a file, even if a child of the rank has inherited the description. */
void release_records(LockedFile& file, aid_t rank)
{
  const auto own = file.records.extract(rank);
  if (not own || own.mapped().owner < 0)
    return;
  struct flock all = LockedRange{0, LockedRange::END, F_UNLCK}.to_flock();
  system_fcntl(own.mapped().owner, F_OFD_SETLK, &all);
  system_close(own.mapped().owner);
}

/** Closes weft's descriptor once the rank holds no locks on the file, and drops unused entries. */
void forget_unused(const FileKey& key, aid_t rank)
{
  const int error  = errno;
  const auto found = locked_files().find(key);
  if (found == locked_files().end())
    return;
  const auto own = found->second.records.find(rank);
  if (own != found->second.records.end() && own->second.ranges.empty())
    release_records(found->second, rank);
  if (found->second.is_unused())
    locked_files().erase(found);
  errno = error;
}

/** Describes a lock that excludes @p range for the description of @p owner, like F_GETLK and F_OFD_GETLK. The kernel
 * names no process for other ranks' record locks, which belong to weft's descriptions. @p rank: the rank whose record
 * locks @p owner holds, or -1. */
int describe_conflict(const FileKey& key, int owner, aid_t rank, const LockedRange& range, struct flock& result)
{
  struct flock found = range.to_flock();
  if (system_fcntl(owner, F_OFD_GETLK, &found) != 0)
    return -1;
  if (found.l_type == F_UNLCK) {
    result.l_type = F_UNLCK;
    return 0;
  }
  const LockedRange conflict{found.l_start, found.l_len == 0 ? LockedRange::END : found.l_start + found.l_len - 1,
                             F_WRLCK};
  const auto file = locked_files().find(key);
  if (file != locked_files().end() && found.l_pid < 0)
    if (const std::vector<aid_t> by = file->second.holders(conflict, rank); not by.empty())
      found.l_pid = pid_of_rank(by.front());
  result = found;
  return 0;
}

/** Acquires or releases record locks of @p range. */
int set_records(const FileKey& key, aid_t rank, int descriptor, const LockedRange& range, bool blocks)
{
  const auto attempt = [key, rank, range](int command) {
    const auto found    = locked_files()[key].records.find(rank);
    struct flock wanted = range.to_flock();
    if (found == locked_files()[key].records.end())
      return fail(EBADF); // another thread of the rank has closed the file
    if (system_fcntl(found->second.owner, command, &wanted) != 0)
      return -1;
    found->second.set(range);
    return 0;
  };
  const auto try_once = [attempt] { return attempt(F_OFD_SETLK); };
  if (not blocks)
    return try_once();
  const auto wait = std::make_shared<LockWait>(rank, LockWait::Kind::record, descriptor, range, try_once);
  return take(key, wait, [attempt] { return attempt(F_OFD_SETLKW); });
}

/** Executes F_GETLK, F_SETLK or F_SETLKW for a rank. */
int lock_records(aid_t rank, int descriptor, int command, struct flock& lock)
{
  const std::optional<struct stat> status = status_of(descriptor);
  if (not status)
    return fail(EBADF);
  const std::optional<LockedRange> range = range_of(descriptor, lock, status->st_size);
  if (not range)
    return -1;
  if (lock.l_type != F_RDLCK && lock.l_type != F_WRLCK && (lock.l_type != F_UNLCK || command == F_GETLK))
    return fail(EINVAL);
  if (command != F_GETLK && not permits(descriptor, lock.l_type))
    return fail(EBADF);
  const FileKey key(status->st_dev, status->st_ino);
  LockedFile& file = locked_files()[key];
  RecordLocks& own = file.records[rank];
  if (own.owner < 0)
    own.owner = open_lock_owner(descriptor, *status);
  if (own.owner < 0) {
    forget_unused(key, rank);
    return fail(ENOLCK);
  }
  const int result = command == F_GETLK ? describe_conflict(key, own.owner, rank, *range, lock)
                                        : set_records(key, rank, descriptor, *range, command == F_SETLKW);
  forget_unused(key, rank);
  if (result == 0 && command != F_GETLK && range->type != F_WRLCK)
    serve_waits(key);
  return result;
}

// ---- Locks of open file descriptions -------------------------------------------------------------------------------

/** Ends a call that has set a lock of the description of @p descriptor. */
int note_lock(aid_t rank, const FileKey& key, int descriptor, int result, bool releases)
{
  if (result != 0)
    return result;
  if (not releases)
    locked_files()[key].descriptors[descriptor] = rank;
  serve_waits(key);
  return result;
}

/** Executes F_OFD_GETLK, F_OFD_SETLK or F_OFD_SETLKW. */
int lock_description(aid_t rank, int descriptor, int command, struct flock& lock)
{
  const std::optional<struct stat> status = status_of(descriptor);
  const auto range                        = status ? range_of(descriptor, lock, status->st_size) : std::nullopt;
  if (not range || lock.l_pid != 0 || (command == F_OFD_GETLK && lock.l_type == F_UNLCK))
    return system_fcntl(descriptor, command, &lock); // which refuses it
  const FileKey key(status->st_dev, status->st_ino);
  if (command == F_OFD_GETLK)
    return describe_conflict(key, descriptor, -1, *range, lock);
  const auto attempt = [descriptor, wanted = lock]() mutable { return system_fcntl(descriptor, F_OFD_SETLK, &wanted); };
  const auto wait    = std::make_shared<LockWait>(rank, LockWait::Kind::description, descriptor, *range, attempt);
  const int result   = command == F_OFD_SETLK
                           ? system_fcntl(descriptor, command, &lock)
                           : take(key, wait, [&] { return system_fcntl(descriptor, F_OFD_SETLKW, &lock); });
  return note_lock(rank, key, descriptor, result, lock.l_type == F_UNLCK);
}

// ---- Diagnosis ------------------------------------------------------------------------------------------------------

std::string number_of_rank(aid_t rank)
{
  const simgrid::s4u::ActorPtr actor = simgrid::s4u::Actor::by_pid(rank);
  const char* const number           = actor ? actor->get_property("rank") : nullptr;
  return number ? number : "?";
}

/** Returns the rank that holds the lock for which @p wait waits, as text. */
std::string holder_of(const LockedFile& file, const LockWait& wait)
{
  if (wait.kind != LockWait::Kind::flock)
    if (const auto holders = file.holders(wait.range, wait.rank); not holders.empty())
      return "rank " + number_of_rank(holders.front());
  for (const auto& [descriptor, rank] : file.descriptors)
    if (descriptor != wait.descriptor)
      return "rank " + number_of_rank(rank);
  return "a rank";
}

} // namespace

int lock_by_fcntl(int descriptor, int command, void* argument)
{
  const bool of_records     = command == F_GETLK || command == F_SETLK || command == F_SETLKW;
  const bool of_description = command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  if (not argument || not(of_records || of_description))
    return system_fcntl(descriptor, command, argument);
  const RankTurn rank;
  if (not rank)
    return system_fcntl(descriptor, command, argument);
  locks_are_used = true;
  auto& lock     = *static_cast<struct flock*>(argument);
  return of_records ? lock_records(*rank, descriptor, command, lock)
                    : lock_description(*rank, descriptor, command, lock);
}

// The section begins at the current position. F_TEST tests for a lock that excludes reading, like glibc's.
int lock_by_lockf(int descriptor, int command, off_t length)
{
  struct flock lock{};
  lock.l_type   = F_WRLCK;
  lock.l_whence = SEEK_CUR;
  lock.l_len    = length;
  switch (command) {
    case F_LOCK:
      return lock_by_fcntl(descriptor, F_SETLKW, &lock);
    case F_TLOCK:
      return lock_by_fcntl(descriptor, F_SETLK, &lock);
    case F_ULOCK:
      lock.l_type = F_UNLCK;
      return lock_by_fcntl(descriptor, F_SETLK, &lock);
    case F_TEST:
      lock.l_type = F_RDLCK;
      if (lock_by_fcntl(descriptor, F_GETLK, &lock) != 0)
        return -1;
      return lock.l_type == F_UNLCK || lock.l_pid == getpid() ? 0 : fail(EACCES);
    default:
      return fail(EINVAL);
  }
}

int lock_by_flock(int descriptor, int operation)
{
  const RankTurn rank;
  const std::optional<FileKey> key = rank ? file_of(descriptor) : std::nullopt;
  if (not key)
    return system_flock(descriptor, operation);
  locks_are_used          = true;
  constexpr auto NO_BLOCK = static_cast<unsigned>(LOCK_NB);
  const auto asked        = static_cast<unsigned>(operation);
  const auto attempt = [descriptor, asked] { return system_flock(descriptor, static_cast<int>(asked | NO_BLOCK)); };
  const bool blocks  = (asked & NO_BLOCK) == 0 && asked != LOCK_UN;
  const auto wait    = std::make_shared<LockWait>(*rank, LockWait::Kind::flock, descriptor, LockedRange{}, attempt);
  const int result   = blocks ? take(*key, wait, [&] { return system_flock(descriptor, operation); })
                              : system_flock(descriptor, operation);
  if (result != 0 && not blocks)
    serve_waits(*key); // a failed conversion of a lock releases it
  return note_lock(*rank, *key, descriptor, result, (asked & ~NO_BLOCK) == LOCK_UN);
}

bool has_used_locks()
{
  return locks_are_used;
}

int close_and_release(int descriptor, const std::function<int()>& close)
{
  const RankTurn rank;
  const std::optional<FileKey> key = rank ? file_of(descriptor) : std::nullopt;
  const int result                 = close();
  const auto found                 = key ? locked_files().find(*key) : locked_files().end();
  if (found == locked_files().end())
    return result;
  const int error = errno;
  found->second.descriptors.erase(descriptor);
  release_records(found->second, *rank);
  serve_waits(*key);
  forget_unused(*key, *rank);
  errno = error;
  return result;
}

void close_all_and_release(unsigned first, unsigned last)
{
  std::set<int> own;
  for (const auto& [key, file] : locked_files())
    for (const auto& [rank, records] : file.records)
      own.insert(records.owner);
  for (const int descriptor : open_descriptors())
    if (std::cmp_greater_equal(descriptor, first) && std::cmp_less_equal(descriptor, last) &&
        not own.contains(descriptor))
      close_and_release(descriptor, [descriptor] { return system_close(descriptor); });
}

void release_file_locks(aid_t rank)
{
  std::vector<FileKey> touched;
  for (auto& [key, file] : locked_files()) {
    std::erase_if(file.waits, [rank](const auto& wait) { return wait->rank == rank; });
    release_records(file, rank);
    for (const auto& [descriptor, owner] : file.descriptors)
      if (owner == rank && file_of(descriptor) == key) {
        struct flock all = LockedRange{0, LockedRange::END, F_UNLCK}.to_flock();
        system_flock(descriptor, LOCK_UN);
        system_fcntl(descriptor, F_OFD_SETLK, &all);
      }
    std::erase_if(file.descriptors, [rank](const auto& one) { return one.second == rank; });
    touched.push_back(key);
  }
  for (const FileKey& key : touched) {
    serve_waits(key);
    forget_unused(key, rank);
  }
}

std::string describe_lock_waits(const std::function<bool(aid_t rank)>& concerns)
{
  std::string text;
  for (const auto& [key, file] : locked_files())
    for (const auto& wait : file.waits)
      if (concerns(wait->rank))
        text += " Rank " + number_of_rank(wait->rank) + " waits for a lock of " + path_of(wait->descriptor) +
                ", which " + holder_of(file, *wait) + " has locked.";
  return text;
}

} // namespace weft
