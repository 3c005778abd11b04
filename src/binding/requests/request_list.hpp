// SPDX-License-Identifier: LGPL-2.1-only
/* Long lists of requests that a rank completes one by one or a few at a time, by MPI_Waitany, MPI_Testsome and the
 * like.
 *
 * Examining each request in each call would take time that grows with the square of their number. A list therefore
 * stores the state of the requests at the previous call: its copy of the handles shows which of them the program has
 * changed since then (only 8 bytes per request are compared), and messages report their completion to it. */
#pragma once

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace weft {

class RequestList {
  enum class State : std::uint8_t { inactive, pending, ended };

  std::vector<MPI_Request> known_; // handles at the previous call; only compared
  std::vector<State> states_;
  std::unordered_map<MPI_Request, std::size_t> reporting_; // indices of pending and persistent requests
  std::vector<std::size_t> restarted_;                     // indices of persistent requests
  std::set<std::size_t> ended_;
  std::set<std::size_t> detached_; // indices of sends that completed when they were started
  std::span<MPI_Request> requests_;
  std::size_t pending_ = 0;
  bool awaited_        = false; // true if the rank sleeps until one of the requests is complete

  bool examine(std::size_t position);
  bool examine_changed(std::size_t first, std::size_t last);
  void clear(std::size_t position);
  bool is_valid(std::size_t position) const;
  bool drop_finished(const std::set<std::size_t>& positions);
  bool update(std::span<MPI_Request> requests);
  bool starts_at(const MPI_Request* requests) const { return requests_.data() == requests; }

public:
  /** Lists of fewer requests are examined in each call. */
  static constexpr std::size_t LONG = 64;

  /** Returns the up-to-date list of the current rank's @p requests, if the rank has passed the same array before and
   * weft's transport carries the messages of all active ones. Otherwise, and if none is active, null. */
  static RequestList* find(std::span<MPI_Request> requests);
  /** Marks a listed request (LISTED_FLAG) as complete. @return whether its rank is blocked waiting for it */
  static bool note_end(MPI_Request request, aid_t owner);
  /** Records that a listed request (LISTED_FLAG) is about to be started again. */
  static void note_start(MPI_Request request, aid_t owner);
  /** Returns whether @p owner sleeps until one of several requests, including @p request, is complete. */
  static bool awaits(MPI_Request request, aid_t owner);

  bool any_pending() const { return pending_ > 0; }
  bool any_ended() const { return not ended_.empty(); }
  /** Returns the index of the request that MPI_Waitany completes: a send that completed when it was started, otherwise
   * the first complete one. */
  std::optional<std::size_t> first_for_wait() const;
  /** Returns the first index, at least @p from, of a complete request. */
  std::optional<std::size_t> next_ended(std::size_t from) const;
  /** Completes the request at an index like MPI_Test. */
  int test(std::size_t position, MPI_Status* status, int* flag);
  /** Sleeps until one of the requests is complete. */
  void sleep();
  /** Waits for one of the requests like MPI_Waitany, and completes it. @return its index */
  int wait(MPI_Status* status);
};

/** Returns the @p count requests of an MPI call as a span. */
inline std::span<MPI_Request> span_of(MPI_Request* requests, int count)
{
  return {requests, requests && count > 0 ? static_cast<std::size_t>(count) : 0};
}

} // namespace weft
