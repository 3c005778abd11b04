// SPDX-License-Identifier: LGPL-2.1-only
/* OS noise on a core: detours, during which the core does not run its program.
 *
 * Detours do not depend on the core's work: start and length of the k-th detour of a table are functions of seed,
 * table, core and k. A detour suspends work; zero-length work that begins during a detour ends when the detour ends. If
 * detours overlap, the core is unavailable until the last one ends. */
#pragma once

#include "model/noise/noise_model.hpp"

#include <cstdint>
#include <vector>

namespace weft {

class Detours {
  struct Detour {
    double start;
    double end;
  };
  /** Detours of one table, in order of start time. */
  class Source {
    const HostNoise* model_;
    std::uint64_t seed_;
    std::uint32_t table_;
    std::uint32_t core_;
    std::uint32_t number_ = 0; // number of the current detour
    Detour detour_{};

    double draw(std::uint32_t what) const;
    double gap() const;
    void begin_at(double start);

  public:
    Source(const NoiseModel& noise, std::uint32_t table, std::uint32_t core);
    const Detour& detour() const { return detour_; }
    void next();
  };
  std::vector<Source> sources_; // each positioned at its first detour that has not ended
  std::vector<Source> walking_; // scratch copy

public:
  /** Detours of a core; @p core is any number that identifies it. @p noise must outlive the object. */
  Detours(const NoiseModel& noise, int host, std::uint32_t core);

  /** Returns the end time of @p work that begins at @p start >= @p now. @p now must not decrease from call to call. */
  Seconds end_of(Seconds now, Seconds start, Seconds work);
};

} // namespace weft
