// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of each job of a run, and its bytes on each link.
 *
 * Most jobs use few links of a large fabric, so bytes are counted in pages of links that are allocated at their first
 * byte. */
#pragma once

#include "base/units.hpp"
#include "fabric/topology/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class JobTraffic {
public:
  static constexpr int UNKNOWN = -1; ///< traffic whose job is unknown
  static constexpr int NONE    = -3; ///< background traffic: its first table; further tables have lower numbers
  /** Messages of one job. */
  struct Sent {
    std::int64_t messages = 0;
    double bytes          = 0; ///< including headers
  };

private:
  static constexpr std::size_t PAGE = 64; // links
  struct Job {
    Sent sent;
    std::vector<std::unique_ptr<double[]>> pages = {}; // NOLINT(modernize-avoid-c-arrays)
  };
  std::size_t pages_;
  std::vector<int> job_of_host_;
  std::vector<Job> jobs_;

  bool knows(int job) const { return job >= 0 && static_cast<std::size_t>(job) < jobs_.size(); }
  int job_at(int vertex) const;

public:
  /** @p hosts: hosts of each job. */
  JobTraffic(const std::vector<std::vector<int>>& hosts, int host_count, std::size_t links);

  int jobs() const { return static_cast<int>(jobs_.size()); }
  /** Returns the job of a message between two vertices: the only job with ranks at @p from, or else at @p to; UNKNOWN
   * if there is none. */
  int job_between(int from, int to) const;
  void count_message(int job, Bytes bytes);
  void count_bytes(int job, LinkId link, Bytes bytes);
  const Sent& sent(int job) const { return jobs_.at(static_cast<std::size_t>(job)).sent; }
  double bytes_on_link(int job, LinkId link) const;
};

} // namespace weft
