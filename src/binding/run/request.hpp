// SPDX-License-Identifier: LGPL-2.1-only
/* weft's own MPI requests, of the kind that SMPI returns for non-blocking collectives: SMPI waits for them and tests
 * them, weft completes them. */
#pragma once

#include "binding/ranks/sleep.hpp"
#include "model/collective/collective_kind.hpp"

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <memory>
#include <span>

namespace weft {

/** Completion of a request; kept alive until the request is complete.
 *
 * While only MPI_Wait is called for a request, or MPI_Waitall for such requests alone, the rank simply sleeps. A
 * SimGrid activity, which can be tested and waited for among others, is created once another MPI function is called for
 * the rank's requests. */
class RequestSignal {
  Sleep end_;
  simgrid::s4u::MessageQueue* queue_ = nullptr; // set once there is an activity
  simgrid::s4u::MessPtr message_;

  void put();

public:
  RequestSignal()                                = default;
  RequestSignal(const RequestSignal&)            = delete;
  RequestSignal& operator=(const RequestSignal&) = delete;
  ~RequestSignal();

  /** Creates the request; called once, by the rank that owns it. SimGrid's trace identifies the collective by the
   * request's tag, so the request gets SMPI's tag. */
  static MPI_Request make_request(const std::shared_ptr<RequestSignal>& signal, const CollectiveKind& collective);
  /** Returns a request that is complete. */
  static MPI_Request empty_request();
  /** Gives @p request an activity that completes on fire(), for SMPI to wait for and test; called at most once. */
  void make_activity(MPI_Request request);
  /** Completes the request in no simulated time. Called from a rank, an actor or SimGrid's kernel. */
  void fire();

  /** Creates the activities of the current rank's requests, before SMPI examines any of them. */
  static void make_activities();
  /** Waits for @p request if it is a weft request without an activity, after which SMPI sees it as complete. @return
   * whether it is one */
  static bool wait_for(MPI_Request request);
  /** Waits for all @p requests, some of which may be MPI_REQUEST_NULL, if all others are of that kind; otherwise waits
   * for none. @return whether they are */
  static bool wait_for_all(std::span<const MPI_Request> requests);
  /** Finishes a @p request that wait_for() has waited for, like SMPI's MPI_Wait, but keeps it for the rank's next call
   * instead of freeing it. @return false if SMPI must do it, as for an MPI_REQUEST_NULL with a @p status */
  static bool put_aside(MPI_Request& request, MPI_Status* status);
  /** Frees the request kept by put_aside(), because the current rank makes no further calls. */
  static void free_spare();
};

} // namespace weft
