// SPDX-License-Identifier: LGPL-2.1-only
#include "model/tuning/tuning.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace weft {
namespace {

constexpr SimGridVersion V4_1{.major = 4, .minor = 1};

// docs/simgrid.md and docs/performance.md describe how these figures were measured.
constexpr std::array<TuningRow, TUNING_COUNT> ROWS{{
    {.id      = TuningId::access_lists,
     .name    = "access-lists",
     .simgrid = "gives each actor a list of its memory accesses, which only the model checker reads",
     .weft    = "frees the list, unless the model checker replays",
     .gain    = "208 bytes per rank",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::actors_by_number,
     .name    = "actors-by-number",
     .simgrid = "searches a tree of all actors for sender and receiver, about ten times per message",
     .weft    = "caches actors in an array by number",
     .gain    = "with request-numbers, 29,900 to 28,950 instructions per message at 64 ranks (−3 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::allocator,
     .name    = "allocator",
     .simgrid = "frees the chunks of a message for all ranks at once, more than glibc's malloc caches",
     .weft    = "preloads mimalloc for chunks below 16 KiB",
     .gain    = "32,790 to 26,980 instructions per message at 64 ranks (−18 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::call_locations,
     .name    = "call-locations",
     .simgrid = "formats the source location of each call for the model checker",
     .weft    = "returns an empty location",
     .gain    = "with message-numbers, 37,470 to 33,670 instructions per message at 64 ranks (−10 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::computation_clock,
     .name    = "computation-clock",
     .simgrid = "reads the thread's CPU time as each MPI call begins and ends, two system calls",
     .weft    = "reads it only where computation is timed or sampled",
     .gain    = "a tenth of the CPU time of an offloaded Allreduce",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::current_context,
     .name    = "current-context",
     .simgrid = "asks the dynamic linker for the running actor's thread-local variable, about twenty times per message",
     .weft    = "keeps it in a variable of a preloaded library, which needs no call",
     .gain    = "with engine-pointer, 28,070 to 27,130 instructions per message at 64 ranks (−3.4 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::direct_calls,
     .name    = "direct-calls",
     .simgrid = "checks the arguments of each call, and has an activity for each request",
     .weft    = "calls the algorithm, or sends, at once if SMPI would only check, and waits without an activity",
     .gain    = "with woken-prefetch, 2.69 to 0.89 µs of CPU time per rank and Allreduce at 4,096 ranks",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::engine_pointer,
     .name    = "engine-pointer",
     .simgrid = "fetches its engine by two calls, about thirty times per message",
     .weft    = "caches its address",
     .gain    = "with current-context, 28,070 to 27,130 instructions per message at 64 ranks (−3.4 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::host_loopbacks,
     .name    = "host-loopbacks",
     .simgrid = "has one loopback for all hosts, whose flows the solver scans for each of them (quadratic)",
     .weft    = "gives each host a loopback when a rank first sends within the host",
     .gain    = "with message-numbers, 74.5 to 23.8 µs per message at 4,096 ranks, 64 per host",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::message_coalescing,
     .name    = "message-coalescing",
     .simgrid = "makes an action with a solver variable for each message, about 600 bytes",
     .weft    = "above 32,768 ranks, lets equal messages that start simultaneously share an action",
     .gain    = "1,048,576 ranks exchanging halos: 15.8 to 13.1 GB; 65,536 ranks: 4.2 to 3.7 s of CPU time",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::message_numbers,
     .name    = "message-numbers",
     .simgrid = "numbers messages in tables with string keys, builds five strings per message and never erases one",
     .weft    = "uses integer keys and erases numbers without users",
     .gain    = "with call-locations, 37,470 to 33,670 instructions per message at 64 ranks (−10 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::rank_code,
     .name    = "rank-code",
     .simgrid = "stores each rank's function twice, and its arguments",
     .weft    = "shares one function among ranks with the same arguments",
     .gain    = "288 bytes per rank, and 32 to 100 for each argument",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::rank_properties,
     .name    = "rank-properties",
     .simgrid = "keeps a table of strings for two properties of each rank",
     .weft    = "keeps two integers, and makes the table on demand",
     .gain    = "368 bytes per rank",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::request_numbers,
     .name    = "request-numbers",
     .simgrid = "gives each request a Fortran handle in a table of all requests in flight",
     .weft    = "makes the handle on demand",
     .gain    = "330 bytes per rank with eight requests; time: with actors-by-number",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::schedule_coalescing,
     .name    = "schedule-coalescing",
     .simgrid = "has a flow for each message of a collective's algorithm",
     .weft    = "coalesces equal-sized messages between two hosts that start at the same instant into one flow",
     .gain    = "5.9 to 5.4 µs of CPU time per rank and Allreduce by recursive doubling, 4,096 ranks, 64 per host",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::shared_groups,
     .name    = "shared-groups",
     .simgrid = "gives each rank's copy of a communicator a group of its own, 12 bytes per member",
     .weft    = "shares one group among the members",
     .gain    = "four copies at 2,048 ranks: 236 to 44 MiB, 0.37 to 0.16 s of CPU time",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::shared_memory,
     .name    = "shared-memory",
     .simgrid = "backs shared memory (SMPI_SHARED_MALLOC) by a file in /tmp, which Linux writes to the disk",
     .weft    = "backs it by an anonymous file in memory",
     .gain    = "NAS DT of 448 ranks, /tmp on a disk: waited for it 28 of 30 minutes",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::shared_sleeps,
     .name    = "shared-sleeps",
     .simgrid = "makes an activity, an action and a variable for each sleep, about 730 bytes",
     .weft    = "above 32,768 ranks or with weft's messages, lets ranks that wake at the same instant share a timer",
     .gain    = "33,280 ranks exchanging halos: 15,283 to 14,768 bytes per rank, 2.9 to 2.4 s of CPU time",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::stacks,
     .name    = "stacks",
     .simgrid = "allocates each stack by malloc, 8 MiB with a protected page",
     .weft = "places all stacks in one mapping, smaller ones above 1,024 ranks, with guard pages that take no mapping",
     .gain = "0.63 to 0.53 µs of CPU time per rank and Allreduce at 4,096 ranks; two mappings and a page per rank",
     .oldest = V4_1,
     .newest = V4_1},
    {.id      = TuningId::started_ranks,
     .name    = "started-ranks",
     .simgrid = "makes a mailbox of small messages, a lock and a clock for each rank as it starts",
     .weft    = "makes them on first use",
     .gain    = "970 bytes and two simcalls per rank",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::tested_messages,
     .name    = "tested-messages",
     .simgrid = "keeps the activity of a message that MPI_Test completed for the rank's lifetime",
     .weft    = "releases it",
     .gain    = "440 bytes per message; 30,000 tested messages: 15 MiB",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::waits,
     .name    = "waits",
     .simgrid = "lists all requests in two growing vectors each time that Waitall waits for one of them",
     .weft    = "passes only a request that has ended, if there is one, and keeps track of long lists between calls",
     .gain    = "with routes queried directly, 28,950 to 24,300 instructions per message at 64 ranks (−16 %)",
     .oldest  = V4_1,
     .newest  = V4_1},
    {.id      = TuningId::woken_prefetch,
     .name    = "woken-prefetch",
     .simgrid = "resumes ranks whose state has left the caches, one cache miss after the other",
     .weft    = "prefetches the context, actor and stack of a rank four turns ahead",
     .gain    = "with direct-calls, 2.69 to 0.89 µs of CPU time per rank and Allreduce at 4,096 ranks",
     .oldest  = V4_1,
     .newest  = V4_1},
}};

constexpr std::string_view ALL_TUNINGS = "all";
constexpr std::string_view NO_TUNINGS  = "none";

TuningFlags all_tunings(bool value)
{
  TuningFlags flags{};
  flags.fill(value);
  return flags;
}

std::vector<std::string> tuning_words(const std::string& choice)
{
  std::vector<std::string> words;
  std::istringstream text(choice);
  for (std::string word; std::getline(text, word, ',');)
    words.push_back(word);
  return words;
}

[[noreturn]] void refuse_tuning(const std::string& found, const std::string& close_to)
{
  const std::vector<std::string> names = tuning_names(all_tunings(true), true);
  throw UserError("found \"" + on_one_line(found) + "\"; " + did_you_mean(close_to, names) +
                  "allowed: all, none, or tunings with commas, each as NAME (only these) or each as -NAME (all but "
                  "these): " +
                  join(names));
}

} // namespace

std::string SimGridVersion::text() const
{
  return std::to_string(major) + "." + std::to_string(minor);
}

SimGridVersion SimGridVersion::parse(std::string_view text)
{
  SimGridVersion version;
  const char* const end   = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, version.minor).ec != std::errc())
    throw std::logic_error("no version of SimGrid: " + std::string(text));
  return version;
}

const std::array<TuningRow, TUNING_COUNT>& tunings()
{
  return ROWS;
}

TuningFlags chosen_tunings(const std::string& choice)
{
  if (choice.empty() || choice == ALL_TUNINGS)
    return all_tunings(true);
  if (choice == NO_TUNINGS)
    return all_tunings(false);
  const bool leaves_out = choice.front() == '-';
  TuningFlags flags     = all_tunings(leaves_out);
  for (const std::string& word : tuning_words(choice)) {
    const bool has_dash    = word.starts_with('-');
    const std::string name = word.substr(has_dash ? 1 : 0);
    const auto row         = std::ranges::find(ROWS, name, &TuningRow::name);
    if (row == ROWS.end() || has_dash != leaves_out)
      refuse_tuning(row == ROWS.end() ? word : choice, row == ROWS.end() ? name : "");
    flags[static_cast<std::size_t>(row->id)] = not leaves_out;
  }
  return flags;
}

TuningFlags known_tunings(const TuningFlags& chosen, const SimGridVersion& version)
{
  TuningFlags flags = chosen;
  for (const TuningRow& row : ROWS)
    flags[static_cast<std::size_t>(row.id)] &= row.knows(version);
  return flags;
}

std::vector<std::string> tuning_names(const TuningFlags& flags, bool value)
{
  std::vector<std::string> names;
  for (const TuningRow& row : ROWS)
    if (flags[static_cast<std::size_t>(row.id)] == value)
      names.emplace_back(row.name);
  return names;
}

} // namespace weft
