/* Message granularity: paper 000, section 4.
 *
 * Each communicator that is offloaded has an actor on the switch's host, with one ingress mailbox. The actor pre-posts
 * a receive for every rank; each rank sends its request (rank, communicator size, element count and size, reply
 * mailbox) with its data; when all are there the actor reduces, sleeps the processing latency, and sends each rank the
 * result through its reply mailbox, all at once. Store and forward: on a quiet star a call of S bytes lasts
 * overhead + up + S/B + processing + S/B + down.
 *
 * SMPI replaces S4U's copy callback by one that copies bytes: a receiver gets the first eight bytes of the object that
 * was put. So what is put is a struct whose first member is its own address.
 */
#include "simgrid/offload.hpp"

#include <stdexcept>
#include <string>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

template <class T> struct Addressed {
  T* self = static_cast<T*>(this);
};

class MessageAggregation;

struct Request : Addressed<Request> {
  int rank              = 0;
  int communicator_size = 0;
  int element_count     = 0;
  int element_size      = 0;
  std::string reply_mailbox;
  MessageAggregation* call = nullptr;
};

struct Reply : Addressed<Reply> {
  MessageAggregation* call = nullptr;
};

class MessageAggregation : public OffloadedCall {
public:
  Contributions contributions;
  AggregationArguments arguments; // of any one rank: count, type and operation are everyone's
  Bytes message;
  Reply reply;

  MessageAggregation(int ranks, const AggregationArguments& its_arguments, Bytes its_message)
      : contributions(ranks, its_arguments), arguments(its_arguments), message(its_message)
  {
    reply.call = this;
  }
};

std::string mailbox_name(const Communicator& communicator, const std::string& end)
{
  return "weft.channel" + std::to_string(communicator.id) + "." + end;
}

/** The switch's side of one communicator: serves one call after the other until the simulation ends. */
void serve(Simulation& simulation, const Communicator& communicator, int switch_index)
{
  sg::Mailbox* ingress     = sg::Mailbox::by_name(mailbox_name(communicator, "ingress"));
  const int ranks          = communicator.size();
  Aggregation& aggregation = simulation.switches[static_cast<std::size_t>(switch_index)];
  const double processing  = aggregation.model().processing_latency.value();
  std::vector<Request*> requests(static_cast<std::size_t>(ranks));
  std::vector<sg::CommPtr> replies;
  while (true) {
    std::vector<sg::CommPtr> receives;
    for (Request*& request : requests)
      receives.push_back(ingress->get_async<Request>(&request));
    for (const sg::CommPtr& receive : receives)
      receive->wait();
    const double start       = sg::Engine::get_clock();
    MessageAggregation& call = *requests.front()->call;
    aggregation.begin(call.message);
    call.contributions.reduce(call.arguments);
    sg::this_actor::sleep_for(processing);
    replies.clear(); // those of the call before: all have arrived, or this one could not be complete
    for (const Request* request : requests)
      replies.push_back(sg::Mailbox::by_name(request->reply_mailbox)
                            ->put_async(&call.reply, static_cast<std::uint64_t>(call.message.value())));
    aggregation.end(call.message, ranks);
    simulation.record.add_event({switch_index, communicator.id, "allreduce", ranks, call.message.value(), start,
                                 sg::Engine::get_clock()});
  }
}

/** Start the switch's actor of a communicator at its first offloaded call. */
void ensure_served(Simulation& simulation, const Communicator& communicator)
{
  const std::string name = mailbox_name(communicator, "actor");
  if (communicator.served)
    return;
  communicator.served    = true;
  const int switch_index = communicator.tree->switches.front().index;
  simulation.zone->switch_host(switch_index)
      ->add_actor(name, [&simulation, &communicator, switch_index] { serve(simulation, communicator, switch_index); })
      ->daemonize();
}

} // namespace

void aggregate_as_messages(Simulation& simulation, const Communicator& communicator, int rank, PendingCall& call,
                           const AggregationArguments& arguments)
{
  int element_size = 0;
  PMPI_Type_size(arguments.datatype, &element_size);
  const Bytes message(static_cast<double>(arguments.count) * element_size);
  if (not call.offloaded)
    call.offloaded = std::make_shared<MessageAggregation>(communicator.size(), arguments, message);
  const auto aggregation = std::static_pointer_cast<MessageAggregation>(call.offloaded);
  aggregation->contributions.add(rank, arguments);
  ensure_served(simulation, communicator); // gives way to other ranks: the call must be complete before

  const NicModel& nic = simulation.fabric.nic();
  const auto before   = static_cast<double>(communicator.nic_position[static_cast<std::size_t>(rank)]);
  sg::this_actor::sleep_for((nic.offload_overhead + nic.message_gap * before).value());

  Request request;
  request.rank              = rank;
  request.communicator_size = communicator.size();
  request.element_count     = arguments.count;
  request.element_size      = element_size;
  request.reply_mailbox     = mailbox_name(communicator, "reply" + std::to_string(rank));
  request.call              = aggregation.get();
  sg::Mailbox* reply        = sg::Mailbox::by_name(request.reply_mailbox);
  sg::Mailbox::by_name(mailbox_name(communicator, "ingress"))
      ->put(&request, static_cast<std::uint64_t>(message.value()));
  reply->get<Reply>()->call->contributions.copy_result(arguments);
}

} // namespace weft
