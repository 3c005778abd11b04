/* Message granularity: paper 000, section 4, with its actor at every switch of a communicator's tree.
 *
 * Each tree switch of a communicator has an actor on the switch's host, with one ingress mailbox. The actor pre-posts a
 * receive for every message that it combines; each rank sends its request (rank, communicator size, element count and
 * size, reply mailbox) with its data to the first switch on its way; when all are there the actor sleeps the processing
 * latency and sends one such message on to the next switch. At the root the reduction is done, and the result goes back
 * through the reply mailboxes, to all children at once at each switch. Store and forward: on a quiet star a call of S
 * bytes lasts overhead + up + S/B + processing + S/B + down.
 *
 * SMPI replaces S4U's copy callback by one that copies bytes: a receiver gets the first eight bytes of the object that
 * was put. So what is put is a struct whose first member is its own address.
 */
#include "simgrid/offload.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

template <class T> class Addressed {
  T* self_    = static_cast<T*>(this);
  Addressed() = default;
  friend T;
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

std::string ingress_name(const Communicator& communicator, int position)
{
  return mailbox_name(communicator, "ingress" + std::to_string(position));
}

/** One tree switch of one communicator: serves one call after the other until the communicator is freed. */
class ServingSwitch {
  Simulation& simulation_;
  const Communicator& communicator_;
  int position_; // in the tree
  const TreeSwitch& node_;
  Aggregation& aggregation_;
  std::vector<Request*> requests_;
  std::vector<sg::CommPtr> replies_;

public:
  ServingSwitch(Simulation& simulation, const Communicator& communicator, int position)
      : simulation_(simulation), communicator_(communicator), position_(position),
        node_(communicator.tree->switches[static_cast<std::size_t>(position)]),
        aggregation_(simulation.switches[static_cast<std::size_t>(node_.index)]),
        requests_(static_cast<std::size_t>(node_.contributions))
  {
  }

  [[noreturn]] void serve()
  {
    while (true) {
      collect();
      const double start       = sg::Engine::get_clock();
      MessageAggregation& call = *requests_.front()->call;
      aggregation_.begin(call.message);
      sg::this_actor::sleep_for(aggregation_.model().processing_latency.value());
      if (node_.parent < 0)
        call.contributions.reduce(call.arguments);
      else
        ask_parent(call);
      distribute(call);
      aggregation_.end(call.message, node_.contributions);
      simulation_.record.add_event({node_.index, communicator_.id, "allreduce", communicator_.size(),
                                    call.message.value(), start, sg::Engine::get_clock()});
    }
  }

private:
  void collect()
  {
    sg::Mailbox* ingress = sg::Mailbox::by_name(ingress_name(communicator_, position_));
    std::vector<sg::CommPtr> receives;
    receives.reserve(requests_.size());
    for (Request*& request : requests_)
      receives.push_back(ingress->get_async<Request>(&request));
    for (const sg::CommPtr& receive : receives)
      receive->wait();
  }

  void ask_parent(MessageAggregation& call)
  {
    Request request;
    request.communicator_size = communicator_.size();
    request.element_count     = call.arguments.count;
    request.reply_mailbox     = mailbox_name(communicator_, "partial" + std::to_string(position_));
    request.call              = &call;
    sg::Mailbox* reply        = sg::Mailbox::by_name(request.reply_mailbox);
    sg::Mailbox::by_name(ingress_name(communicator_, node_.parent))
        ->put(&request, static_cast<std::uint64_t>(call.message.value()));
    reply->get<Reply>();
    // A result that passes through is forwarded like any packet, as ReductionTree::down counts it.
    sg::this_actor::sleep_for(aggregation_.model().forwarding_latency.value());
  }

  void distribute(MessageAggregation& call)
  {
    replies_.clear(); // those of the call before: all have arrived, or this one could not be complete
    for (const Request* request : requests_)
      replies_.push_back(sg::Mailbox::by_name(request->reply_mailbox)
                             ->put_async(&call.reply, static_cast<std::uint64_t>(call.message.value())));
  }
};

/** Start the actors of a communicator's tree at its first offloaded call. */
void ensure_served(Simulation& simulation, const Communicator& communicator)
{
  if (communicator.served)
    return;
  communicator.served = true;
  for (int position = 0; std::cmp_less(position, communicator.tree->switches.size()); ++position) {
    const int index = communicator.tree->switches[static_cast<std::size_t>(position)].index;
    communicator.servers.emplace_back(simulation.network->switch_host(index)
                                          ->add_actor(mailbox_name(communicator, "switch" + std::to_string(position)),
                                                      [&simulation, &communicator, position] {
                                                        ServingSwitch(simulation, communicator, position).serve();
                                                      })
                                          ->daemonize());
  }
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
  sg::Mailbox::by_name(ingress_name(communicator, communicator.tree->entry[static_cast<std::size_t>(rank)]))
      ->put(&request, static_cast<std::uint64_t>(message.value()));
  reply->get<Reply>()->call->contributions.copy_result(arguments);
}

} // namespace weft
