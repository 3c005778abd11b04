// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/request.hpp"

#include "simgrid/by_actor.hpp"
#include "simgrid/original.hpp"
#include "simgrid/private_abi.hpp"
#include "simgrid/settings.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <simgrid/simcall.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

/** Queues by name live as long as the engine: they are used again. */
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

/** COLL_TAG_… of SMPI's src/smpi/include/private.hpp, less one (src/smpi/colls/smpi_nbc_impl.cpp): what requests of
 *  non-blocking collectives have for a tag; nothing where it has no such. */
std::optional<int> tag_of(std::string_view collective)
{
  static constexpr std::array TAGS{
      std::pair{std::string_view("reduce"), -113},     std::pair{std::string_view("scatter"), -224},
      std::pair{std::string_view("scatterv"), -335},   std::pair{std::string_view("gather"), -446},
      std::pair{std::string_view("allgather"), -557},  std::pair{std::string_view("allgatherv"), -668},
      std::pair{std::string_view("barrier"), -779},    std::pair{std::string_view("reduce_scatter"), -890},
      std::pair{std::string_view("alltoallv"), -1001}, std::pair{std::string_view("alltoall"), -1113},
      std::pair{std::string_view("gatherv"), -2224},   std::pair{std::string_view("bcast"), -3335},
      std::pair{std::string_view("allreduce"), -4446}};
  for (const auto& [name, tag] : TAGS)
    if (name == collective)
      return tag;
  return std::nullopt;
}

/** A request without anything to wait for yet: SMPI's own Ibcast of nothing to nobody. */
RequestLayout& empty_request(MPI_Request& request)
{
  static const auto THEIRS = original(&simgrid::smpi::colls::ibcast);
  THEIRS(nullptr, 0, MPI_BYTE, 0, MPI_COMM_SELF, &request, 0);
  auto& layout     = *reinterpret_cast<RequestLayout*>(request);
  const bool known = layout.type == MPI_BYTE && layout.size == 0 && layout.source == 0 && layout.destination == 0 &&
                     layout.comm == MPI_COMM_SELF && not layout.action &&
                     layout.flags == simgrid::smpi::NONBLOCKING_COLLECTIVE_FLAGS;
  if (not known)
    throw std::logic_error("this SimGrid's MPI requests are not laid out as weft knows them; use SimGrid 4.1");
  return layout;
}

struct WithoutActivity {
  MPI_Request request;
  std::shared_ptr<RequestSignal> signal;
};

ByActor<std::vector<WithoutActivity>>& without_activity_by_actor()
{
  static ByActor<std::vector<WithoutActivity>> all;
  return all;
}

/** Whether the current actor has such. */
bool has_without_activity()
{
  const std::vector<WithoutActivity>* found = without_activity_by_actor().find(sg::this_actor::get_pid());
  return found && not found->empty();
}

/** Of the current actor. */
std::vector<WithoutActivity>& without_activity()
{
  return without_activity_by_actor()[sg::this_actor::get_pid()];
}

} // namespace

RequestSignal::~RequestSignal()
{
  if (queue_)
    idle_queues().push_back(queue_);
}

MPI_Request RequestSignal::make_request(const std::shared_ptr<RequestSignal>& signal, std::string_view collective)
{
  MPI_Request request   = MPI_REQUEST_NULL;
  RequestLayout& layout = empty_request(request);
  layout.tag            = tag_of(collective).value_or(layout.tag);
  if (smpi_only_checks())
    without_activity().push_back({request, signal});
  else
    signal->make_activity(request);
  return request;
}

// A message between queues is what takes no time in SimGrid and can be waited for, tested, and waited for among others.
void RequestSignal::make_activity(MPI_Request request)
{
  queue_                                            = borrow_queue();
  const sg::MessPtr message                         = queue_->get_async();
  reinterpret_cast<RequestLayout*>(request)->action = message->get_impl();
  message_                                          = message;
  if (end_.over()) // perhaps while others ran, just now
    put();
}

void RequestSignal::put()
{
  static int nothing = 0;
  // SimGrid's kernel is an actor that others count references to, but whose owner does not: it must not come to zero.
  if (sg::this_actor::is_maestro()) [[maybe_unused]]
    static const auto* const KERNEL = new sg::ActorPtr(sg::Actor::self());
  queue_->put_init(&nothing)->detach(); // which starts it
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
  if (not has_without_activity())
    return;
  for (const WithoutActivity& one : std::exchange(without_activity(), {}))
    one.signal->make_activity(one.request);
}

void RequestSignal::wait_for(MPI_Request request)
{
  if (not has_without_activity())
    return;
  std::vector<WithoutActivity>& requests = without_activity();
  const auto found                       = std::ranges::find(requests, request, &WithoutActivity::request);
  if (found == requests.end())
    return;
  const std::shared_ptr<RequestSignal> signal = std::move(found->signal);
  requests.erase(found);
  signal->end_.sleep();
}

bool RequestSignal::wait_for_all(std::span<const MPI_Request> requests)
{
  if (not has_without_activity())
    return false;
  const std::vector<WithoutActivity>& ours = without_activity();
  const auto is_ours                       = [&ours](MPI_Request request) {
    return request == MPI_REQUEST_NULL || std::ranges::find(ours, request, &WithoutActivity::request) != ours.end();
  };
  if (not std::ranges::all_of(requests, is_ours))
    return false;
  for (MPI_Request request : requests)
    wait_for(request);
  return true;
}

} // namespace weft
