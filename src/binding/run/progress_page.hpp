// SPDX-License-Identifier: LGPL-2.1-only
/* Progress of a run, in a file of one page that other processes map: the simulated time, and the MPI calls so far. */
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace weft {

class ProgressPage {
  /** Content of the file. */
  struct Page {
    std::atomic<double> simulated_time;
    std::atomic<std::int64_t> calls; ///< MPI calls of all ranks
  };
  Page& page_;
  std::int64_t shown_ = 0; ///< real time of the last update, in ns

  explicit ProgressPage(Page& page) : page_(page) {}

public:
  /** Follows the run in the file at @p path, which exists and has at least the size of a Page; empty: does nothing. */
  static void follow_run(const std::string& path);

private:
  void time_advances();
};

} // namespace weft
