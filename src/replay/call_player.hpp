// SPDX-License-Identifier: LGPL-2.1-only
/* Makes the calls that a trace says of one rank (trace/calls.hpp), in their order, with what was computed between them.
 *
 * Requests and communicators are the rank's own, by the numbers that the trace gives them. A wait or test that ended
 * some requests when it was recorded is called until they have ended: on the recording's network once. Elsewhere they
 * may end later, which takes as many tests more as it takes, or may have ended in an earlier test, which then needs no
 * other; a test that ended none is called once.
 */
#pragma once

#include "replay/call_file.hpp"

#include <map>
#include <vector>

namespace weft::replay {

class CallPlayer {
  struct Request {
    MPI_Request handle = MPI_REQUEST_NULL;
    bool has_ended     = false; ///< which of a persistent one its handle does not say
  };
  std::vector<Request> requests_;
  std::map<int, MPI_Comm> communicators_;
  std::map<int, MPI_Win> windows_;

public:
  void play(Words& words);

  MPI_Comm communicator(std::string_view word) const;
  void add_communicator(std::string_view word, MPI_Comm made);
  MPI_Request& request(int number);
  MPI_Win& window(int number) { return windows_[number]; }
  void started(int number) { requests_[static_cast<std::size_t>(number)].has_ended = false; }

  /** Those of the numbers, MPI_REQUEST_NULL for -1. */
  std::vector<MPI_Request> handles(const std::vector<int>& numbers) const;
  /** Make a call of some requests until those have ended that the trace says; it says which it has ended itself. */
  template <class Call> void wait(const std::vector<int>& numbers, const std::vector<int>& ended, Call&& call);

private:
  bool is_open(int number) const;
  void take_back(const std::vector<int>& numbers, const std::vector<MPI_Request>& handles,
                 const std::vector<int>& ended);
};

} // namespace weft::replay
