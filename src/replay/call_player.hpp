// SPDX-License-Identifier: LGPL-2.1-only
/* Replays the calls that a trace lists for one rank (trace/calls.hpp), in order, with the computation between them.
 *
 * Requests and communicators belong to the rank and have the numbers given in the trace. A wait or test that completed
 * requests in the recording is repeated until these are complete, which takes one call on the recorded network. On
 * another network they may complete later, which takes more tests, or may have completed in an earlier test, which
 * makes the call unnecessary. A test that completed none is called once. */
#pragma once

#include "replay/call_file.hpp"

#include <map>
#include <vector>

namespace weft::replay {

class CallPlayer {
  struct Request {
    MPI_Request handle = MPI_REQUEST_NULL;
    bool has_ended     = false; ///< needed since a persistent request's handle does not show it
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

  /** Returns the handles of the requests by number; MPI_REQUEST_NULL for -1. */
  std::vector<MPI_Request> handles(const std::vector<int>& numbers) const;
  /** Repeats @p call on the requests @p numbers until those at the indices @p ended are complete; each @p call returns
   * the indices that it has completed. */
  template <class Call> void wait(const std::vector<int>& numbers, const std::vector<int>& ended, Call&& call);

private:
  bool is_open(int number) const;
  void take_back(const std::vector<int>& numbers, const std::vector<MPI_Request>& handles,
                 const std::vector<int>& ended);
};

} // namespace weft::replay
