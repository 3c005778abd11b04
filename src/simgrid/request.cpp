// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/request.hpp"

#include "simgrid/original.hpp"
#include "simgrid/private_abi.hpp"

#include <array>
#include <optional>
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

} // namespace

// A message between queues is what takes no time in SimGrid and can be waited for, tested, and waited for among others.
RequestSignal::RequestSignal() : queue_(borrow_queue()), message_(queue_->get_async()) {}

RequestSignal::~RequestSignal()
{
  idle_queues().push_back(queue_);
}

MPI_Request RequestSignal::make_request(std::string_view collective) const
{
  MPI_Request request   = MPI_REQUEST_NULL;
  RequestLayout& layout = empty_request(request);
  layout.action         = message_->get_impl();
  layout.tag            = tag_of(collective).value_or(layout.tag);
  return request;
}

void RequestSignal::fire()
{
  static int nothing = 0;
  // SimGrid's kernel is an actor that others count references to, but whose owner does not: it must not come to zero.
  if (sg::this_actor::is_maestro()) [[maybe_unused]]
    static const auto* const KERNEL = new sg::ActorPtr(sg::Actor::self());
  queue_->put_init(&nothing)->detach(); // which starts it
}

} // namespace weft
