// SPDX-License-Identifier: LGPL-2.1-only
/* MPI requests of our own: of the kind that SMPI gives out for non-blocking collectives, waited for and tested by SMPI
 * itself, and complete when weft says so. */
#pragma once

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <string_view>

namespace weft {

/** Says that a request is complete. To be kept until then. */
class RequestSignal {
  simgrid::s4u::MessageQueue* queue_;
  simgrid::s4u::MessPtr message_;

public:
  RequestSignal();
  RequestSignal(const RequestSignal&)            = delete;
  RequestSignal& operator=(const RequestSignal&) = delete;
  ~RequestSignal();

  /** To be called once, by the rank that owns the request. SimGrid's trace knows the collective by the request's tag,
   *  which is the one that SMPI gives it. */
  MPI_Request make_request(std::string_view collective) const;
  /** The request is complete; takes no simulated time. From a rank, an actor or SimGrid's kernel. */
  void fire();
};

} // namespace weft
