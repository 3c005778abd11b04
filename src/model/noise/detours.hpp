// SPDX-License-Identifier: LGPL-2.1-only
/* When a core is away from its program, and when work on it is over therefore.
 *
 * The times of detours do not depend on what the core does: those of a table's k-th detour are drawn by seed, table,
 * core and k. Work that a detour meets goes on after it; work of no time that begins in a detour is over when that is.
 * Where detours of several tables, or of one, overlap, the core is away as long as any of them lasts. */
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
  /** The detours of one table, in the order of their starts. */
  class Source {
    const HostNoise* model_;
    std::uint64_t seed_;
    std::uint32_t table_;
    std::uint32_t core_;
    std::uint32_t number_ = 0; // of the one that it stands at
    Detour detour_{};

    double draw(std::uint32_t what) const;
    double gap() const;
    void begin_at(double start);

  public:
    Source(const NoiseModel& noise, std::uint32_t table, std::uint32_t core);
    const Detour& detour() const { return detour_; }
    void next();
  };
  std::vector<Source> sources_; // each at the first detour that may still matter
  std::vector<Source> walking_; // memory

public:
  /** Of core @p core, by any number, of host @p host. @p noise must outlive it. */
  Detours(const NoiseModel& noise, int host, std::uint32_t core);

  /** When @p work is over that begins at @p start, which is @p now or later. Now never goes back. */
  Seconds end_of(Seconds now, Seconds start, Seconds work);
};

} // namespace weft
