// SPDX-License-Identifier: LGPL-2.1-only
/* Long lists of requests that a rank completes one by one or a few at a time, by MPI_Waitany, MPI_Testsome and the
 * like.
 *
 * Examining each request in each call would take time that grows with the square of their number. A list therefore
 * keeps what the requests were at the previous call: its copy of the handles shows which of them the program has
 * changed since then (8 bytes a request are compared, nothing else is read), and messages that end report to it. */
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
  std::unordered_map<MPI_Request, std::size_t> reporting_; // positions of pending and persistent requests
  std::vector<std::size_t> restarted_;                     // positions of persistent requests
  std::set<std::size_t> ended_;
  std::set<std::size_t> detached_; // those of sends that ended as they were started
  std::span<MPI_Request> requests_;
  std::size_t pending_ = 0;
  bool awaited_        = false; // the rank sleeps until one of them has ended

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

  /** Returns the list of the current rank's @p requests, up to date, if the rank has passed the same array before and
   * weft's transport carries the messages of all active ones. Null otherwise, and if none is active. */
  static RequestList* find(std::span<MPI_Request> requests);
  /** Notes that @p request, which has LISTED_FLAG, has ended. @return whether its rank sleeps until that happens */
  static bool note_end(MPI_Request request, aid_t owner);
  /** Notes that @p request, which has LISTED_FLAG, is about to be started again. */
  static void note_start(MPI_Request request, aid_t owner);
  /** Returns whether @p owner sleeps until one of several requests, among them @p request, has ended. */
  static bool awaits(MPI_Request request, aid_t owner);
  /** Registers a callback for each end of a request, with its list. */
  static void tell_of_ends(void (*told)(const void* list));

  bool any_pending() const { return pending_ > 0; }
  bool any_ended() const { return not ended_.empty(); }
  /** Returns the position of the request that MPI_Waitany completes: of a send that ended as it was started, otherwise
   * the first that has ended. */
  std::optional<std::size_t> first_for_wait() const;
  /** Returns the first position, from @p from on, of a request that has ended. */
  std::optional<std::size_t> next_ended(std::size_t from) const;
  /** Completes it as MPI_Test does. */
  int test(std::size_t position, MPI_Status* status, int* flag);
  /** Sleeps until one of the requests has ended. */
  void sleep();
  /** Waits for one of the requests as MPI_Waitany does, and completes it. @return its position */
  int wait(MPI_Status* status);
};

/** Returns the @p count requests of an MPI call as a span. */
inline std::span<MPI_Request> span_of(MPI_Request* requests, int count)
{
  return {requests, requests && count > 0 ? static_cast<std::size_t>(count) : 0};
}

} // namespace weft
