// SPDX-License-Identifier: LGPL-2.1-only
/* Waiting for requests of weft's transport, for direct calls and long lists. */
#pragma once

#include "binding/observe/profile.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/ranks/current.hpp"

#include <smpi/smpi.h>

#include <span>

namespace weft {

/** Returns whether all active requests are weft's or complete, so that SMPI need not wait for any. */
bool are_plain(std::span<const MPI_Request> requests);
/** Waits for plain requests like MPI_Waitall. Returns MPI_SUCCESS or MPI_ERR_IN_STATUS. */
int wait_for_plain(std::span<MPI_Request> requests, MPI_Status* statuses);
/** Waits for an active request of pooled_request() like MPI_Wait. Returns MPI_SUCCESS or MPI_ERR_TRUNCATE. */
int wait_for_pooled(MPI_Request* request, MPI_Status* status);

/** Scope in which the MPI library of the current rank progresses while it waits. Messages may complete when the scope
 * begins. */
class Attendance {
  bool begins_ = OwnMessages::get()->by_calls() && Profile::get().begin_attending(current_actor());

public:
  Attendance()                             = default;
  Attendance(const Attendance&)            = delete;
  Attendance& operator=(const Attendance&) = delete;
  ~Attendance()
  {
    if (begins_)
      Profile::get().end_attending(current_actor());
  }
};

} // namespace weft
