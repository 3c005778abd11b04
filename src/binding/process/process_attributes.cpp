// SPDX-License-Identifier: LGPL-2.1-only
/* Process attributes that a rank may change: working directory, umask and OpenMP's number of threads.
 *
 * All are changed by calls, so nothing happens until a rank makes one. Afterwards, each turn change applies the next
 * rank's values where they differ from the current ones, and restores the process's initial values while SimGrid
 * runs. */
#include "base/error.hpp"
#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"
#include "binding/process/process.hpp"
#include "binding/settings/settings.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

constexpr int NO_DIRECTORY = -1;

/** Attribute values; empty ones equal those at the start of the process. */
struct ProcessAttributes {
  int directory = NO_DIRECTORY; ///< a descriptor, shared by all ranks in the same directory
  std::optional<mode_t> mask;
  std::optional<int> threads;
};

/** Initial values, saved before a rank first changes them, and the current values. */
struct SavedAttributes {
  ProcessAttributes at_start;
  ProcessAttributes now;
  std::map<std::pair<dev_t, ino_t>, int> directories;
};

SavedAttributes& saved_attributes()
{
  static auto* const ALL = new SavedAttributes;
  return *ALL;
}

int change_directory(int directory)
{
  return next_definition<int (*)(int)>("fchdir")(directory);
}

mode_t change_mask(mode_t mask)
{
  return next_definition<mode_t (*)(mode_t)>("umask")(mask);
}

void change_threads(int count)
{
  static const auto CHANGE = reinterpret_cast<void (*)(int)>(openmp_symbol("omp_set_num_threads"));
  if (CHANGE)
    CHANGE(count);
}

/** Applies @p wanted by @p change if it differs from @p now. */
template <class Value> void set_one(const Value& wanted, Value& now, void (*change)(const Value&))
{
  if (wanted == now)
    return;
  change(wanted);
  now = wanted;
}

void set_those_of_who_runs()
{
  if (not running_context) // temporarily in the kernel's role (KernelScope)
    return;
  static const ProcessAttributes NONE;
  const ProcessAttributes* found  = OwnState<ProcessAttributes>::get().find_made();
  const ProcessAttributes& own    = found ? *found : NONE;
  SavedAttributes& all            = saved_attributes();
  const ProcessAttributes& before = all.at_start;
  const int error                 = errno;
  if (before.directory != NO_DIRECTORY)
    set_one<int>(own.directory == NO_DIRECTORY ? before.directory : own.directory, all.now.directory,
                 [](const int& directory) { change_directory(directory); });
  if (before.mask)
    set_one<std::optional<mode_t>>(own.mask ? own.mask : before.mask, all.now.mask,
                                   [](const std::optional<mode_t>& mask) { change_mask(*mask); });
  if (before.threads)
    set_one<std::optional<int>>(own.threads ? own.threads : before.threads, all.now.threads,
                                [](const std::optional<int>& threads) { change_threads(*threads); });
  errno = error;
}

/** Returns the current rank's attributes for modification, and enables switching them with turns; null if no rank
 * runs. */
ProcessAttributes* own_surroundings()
{
  auto* const own = OwnState<ProcessAttributes>::get().here();
  if (own)
    call_on_turn_change(set_those_of_who_runs);
  return own;
}

/** Returns a descriptor of the process's current directory, one per directory; NO_DIRECTORY on
 * failure. */
int this_directory()
{
  const int opened = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC); // NOLINT(hicpp-signed-bitwise): the system's
  struct stat directory{};
  if (opened < 0 || fstat(opened, &directory) != 0)
    return NO_DIRECTORY;
  const auto [known, is_new] = saved_attributes().directories.try_emplace({directory.st_dev, directory.st_ino}, opened);
  if (not is_new)
    close(opened);
  return known->second;
}

/** Changes the current rank's directory by @p change. */
template <class Change> int change_own_directory(Change change)
{
  ProcessAttributes* const own = own_surroundings();
  if (not own)
    return change();
  SavedAttributes& all = saved_attributes();
  if (all.at_start.directory == NO_DIRECTORY)
    all.at_start.directory = all.now.directory = this_directory();
  if (all.at_start.directory == NO_DIRECTORY)
    return -1;
  if (const int failed = change(); failed != 0)
    return failed;
  const int directory = this_directory();
  if (directory == NO_DIRECTORY) {
    const int error = errno;
    change_directory(all.now.directory);
    errno = error;
    return -1;
  }
  own->directory = all.now.directory = directory;
  return 0;
}

void change_own_threads(int count)
{
  if (ProcessAttributes* const own = own_surroundings()) {
    auto* const most     = reinterpret_cast<int (*)()>(openmp_symbol("omp_get_max_threads"));
    SavedAttributes& all = saved_attributes();
    if (not all.at_start.threads && most)
      all.at_start.threads = all.now.threads = most();
    own->threads = all.now.threads = count;
  }
  change_threads(count);
}

} // namespace

void* openmp_symbol(const char* symbol)
{
  for (const char* library : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"})
    if (void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
      return dlsym(loaded, symbol);
  return nullptr;
}

void openmp_state_changes()
{
  saved_attributes().now.threads.reset(); // set again for the next rank
}

void enter_directory_of_files()
{
  const std::string& directory = settings().files;
  if (directory.empty())
    return;
  const auto enter = [&directory] { return next_definition<int (*)(const char*)>("chdir")(directory.c_str()); };
  if (change_own_directory(enter) != 0)
    throw UserError("the directory of files " + directory + " cannot be entered: " + std::strerror(errno));
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_chdir(const char* path) WEFT_REPLACES("chdir");
int weft_chdir(const char* path)
{
  return weft::change_own_directory([path] { return weft::next_definition<decltype(&weft_chdir)>("chdir")(path); });
}

int weft_fchdir(int directory) WEFT_REPLACES("fchdir");
int weft_fchdir(int directory)
{
  return weft::change_own_directory([directory] { return weft::change_directory(directory); });
}

mode_t weft_umask(mode_t mask) WEFT_REPLACES("umask");
mode_t weft_umask(mode_t mask)
{
  const mode_t before = weft::change_mask(mask);
  if (auto* const own = weft::own_surroundings()) {
    weft::SavedAttributes& all = weft::saved_attributes();
    if (not all.at_start.mask)
      all.at_start.mask = before;
    own->mask = all.now.mask = mask & static_cast<mode_t>(ACCESSPERMS);
  }
  return before;
}

void weft_omp_set_num_threads(int count) WEFT_REPLACES("omp_set_num_threads");
void weft_omp_set_num_threads(int count)
{
  weft::change_own_threads(count);
}

void weft_omp_set_num_threads_f(const int* count) WEFT_REPLACES("omp_set_num_threads_");
void weft_omp_set_num_threads_f(const int* count)
{
  weft::change_own_threads(*count);
}

} // extern "C"
