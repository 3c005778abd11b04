// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/openmp.hpp"

#include "binding/abi/original.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/futexes.hpp"
#include "binding/threads/simulated_team.hpp"
#include "binding/threads/thread_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <link.h>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

/** Argument of the C library's function that finds thread-local storage (tls_index of the ABI). */
struct TlsIndex {
  std::size_t module;
  std::size_t offset;
};
extern "C" void* __tls_get_addr(TlsIndex* place); // NOLINT: the ABI's name

namespace weft {
namespace {

using simgrid::kernel::context::Context;

/** A parallel region, passed to its threads in place of the program's data. */
struct ParallelRegion {
  void (*code)(void*);
  void* data;
  Context* rank;
  void** critical; ///< the rank's lock of unnamed critical sections
  std::shared_ptr<SimulatedTeam> team = threads_are_simulated() ? std::make_shared<SimulatedTeam>() : nullptr;
};

/** The region in which the current thread works, or which it begins or ends. */
const ParallelRegion*& region_here()
{
  static thread_local const ParallelRegion* here = nullptr;
  return here;
}

/** Scope in which the current thread works in a region. */
class RegionScope {
  const ParallelRegion* outer_;

public:
  explicit RegionScope(const ParallelRegion& region) : outer_(std::exchange(region_here(), &region)) {}
  RegionScope(const RegionScope&)            = delete;
  RegionScope& operator=(const RegionScope&) = delete;
  ~RegionScope() { region_here() = outer_; }
};

/** Thread-local storage of libgomp. */
using TeamStorage = std::vector<std::byte>;

/** The storage of SimGrid's thread. */
struct Teams {
  std::span<std::byte> here;
  TeamStorage initial;                       ///< storage of a new thread
  std::vector<TeamStorage> idle;             ///< storage of unused pools
  bool have_state = false;                   ///< true if the program has thread-local variables
  std::unordered_set<const Context*> owners; ///< ranks with a pool of their own
};

/** Returns the highest module ID of a library with thread-local variables. */
std::size_t last_tls_module() noexcept
{
  std::size_t last = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t /*size*/, void* found) {
        auto& most = *static_cast<std::size_t*>(found);
        most       = std::max(most, library->dlpi_tls_modid);
        return 0;
      },
      &last);
  return last;
}

/** Module ID of the simulator's last library with thread-local variables: the program is loaded later. */
const std::size_t SIMULATORS_LAST = last_tls_module();

/** Records a library of the program, other than libgomp, with thread-local variables. */
int find_state(dl_phdr_info* library, std::size_t /*size*/, void* found)
{
  const bool is_programs = library->dlpi_tls_modid > SIMULATORS_LAST &&
                           std::string_view(library->dlpi_name).find("/libgomp.so") == std::string_view::npos;
  if (is_programs)
    static_cast<Teams*>(found)->have_state = true;
  return is_programs ? 1 : 0;
}

int find_storage(dl_phdr_info* library, std::size_t /*size*/, void* found)
{
  if (std::string_view(library->dlpi_name).find("/libgomp.so") == std::string_view::npos)
    return 0;
  const std::span segments(library->dlpi_phdr, library->dlpi_phnum);
  const auto storage = std::ranges::find(segments, static_cast<ElfW(Word)>(PT_TLS), &ElfW(Phdr)::p_type);
  if (storage == segments.end())
    return 0;
  // dlpi_tls_data is null until a thread requests the storage of this library, which libgomp itself never does.
  TlsIndex place{library->dlpi_tls_modid, 0};
  auto& teams = *static_cast<Teams*>(found);
  teams.here  = {static_cast<std::byte*>(__tls_get_addr(&place)), storage->p_memsz};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader's number
  const std::span given(reinterpret_cast<const std::byte*>(library->dlpi_addr + storage->p_vaddr), storage->p_filesz);
  teams.initial.assign(given.begin(), given.end());
  teams.initial.resize(storage->p_memsz);
  return 1;
}

/** Result of teams(), once it has been called. */
constinit Teams* asked_teams = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): at each wait

/** Returns the teams of a program that uses libgomp; SimGrid's thread must call it first. */
Teams& teams()
{
  static auto* const ALL = [] {
    auto* const made = new Teams;
    dl_iterate_phdr(find_storage, made);
    dl_iterate_phdr(find_state, made);
    if (not around_yield)
      around_yield = yield_with_team;
    asked_teams = made;
    return made;
  }();
  return *ALL;
}

/** Scope in which the current rank's team is set aside. */
class TeamSetAside {
  const ParallelRegion* region_ = std::exchange(region_here(), nullptr);
  TeamStorage team_;

  /** Exchanges the team in use. */
  void exchange()
  {
    std::ranges::swap_ranges(teams().here, team_);
    openmp_state_changes();
  }

public:
  TeamSetAside()
  {
    auto& idle = teams().idle;
    if (idle.empty())
      idle.push_back(teams().initial);
    team_ = std::move(idle.back());
    idle.pop_back();
    exchange();
  }
  TeamSetAside(const TeamSetAside&)            = delete;
  TeamSetAside& operator=(const TeamSetAside&) = delete;
  ~TeamSetAside()
  {
    exchange();
    teams().idle.push_back(std::move(team_));
    region_here() = region_;
  }
};

/** Returns whether the current rank has a pool of its own. */
bool owns_pool()
{
  const Teams* const all = asked_teams;
  return all && all->have_state && all->owners.contains(running_context);
}

/** Out of line, so that the stack of a waiting rank fits into one page. */
[[gnu::noinline]] void yield_in_region(simgrid::kernel::actor::ActorImpl* rank, Yield yield)
{
  const TeamSetAside aside;
  yield(rank);
}

/** Returns the current rank's lock of unnamed critical sections, which libgomp creates at its first use. */
void** critical_of_rank()
{
  static std::mutex lock;
  static auto* const ALL = new std::unordered_map<aid_t, std::unique_ptr<void*>>;
  constexpr aid_t NONE   = -1;
  const aid_t rank       = running_context ? current_actor() : NONE;
  const std::scoped_lock held(lock);
  auto& own = (*ALL)[rank];
  if (not own)
    own = std::make_unique<void*>();
  return own.get();
}

/** Returns the region that the current thread begins. */
ParallelRegion new_region(void (*code)(void*), void* data)
{
  Teams& all = teams();
  if (const ParallelRegion* const outer = region_here())
    return {code, data, outer->rank, outer->critical};
  if (all.have_state)
    all.owners.insert(running_context);
  return {code, data, running_context, critical_of_rank()};
}

/** Executes a region on one of its threads. */
void execute_region(void* region)
{
  const auto& own      = *static_cast<const ParallelRegion*>(region);
  const bool is_master = region_here() == &own;
  const RegionScope scope(own);
  if (own.team)
    own.team->execute(is_master, own.code, own.data);
  else
    own.code(own.data);
}

/** Scope of OpenMP's own code around a region. */
class TeamScope {
  const RegionScope region_; // also while libgomp creates the team
  std::optional<SystemFutexes> locks_;

public:
  explicit TeamScope(const ParallelRegion& region) : region_(region)
  {
    if (region.team)
      locks_.emplace();
  }
};

void** critical_here()
{
  const ParallelRegion* const region = region_here();
  return region ? region->critical : critical_of_rank();
}

} // namespace

Context* rank_of_region()
{
  return region_here() ? region_here()->rank : nullptr;
}

void yield_with_team(simgrid::kernel::actor::ActorImpl* rank, Yield yield)
{
  if (region_here() || owns_pool())
    yield_in_region(rank, yield);
  else
    yield(rank);
}

} // namespace weft

// ---- Replaced functions that GCC calls for `parallel` and `critical` (libgomp's libgomp_g.h) -----------------------

/** Defines @p name, which begins a region, with further @p parameters. */
#define WEFT_REGION(result, name, parameters, ...)                                                                     \
  WEFT_INTERPOSED result name parameters                                                                               \
  {                                                                                                                    \
    static const auto THEIRS    = reinterpret_cast<decltype(&name)>(weft::openmp_symbol(#name));                       \
    weft::ParallelRegion region = weft::new_region(code, data);                                                        \
    const weft::TeamScope scope(region);                                                                               \
    return THEIRS(weft::execute_region, &region, __VA_ARGS__);                                                         \
  }

/** Defines a function for a loop in chunks. */
#define WEFT_LOOP(name)                                                                                                \
  WEFT_REGION(void, GOMP_parallel_loop_##name,                                                                         \
              (void (*code)(void*), void* data, unsigned threads, long start, long end, long step, long chunk,         \
               unsigned flags),                                                                                        \
              threads, start, end, step, chunk, flags)

/** Defines a function for a loop whose schedule is set by the environment. */
#define WEFT_RUNTIME_LOOP(name)                                                                                        \
  WEFT_REGION(void, GOMP_parallel_loop_##name,                                                                         \
              (void (*code)(void*), void* data, unsigned threads, long start, long end, long step, unsigned flags),    \
              threads, start, end, step, flags)

// NOLINTBEGIN(readability-identifier-naming, google-runtime-int): libgomp's
extern "C" {

WEFT_REGION(void, GOMP_parallel, (void (*code)(void*), void* data, unsigned threads, unsigned flags), threads, flags)
WEFT_REGION(unsigned, GOMP_parallel_reductions, (void (*code)(void*), void* data, unsigned threads, unsigned flags),
            threads, flags)
WEFT_REGION(void, GOMP_parallel_sections,
            (void (*code)(void*), void* data, unsigned threads, unsigned count, unsigned flags), threads, count, flags)
WEFT_LOOP(static)
WEFT_LOOP(dynamic)
WEFT_LOOP(guided)
WEFT_LOOP(nonmonotonic_dynamic)
WEFT_LOOP(nonmonotonic_guided)
WEFT_RUNTIME_LOOP(runtime)
WEFT_RUNTIME_LOOP(nonmonotonic_runtime)
WEFT_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

WEFT_INTERPOSED void GOMP_critical_start()
{
  static const auto NAMED = reinterpret_cast<void (*)(void**)>(weft::openmp_symbol("GOMP_critical_name_start"));
  NAMED(weft::critical_here());
}

WEFT_INTERPOSED void GOMP_critical_end()
{
  static const auto NAMED = reinterpret_cast<void (*)(void**)>(weft::openmp_symbol("GOMP_critical_name_end"));
  NAMED(weft::critical_here());
}

} // extern "C"
// NOLINTEND(readability-identifier-naming, google-runtime-int)
