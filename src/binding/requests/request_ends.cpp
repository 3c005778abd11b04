// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/request_ends.hpp"

#include "binding/abi/smpi/requests.hpp"
#include "binding/requests/poller.hpp"
#include "binding/requests/request_list.hpp"
#include "binding/run/diagnosis.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

/** Returns "rank 3", for example. */
std::string name_of_rank(aid_t actor)
{
  const sg::ActorPtr its = sg::Actor::by_pid(actor);
  const char* rank       = its ? its->get_property("rank") : nullptr;
  return rank ? "rank " + std::string(rank) : "a rank that has ended";
}

} // namespace

void RequestEnds::end(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  RequestLayout& fields = fields_of(request);
  fields.flags |= ENDED_FLAG;
  if (fields.action) {
    if (const auto found = activities_.find(request); found != activities_.end()) {
      const std::shared_ptr<RequestSignal> signal = std::move(found->second);
      activities_.erase(found);
      signal->fire();
    }
  }
  if ((fields.flags & LISTED_FLAG) != 0 && RequestList::note_end(request, owner_of(request)))
    fields.flags |= AWAITED_FLAG;
  if ((fields.flags & AWAITED_FLAG) != 0)
    waits_.end(request);
  wake_watchers(request);
  release(request);
}

/** Drops the transport's reference to a request. */
void RequestEnds::release(MPI_Request request)
{
  RequestLayout& fields = fields_of(request);
  if (fields.references > 1) {
    --fields.references;
    return;
  }
  // MPI_Request_free() was called, so finish_wait() will not be.
  if (fields.detached_sender != MPI_REQUEST_NULL && (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0)
    simgrid::smpi::Request::unref(&fields.detached_sender);
  simgrid::smpi::Request::unref(&request);
}

void RequestEnds::fail(MPI_Request request, const std::string& why)
{
  fields_of(request).flags |= simgrid::smpi::FAILED_FLAG;
  failures_[request] = why;
}

void RequestEnds::give_activity(MPI_Request request)
{
  if (layout_of(request).action || not simgrid::smpi::is_own_and_pending(request))
    return;
  const auto signal = std::make_shared<RequestSignal>();
  activities_.emplace(request, signal);
  signal->make_activity(request);
}

void RequestEnds::check(MPI_Request request)
{
  if ((layout_of(request).flags & simgrid::smpi::FAILED_FLAG) != 0)
    context_.abort("network-failure",
                   describe_broken_message(name_of_rank(sg::this_actor::get_pid()), failures_[request]));
}

} // namespace weft
