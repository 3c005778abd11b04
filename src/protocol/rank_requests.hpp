// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "protocol/paid_wait.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace weft {

/** Requests of a rank, numbered in the order in which they are added. Waiting for a complete request costs its
 * overhead, once. Requests that have been waited for are removed. */
class RankRequests {
  struct Request {
    double overhead = 0; // of waiting for the complete request
    bool ended      = false;
    bool reaped     = false; // true if it has been waited for
  };
  int first_          = 0; // number of the first request in all_
  std::size_t reaped_ = 0; // reaped requests at the front of all_
  std::vector<Request> all_;

  Request& request(int number) { return all_[static_cast<std::size_t>(number - first_)]; }
  const Request& request(int number) const { return all_[static_cast<std::size_t>(number - first_)]; }
  void forget_reaped();

public:
  void add(bool ended) { all_.push_back({0, ended, false}); }
  void end(int number, double overhead) { request(number) = {overhead, true, false}; }
  /** Returns whether a request has been waited for and removed. */
  bool forgot(int number) const { return number < first_; }
  /** Returns whether a request is complete, whether waited for or not. */
  bool has_ended(int number) const { return forgot(number) || request(number).ended; }
  /** Waits for a complete request that has not been removed. Returns its overhead; 0 if it has been waited for. */
  double reap(int number)
  {
    Request& its          = request(number);
    const double overhead = std::exchange(its.overhead, 0.0);
    its.reaped            = true;
    if (std::cmp_equal(number - first_, reaped_))
      forget_reaped();
    return overhead;
  }
  /** Begins a wait for all requests @p now. @p lengthened returns the time that the overheads of the complete requests
   * take. */
  template <class Lengthened> PaidWait wait_for_all(double now, Lengthened lengthened) const
  {
    int open         = 0;
    double overheads = 0;
    for (const Request& one : all_) {
      open += one.ended ? 0 : 1;
      overheads += one.reaped ? 0 : one.overhead;
    }
    return {open, now + lengthened(overheads)};
  }
  /** Removes all requests, which are complete and paid for. */
  void reap_all();
  /** Resets the numbering to 0. */
  void clear();
};

} // namespace weft
