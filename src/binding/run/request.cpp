// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/request.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/tunings.hpp"
#include "binding/tuning/request_numbers.hpp"

#include <algorithm>
#include <array>
#include <simgrid/simcall.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Queues for reuse, since named queues live as long as the engine. */
std::vector<sg::MessageQueue*>& idle_queues()
{
  static std::vector<sg::MessageQueue*> queues;
  return queues;
}

sg::MessageQueue* borrow_queue()
{
  static int made = 0;
  if (idle_queues().empty())
    return sg::MessageQueue::by_name("weft.request-" + std::to_string(made++));
  sg::MessageQueue* queue = idle_queues().back();
  idle_queues().pop_back();
  return queue;
}

/** Tags of the requests of non-blocking collectives: COLL_TAG_… of SMPI's src/smpi/include/private.hpp, minus one
 * (src/smpi/colls/smpi_nbc_impl.cpp). Unlisted collectives have the empty request's tag, COLL_TAG_BCAST. */
consteval auto collective_tags()
{
  constexpr int COLL_TAG_BCAST = -3334;
  constexpr std::array TAGS{
      std::pair{std::string_view("reduce"), -113},     std::pair{std::string_view("scatter"), -224},
      std::pair{std::string_view("scatterv"), -335},   std::pair{std::string_view("gather"), -446},
      std::pair{std::string_view("allgather"), -557},  std::pair{std::string_view("allgatherv"), -668},
      std::pair{std::string_view("barrier"), -779},    std::pair{std::string_view("reduce_scatter"), -890},
      std::pair{std::string_view("alltoallv"), -1001}, std::pair{std::string_view("alltoall"), -1113},
      std::pair{std::string_view("gatherv"), -2224},   std::pair{std::string_view("bcast"), -3335},
      std::pair{std::string_view("allreduce"), -4446}};
  std::array<int, COLLECTIVE_KINDS.size()> by_kind{};
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
    by_kind[kind] = COLL_TAG_BCAST;
    for (const auto& [name, tag] : TAGS)
      if (name == COLLECTIVE_KINDS[kind].name)
        by_kind[kind] = tag;
  }
  return by_kind;
}

int tag_of(const CollectiveKind& collective)
{
  static constexpr auto TAGS = collective_tags();
  return TAGS[static_cast<std::size_t>(&collective - COLLECTIVE_KINDS.data())];
}

struct WithoutActivity {
  MPI_Request request;
  std::shared_ptr<RequestSignal> signal;
};

/** Requests of an actor. */
struct OwnRequests {
  std::vector<WithoutActivity> without_activity;
  /// Completed request in its initial state, reused by the next call: creating and freeing an SMPI request takes as
  /// long as an offloaded call. Storage for several made the rows longer and calls slower.
  MPI_Request spare = MPI_REQUEST_NULL;
};

ActorMap<OwnRequests>& requests_by_actor()
{
  static ActorMap<OwnRequests> all;
  return all;
}

/** Returns the current actor's requests, created if absent. */
OwnRequests& own_requests()
{
  return requests_by_actor()[current_actor()];
}

/** Returns the current actor's requests; null if it has had none. */
OwnRequests* known_requests()
{
  return requests_by_actor().find(current_actor());
}

} // namespace

RequestSignal::~RequestSignal()
{
  if (queue_)
    idle_queues().push_back(queue_);
}

// Creates SMPI's own Ibcast of no data on MPI_COMM_SELF.
MPI_Request RequestSignal::empty_request()
{
  static const auto THEIRS = original(&simgrid::smpi::colls::ibcast);
  MPI_Request request      = MPI_REQUEST_NULL;
  THEIRS(nullptr, 0, MPI_BYTE, 0, MPI_COMM_SELF, &request, 0);
  const auto& layout     = simgrid::smpi::layout_of(request);
  const bool is_expected = layout.type == MPI_BYTE && layout.size == 0 && layout.source == 0 &&
                           layout.destination == 0 && layout.comm == MPI_COMM_SELF && not layout.action &&
                           layout.flags == simgrid::smpi::NONBLOCKING_COLLECTIVE_FLAGS && layout.references == 1 &&
                           layout.op == MPI_REPLACE && layout.parts.empty();
  simgrid::smpi::require_layout(is_expected);
  return request;
}

MPI_Request RequestSignal::make_request(const std::shared_ptr<RequestSignal>& signal, const CollectiveKind& collective)
{
  OwnRequests& own    = own_requests();
  MPI_Request request = std::exchange(own.spare, MPI_REQUEST_NULL);
  if (request == MPI_REQUEST_NULL)
    request = empty_request();
  simgrid::smpi::fields_of(request).tag       = tag_of(collective);
  simgrid::smpi::fields_of(request).real_size = 0; // file accesses set the bytes in the status
  if (calls_are_direct())
    own.without_activity.push_back({request, signal});
  else
    signal->make_activity(request);
  return request;
}

// A message between queues takes no time in SimGrid and can be waited for, tested, and waited for among others.
void RequestSignal::make_activity(MPI_Request request)
{
  queue_                                   = borrow_queue();
  const sg::MessPtr message                = queue_->get_async();
  simgrid::smpi::fields_of(request).action = message->get_impl();
  message_                                 = message;
  if (end_.over()) // the call may have ended while other ranks ran
    put();
}

void RequestSignal::put()
{
  static int nothing = 0;
  // Hold a reference so that the count never reaches zero.
  if (sg::this_actor::is_maestro()) [[maybe_unused]]
    static const auto* const KERNEL = new sg::ActorPtr(sg::Actor::self());
  queue_->put_init(&nothing)->detach(); // starts the message
}

void RequestSignal::fire()
{
  simgrid::kernel::actor::simcall_answered([this] {
    end_.wake();
    if (message_)
      put();
  });
}

void RequestSignal::make_activities()
{
  OwnRequests* const own = known_requests();
  if (not own || own->without_activity.empty())
    return;
  for (const WithoutActivity& one : std::exchange(own->without_activity, {}))
    one.signal->make_activity(one.request);
}

bool RequestSignal::wait_for(MPI_Request request)
{
  OwnRequests* const own = known_requests();
  if (not own)
    return false;
  std::vector<WithoutActivity>& requests = own->without_activity;
  const auto found                       = std::ranges::find(requests, request, &WithoutActivity::request);
  if (found == requests.end())
    return false;
  const std::shared_ptr<RequestSignal> signal = std::move(found->signal);
  requests.erase(found);
  signal->end_.sleep(SleepsIn::wait);
  return true;
}

bool RequestSignal::wait_for_all(std::span<const MPI_Request> requests)
{
  const OwnRequests* const own = known_requests();
  if (not own || own->without_activity.empty())
    return false;
  const auto is_ours = [&ours = own->without_activity](MPI_Request request) {
    return request == MPI_REQUEST_NULL || std::ranges::find(ours, request, &WithoutActivity::request) != ours.end();
  };
  if (not std::ranges::all_of(requests, is_ours))
    return false;
  for (MPI_Request request : requests)
    wait_for(request);
  return true;
}

bool RequestSignal::put_aside(MPI_Request& request, MPI_Status* status)
{
  if (request == MPI_REQUEST_NULL)
    return status == MPI_STATUS_IGNORE;
  MPI_Request& spare = own_requests().spare;
  if (spare != MPI_REQUEST_NULL || has_number(request))
    return false;
  if (status != MPI_STATUS_IGNORE) {
    *status = {.MPI_SOURCE = MPI_UNDEFINED, // the rank of actor 0 in MPI_COMM_SELF
               .MPI_TAG    = simgrid::smpi::layout_of(request).tag,
               .MPI_ERROR  = MPI_SUCCESS,
               .count      = 0,
               .cancelled  = 0};
    set_status_bytes(*status, static_cast<std::int64_t>(simgrid::smpi::layout_of(request).real_size));
  }
  spare = std::exchange(request, MPI_REQUEST_NULL);
  return true;
}

void RequestSignal::free_spare()
{
  OwnRequests* const own = known_requests();
  if (own && own->spare != MPI_REQUEST_NULL)
    simgrid::smpi::Request::unref(&own->spare);
}

} // namespace weft
