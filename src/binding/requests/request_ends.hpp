// SPDX-License-Identifier: LGPL-2.1-only
/* Ends of requests of weft's transport: who is told of them, and failures. */
#pragma once

#include "binding/requests/message_waits.hpp"
#include "binding/run/request.hpp"
#include "binding/run/run_context.hpp"

#include <memory>
#include <smpi/smpi.h>
#include <string>
#include <unordered_map>

namespace weft {

class RequestEnds {
  RunContext& context_;
  MessageWaits& waits_;
  std::unordered_map<MPI_Request, std::shared_ptr<RequestSignal>>
      activities_;                                        // signals of requests that have an activity
  std::unordered_map<MPI_Request, std::string> failures_; // by request that has not been finished yet

  static void release(MPI_Request request);

public:
  RequestEnds(RunContext& context, MessageWaits& waits) : context_(context), waits_(waits) {}

  /** Completes a request. */
  void end(MPI_Request request);
  /** Notes why the message of a request has failed. */
  void fail(MPI_Request request, const std::string& why);
  /** Aborts the run if the message of a request has failed. */
  void check(MPI_Request request);
  /** Gives a pending request an activity, for SMPI to wait for and test. */
  void give_activity(MPI_Request request);
};

} // namespace weft
