// SPDX-License-Identifier: LGPL-2.1-only
/* MPI requests of our own: of the kind that SMPI gives out for non-blocking collectives, waited for and tested by SMPI
 * itself, and complete when weft says so. */
#pragma once

#include "binding/ranks/sleep.hpp"
#include "model/collective/collective_kind.hpp"

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <memory>
#include <span>

namespace weft {

/** Says that a request is complete. To be kept until then.
 *
 * As long as nobody but MPI_Wait asks for a request, or MPI_Waitall for such requests alone, the rank just sleeps: an
 * activity of SimGrid's, which it can be tested by and waited for among others, is made when another function of MPI is
 * called for the rank's requests. */
class RequestSignal {
  Sleep end_;
  simgrid::s4u::MessageQueue* queue_ = nullptr; // once there is an activity
  simgrid::s4u::MessPtr message_;

  void put();
  void make_activity(MPI_Request request);

public:
  RequestSignal()                                = default;
  RequestSignal(const RequestSignal&)            = delete;
  RequestSignal& operator=(const RequestSignal&) = delete;
  ~RequestSignal();

  /** To be called once, by the rank that owns the request. SimGrid's trace knows the collective by the request's tag,
   *  which is the one that SMPI gives it. */
  static MPI_Request make_request(const std::shared_ptr<RequestSignal>& signal, const CollectiveKind& collective);
  /** The request is complete; takes no simulated time. From a rank, an actor or SimGrid's kernel. */
  void fire();

  /** Before SMPI looks at any of the current rank's requests. */
  static void make_activities();
  /** The current rank waits for @p request, if it is one of weft's that has no activity: then it is complete, for SMPI
   * to see. @return whether it is one. */
  static bool wait_for(MPI_Request request);
  /** The same of all @p requests, of which some may be MPI_REQUEST_NULL. @return whether all others are of that kind;
   *  where not, it waits for none. */
  static bool wait_for_all(std::span<const MPI_Request> requests);
  /** Do what SMPI's MPI_Wait does with a @p request for which the current rank has waited so; but in place of freeing
   *  it, keep it for the rank's next call. @return whether that could be: where not, it is for SMPI to do. So is an
   *  MPI_REQUEST_NULL that has a @p status. */
  static bool put_aside(MPI_Request& request, MPI_Status* status);
  /** Free what is kept so: the current rank makes no more. */
  static void free_spare();
};

} // namespace weft
