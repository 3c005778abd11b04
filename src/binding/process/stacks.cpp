// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/stacks.hpp"

#include "base/error.hpp"
#include "binding/abi/original.hpp"
#include "binding/process/process.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <simgrid/s4u.hpp>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

constexpr std::size_t KIB = 1024;
/** Stack size for up to MOST_LARGE ranks; SimGrid's default. In addition to the memory that a rank touches, each stack
 * needs one page of the page table, 4 KiB. */
constexpr std::size_t LARGE = 8 * KIB * KIB;
constexpr int MOST_LARGE    = 1024;
/** Stack size above MOST_LARGE ranks. Four such stacks need as many upper-level page-table entries
 * as one large stack. Each turn among thousands of ranks begins with a page-table walk: with large
 * stacks, an Allreduce of 1 KiB over 4,096 ranks takes an eighth more CPU time. */
constexpr std::size_t MEDIUM = 2 * KIB * KIB;
/** Stack size above MANY_RANKS ranks. Eight such stacks share one page of the page table. */
constexpr std::size_t SMALL = 256 * KIB;
/** Ratio of stack size to guard size. Functions with larger arrays may skip the guard unless weft's
 * compilers compiled them (-fstack-clash-protection). */
constexpr std::size_t STACK_TO_GUARD = 64;
/** Number of stacks for actors other than ranks, which a program may start through SimGrid. */
constexpr std::size_t OTHERS = 256;
/** MADV_GUARD_INSTALL of Linux 6.13, which the C library's headers lack. */
constexpr int GUARD_INSTALL = 102;
/** Mappings reserved for the rest of the process: large arrays and, with one copy of the program per rank, its segments
 * (five for an executable, as many for its own libraries). */
constexpr std::size_t MAPPINGS_LEFT   = 2000;
constexpr std::size_t MAPPINGS_A_COPY = 8;
constexpr int NOBODY                  = -1;

enum class Guard { none, page_table, mappings };

/** Contiguous stacks in one mapping. */
struct Region {
  char* begin       = nullptr;
  std::size_t count = 0;
  std::size_t made  = 0;
  std::vector<int> ranks;      // by stack, set when it first runs; NOBODY: an actor that is not a rank
  std::vector<bool> unguarded; // by stack
};

struct StacksState {
  std::size_t page        = 0;
  std::size_t bytes       = 0; // size of a stack; 0: SimGrid allocates stacks
  std::size_t guard_bytes = 0;
  Guard guard             = Guard::none;
  std::size_t most_mapped = 0; // maximum number of guarded stacks if guards take mappings
  std::size_t unguarded   = 0;
  std::size_t made        = 0;
  std::vector<Region> regions;
  std::deque<std::pair<double, char*>> free; // end times of actors that are not ranks, and their stacks' lowest bytes
  std::unordered_map<aid_t, char*> others;
  void (*entry)(void*) = nullptr;

  std::size_t each() const { return guard_bytes + bytes; }
};

StacksState& stacks_state()
{
  static StacksState the_state;
  return the_state;
}

/** Returns the number of stacks that can be guarded if each takes two mappings. */
std::size_t most_mapped(int ranks)
{
  const bool copies = simgrid::config::get_value<std::string>("smpi/privatization") == "dlopen";
  const std::size_t others =
      mappings_now() + MAPPINGS_LEFT + (copies ? MAPPINGS_A_COPY : 0) * static_cast<std::size_t>(ranks);
  const std::size_t most = most_mappings();
  return most > others ? (most - others) / 2 : 0;
}

void add_region(std::size_t count)
{
  StacksState& all        = stacks_state();
  const std::size_t bytes = all.each() * count;
  void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    throw UserError(
        "stacks of the ranks: Linux refused " + std::to_string(bytes / KIB / KIB) + " MiB of the address space for " +
        std::to_string(count) + " stacks of " + std::to_string(all.bytes / KIB) + " KiB (" +
        (memory_limits().empty() ? std::strerror(errno) : memory_limits()) +
        "): use smaller ones, --cfg contexts/stack-size:256 (KiB), or raise the limit (ulimit -v unlimited; as"
        " root, sysctl vm.overcommit_memory=0)");
  madvise(begin, bytes, MADV_NOHUGEPAGE); // a huge page would cost each rank 2 MiB
  all.regions.push_back(
      {static_cast<char*>(begin), count, 0, std::vector<int>(count, NOBODY), std::vector<bool>(count)});
}

bool install_guard(char* below)
{
  const StacksState& all = stacks_state();
  if (all.guard == Guard::page_table)
    return madvise(below, all.guard_bytes, GUARD_INSTALL) == 0;
  return all.made < all.most_mapped && mprotect(below, all.guard_bytes, PROT_NONE) == 0;
}

/** Provides a stack, reusing one if possible. @return its lowest byte */
char* make_stack()
{
  StacksState& all = stacks_state();
  // An actor may not have left its stack yet at the simulated time of its end.
  if (not all.free.empty() && all.free.front().first < sg::Engine::get_clock()) {
    char* const again = all.free.front().second;
    all.free.pop_front();
    return again;
  }
  if (all.regions.back().made == all.regions.back().count)
    add_region(std::max(OTHERS, all.made));
  Region& region                  = all.regions.back();
  char* const below               = region.begin + region.made * all.each();
  const bool is_bare              = not install_guard(below);
  region.unguarded[region.made++] = is_bare;
  ++all.made;
  all.unguarded += is_bare ? 1 : 0;
  return below + all.guard_bytes;
}

/** Records the owner of the current stack, which is unknown before its actor runs. */
void note_owner()
{
  StacksState& all = stacks_state();
  const char here  = 0;
  const auto rank  = rank_here();
  for (Region& region : all.regions) {
    if (&here < region.begin || &here >= region.begin + region.count * all.each())
      continue;
    const auto index    = static_cast<std::size_t>(&here - region.begin) / all.each();
    region.ranks[index] = rank.value_or(NOBODY);
    if (rank)
      return;
    all.others[sg::this_actor::get_pid()] = region.begin + index * all.each() + all.guard_bytes;
  }
}

void begin_on_stack(void* context)
{
  arrive_on_stack();
  if (stacks_state().bytes > 0)
    note_owner();
  stacks_state().entry(context);
}

/** Reclaims the stack of an actor that is not a rank; ranks live as long as the run. */
void take_back(const sg::Actor& actor)
{
  StacksState& all = stacks_state();
  const auto found = all.others.find(actor.get_pid());
  if (found == all.others.end())
    return;
  all.free.emplace_back(sg::Engine::get_clock(), found->second);
  all.others.erase(found);
}

std::size_t guard_bytes()
{
  const StacksState& all = stacks_state();
  if (simgrid::config::is_default("contexts/guard-size"))
    return std::max(all.page, all.bytes / STACK_TO_GUARD / all.page * all.page);
  return all.page * static_cast<std::size_t>(simgrid::config::get_value<int>("contexts/guard-size"));
}

std::size_t stack_bytes(int ranks)
{
  constexpr std::size_t LEAST_PAGES = 4;
  if (simgrid::config::is_default("contexts/stack-size"))
    return ranks > MANY_RANKS ? SMALL : ranks > MOST_LARGE ? MEDIUM : LARGE;
  const std::size_t page  = stacks_state().page;
  const std::size_t asked = KIB * static_cast<std::size_t>(simgrid::config::get_value<int>("contexts/stack-size"));
  return std::max((asked + page - 1) / page, LEAST_PAGES) * page;
}

/** Returns whether SimGrid calls weft's raw_makecontext() instead of its own. */
bool are_ours()
{
  Dl_info found;
  Dl_info ours;
  return simgrid::config::get_value<std::string>("contexts/factory") == "raw" &&
         dladdr(dlsym(RTLD_DEFAULT, "raw_makecontext"), &found) != 0 &&
         dladdr(reinterpret_cast<void*>(&begin_on_stack), &ours) != 0 && found.dli_fbase == ours.dli_fbase;
}

bool is_resident(char* page)
{
  unsigned char there = 0;
  return mincore(page, stacks_state().page, &there) == 0 && (there & 1U) != 0;
}

/** Returns whether the last page of @p stack, or a page in place of its guard, has been used. */
bool is_used_up(char* stack)
{
  const StacksState& all = stacks_state();
  for (char* page = stack; page >= stack - std::min(all.guard_bytes, all.bytes / STACK_TO_GUARD); page -= all.page)
    if (is_resident(page))
      return true;
  return false;
}

std::string in_kib(std::size_t bytes)
{
  return std::to_string(bytes / KIB) + " KiB";
}

/** Warns once about ranks without guard pages, whose stack overflows may go undetected. */
void tell_of_unguarded(std::size_t ranks)
{
  const StacksState& all    = stacks_state();
  const std::size_t guarded = all.guard == Guard::mappings ? std::min(all.most_mapped, ranks) : 0;
  if (all.guard_bytes == 0 || all.guard == Guard::page_table || guarded == ranks) // guard_bytes == 0: the user's choice
    return;
  std::fprintf(stderr,
               "weft: stacks: %zu of the %zu ranks have no guard pages, because the mappings of the process are "
               "exhausted (vm.max_map_count is %zu): overflows of their stacks of %s are reported only at the end of "
               "the run or by a crash\n",
               ranks - guarded, ranks, most_mappings(), in_kib(all.bytes).c_str());
}

} // namespace

void install_stacks(int ranks)
{
  if (not is_on(TuningId::stacks) || not are_ours())
    return;
  StacksState& all = stacks_state();
  all.page         = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  all.bytes        = stack_bytes(ranks);
  all.guard_bytes  = guard_bytes();
  all.guard        = all.guard_bytes == 0 ? Guard::none : Guard::page_table;
  if (const std::string& kind = settings().stack_guards; not kind.empty() && all.guard != Guard::none)
    all.guard = kind == "mappings" ? Guard::mappings : Guard::none;
  const auto count = static_cast<std::size_t>(std::max(ranks, 0));
  add_region(count + OTHERS);
  if (all.guard == Guard::page_table && madvise(all.regions.back().begin, all.guard_bytes, GUARD_INSTALL) != 0)
    all.guard = Guard::mappings;
  all.most_mapped = all.guard == Guard::mappings ? most_mapped(ranks) : 0;
  tell_of_unguarded(count);
  // The stacks that SimGrid itself allocates are not used.
  simgrid::config::set_value("contexts/stack-size", 0);
  simgrid::config::set_value("contexts/guard-size", 0);
  sg::Actor::on_termination_cb(take_back);
}

std::optional<StacksMade> stacks_made()
{
  const StacksState& all = stacks_state();
  return all.bytes == 0 ? std::nullopt : std::optional(StacksMade{all.bytes, all.made, all.unguarded});
}

std::optional<std::size_t> overflown_stack(const void* address)
{
  const StacksState& all = stacks_state();
  const auto* byte       = static_cast<const char*>(address);
  for (const Region& region : all.regions)
    if (byte >= region.begin && byte < region.begin + region.made * all.each() &&
        static_cast<std::size_t>(byte - region.begin) % all.each() < all.guard_bytes)
      return all.bytes;
  return std::nullopt;
}

std::optional<int> rank_out_of_stack()
{
  const StacksState& all = stacks_state();
  if (all.unguarded == 0)
    return std::nullopt;
  for (const Region& region : all.regions)
    for (std::size_t index = 0; index < region.made; ++index)
      if (region.unguarded[index] && region.ranks[index] != NOBODY &&
          is_used_up(region.begin + index * all.each() + all.guard_bytes))
        return region.ranks[index];
  return std::nullopt;
}

std::string advise_on_stack(std::size_t bytes)
{
  constexpr std::size_t LARGER = 8;
  return "its stack has " + in_kib(bytes) + ": give each rank a larger one, for example --cfg contexts/stack-size:" +
         std::to_string(bytes / KIB * LARGER) + " (KiB)";
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

// Interposes on SimGrid's function for raw contexts (src/kernel/context/ContextRaw.cpp), which writes data for the
// first switch to the upper end of a stack. SimGrid's own allocation stays unused.
extern "C" WEFT_INTERPOSED void* raw_makecontext(void* stack, int size, void (*entry)(void*), void* context)
{
  using Make             = void* (*)(void*, int, void (*)(void*), void*);
  static const auto MAKE = weft::original<Make>("raw_makecontext");
  weft::StacksState& all = weft::stacks_state();
  all.entry              = entry; // identical for all contexts
  if (all.bytes == 0) {
    weft::announce_stack(static_cast<char*>(stack), static_cast<std::size_t>(size));
    return MAKE(stack, size, weft::begin_on_stack, context);
  }
  const auto last = static_cast<int>(all.page);
  try {
    char* const lowest = weft::make_stack();
    weft::announce_stack(lowest, all.bytes);
    return MAKE(lowest + all.bytes - last, last, weft::begin_on_stack, context);
  } catch (const weft::UserError& error) {
    std::fflush(nullptr);
    std::fprintf(stderr, "weft: %s\n", error.what());
    ::_exit(1);
  }
}
