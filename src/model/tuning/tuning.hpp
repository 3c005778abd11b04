// SPDX-License-Identifier: LGPL-2.1-only
/* Table of tunings, one row each, and their selection (`--tunings`).
 *
 * A tuning saves simulation time or memory in SimGrid and changes no simulated time, so a run may disable any of them.
 * Tunings rely on private symbols and layouts of SimGrid: each names the versions that it was checked with, and is off
 * on other versions. */
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Index of a row in tunings(), in the same order. */
enum class TuningId : std::uint8_t {
  access_lists,
  actors_by_number,
  allocator,
  call_locations,
  computation_clock,
  current_context,
  direct_calls,
  engine_pointer,
  host_loopbacks,
  message_coalescing,
  message_numbers,
  rank_code,
  rank_properties,
  request_numbers,
  schedule_coalescing,
  shared_groups,
  shared_memory,
  shared_sleeps,
  stacks,
  started_ranks,
  tested_messages,
  waits,
  woken_prefetch,
};

constexpr std::size_t TUNING_COUNT = static_cast<std::size_t>(TuningId::woken_prefetch) + 1;

struct SimGridVersion {
  int major                                     = 0;
  int minor                                     = 0;
  auto operator<=>(const SimGridVersion&) const = default;
  /** Returns the version as users write it: "4.1". */
  std::string text() const;
  /** Reads "4.1" or "4.1.2"; throws std::logic_error for anything else. */
  static SimGridVersion parse(std::string_view text);
};

struct TuningRow {
  TuningId id;
  std::string_view name;    ///< kebab-case, for --tunings
  std::string_view simgrid; ///< SimGrid's behaviour
  std::string_view weft;    ///< weft's replacement
  std::string_view gain;    ///< measured saving
  SimGridVersion oldest;    ///< oldest version that it supports
  SimGridVersion newest;

  bool knows(const SimGridVersion& version) const { return oldest <= version && version <= newest; }
};

/** Returns all rows, sorted by name. */
const std::array<TuningRow, TUNING_COUNT>& tunings();

/** One flag per tuning, indexed by TuningId. */
using TuningFlags = std::array<bool, TUNING_COUNT>;

/** Returns the tunings that @p choice selects: all ("all" or nothing), none ("none"), only those named
 * ("waits,stacks"), or all except those named ("-waits,-stacks"). Throws UserError for anything else. */
TuningFlags chosen_tunings(const std::string& choice);

/** Returns the tunings among @p chosen that support @p version. */
TuningFlags known_tunings(const TuningFlags& chosen, const SimGridVersion& version);

/** Returns the names of the tunings whose flag is @p value. */
std::vector<std::string> tuning_names(const TuningFlags& flags, bool value);

} // namespace weft
