// SPDX-License-Identifier: LGPL-2.1-only
/* Message granularity: Belbeisi et al. (CF '26), section 4, with its actor at each switch of a
 * communicator's tree.
 *
 * Each tree switch of a communicator has an actor on the switch's host, with one ingress mailbox.
 * The actor pre-posts a receive for every message that it combines. Each member sends its request
 * (with its reply mailbox) and its data to the first switch on its path. Once all have arrived,
 * the actor sleeps for the processing latency and sends one message of the same kind to the next
 * switch. At the root the call is complete, and the results return through the reply mailboxes,
 * from each switch to all children at once. This is store-and-forward: on a quiet star, an
 * Allreduce of S bytes lasts overhead + up + S/B + processing + S/B + down. Sizes up and down are
 * those of traffic.hpp; messages without payload are sent too.
 *
 * SMPI replaces S4U's copy callback by one that copies bytes: a receiver gets the first eight
 * bytes of the object that was put. So the object is a struct whose first member is its own
 * address.
 */
#include "binding/mechanisms/message/message.hpp"

#include "base/error.hpp"
#include "binding/abi/versions.hpp"
#include "binding/mechanisms/tree_mechanism.hpp"
#include "binding/mechanisms/tree_offload.hpp"
#include "binding/platform/flow_result.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

template <class T> class Addressed {
  T* self_    = static_cast<T*>(this);
  Addressed() = default;
  friend T;
};

class MessageCall;

/** Tree of a communicator with the actors of its switches. */
struct ServedTree {
  std::shared_ptr<const CommunicatorTree> tree;
  std::size_t number;                        ///< index among the communicator's trees
  std::int64_t calls                = 0;     ///< calls started over this tree
  bool has_servers                  = false; ///< true once its switches have actors
  std::vector<sg::ActorPtr> servers = {};

  const std::vector<TreeSwitch>& switches() const { return tree->tree->switches; }
};

/** State of the mechanism at a communicator: one served tree for each epoch of the fabric in which
 *  it made calls. */
struct MessageState : CommunicatorState {
  std::deque<ServedTree> trees;
  std::vector<int> nic_position; ///< by member: position among the members that share its NIC

  explicit MessageState(const Communicator& communicator);
  ServedTree& served(const std::shared_ptr<const CommunicatorTree>& tree);
  void release() override;
};

MessageState::MessageState(const Communicator& communicator)
{
  std::map<VertexId, int> members_at;
  for (const std::vector<int>& ranks : communicator.member_ranks)
    nic_position.push_back(members_at[communicator.rank_hosts[static_cast<std::size_t>(ranks.front())]]++);
}

void MessageState::release()
{
  for (ServedTree& tree : trees)
    for (const sg::ActorPtr& server : std::exchange(tree.servers, {})) // their closures hold the communicator
      server->kill();
}

ServedTree& MessageState::served(const std::shared_ptr<const CommunicatorTree>& tree)
{
  if (trees.empty() || trees.back().tree != tree)
    trees.push_back({tree, trees.size()});
  return trees.back();
}

MessageState& message_state(Communicator& communicator)
{
  return communicator.state<MessageState>([&] { return std::make_unique<MessageState>(communicator); });
}

struct Request : Addressed<Request> {
  MemberRange below; ///< members that it represents
  sg::Mailbox* reply_mailbox = nullptr;
  MessageCall* call          = nullptr;
};

struct Reply : Addressed<Reply> {};

std::string mailbox_name(const Communicator& communicator, const ServedTree& tree, const std::string& end)
{
  const std::string later = tree.number == 0 ? "" : ".tree" + std::to_string(tree.number);
  return "weft.channel" + std::to_string(communicator.handle) + later + "." + end;
}

sg::Mailbox* ingress(const Communicator& communicator, const ServedTree& tree, int position)
{
  return sg::Mailbox::by_name(mailbox_name(communicator, tree, "ingress" + std::to_string(position)));
}

/** Mailbox for one reply. A program may have several calls in flight, whose replies reach a rank in
 *  any order, so each has its own mailbox. Mailboxes live as long as the engine, and are reused. */
class ReplyMailbox {
  sg::Mailbox* mailbox_;

  static std::vector<sg::Mailbox*>& idle()
  {
    static std::vector<sg::Mailbox*> mailboxes;
    return mailboxes;
  }

  static sg::Mailbox* borrow()
  {
    static int made = 0;
    if (idle().empty())
      return sg::Mailbox::by_name("weft.reply" + std::to_string(made++));
    sg::Mailbox* mailbox = idle().back();
    idle().pop_back();
    return mailbox;
  }

public:
  ReplyMailbox() : mailbox_(borrow()) {}
  ReplyMailbox(const ReplyMailbox&)            = delete;
  ReplyMailbox& operator=(const ReplyMailbox&) = delete;
  ~ReplyMailbox() { idle().push_back(mailbox_); }
  sg::Mailbox* operator->() const { return mailbox_; }
  sg::Mailbox* get() const { return mailbox_; }
};

class MessageCall : public TreeOffload {
  MessageState& messages_;
  ServedTree& served_;
  Traffic traffic_;
  std::int64_t number_;                         // index among the tree's calls
  std::vector<sg::SemaphorePtr> members_ready_; // by member

public:
  Reply reply;

  MessageCall(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : TreeOffload(context, communicator, call), messages_(message_state(*communicator)),
        served_(messages_.served(kept_tree_)), traffic_(tree_, call_), number_(served_.calls++)
  {
    for (int member = 0; member < communicator->members(); ++member)
      members_ready_.push_back(sg::Semaphore::create(0));
  }

  std::int64_t number() const { return number_; }
  const TreeCall& tree_call() const { return call_; }
  std::string collective() const { return descriptor_->name(); }
  Bytes vector() const { return call_.movement.combines ? call_.message : Bytes(); }
  Bytes up(const MemberRange& below, const SwitchModel& model) const
  {
    return traffic_.loads(model, below, 1).up.payload;
  }
  Bytes down(const MemberRange& below, const SwitchModel& model) const
  {
    return traffic_.loads(model, below, 1).down.payload;
  }

  void send_contribution(int rank) override;

private:
  void ensure_served();

protected:
  void member_ready(int member) override { members_ready_[static_cast<std::size_t>(member)]->release(); }
  bool must_send_contribution(int rank) const override { return communicator_->speaks(rank); }
};

/** Returns true once @p reply has ended, whether it arrived or failed. If test() finds it complete,
 *  SimGrid keeps it for the sender's lifetime, among the activities to cancel with the sender. Only
 *  wait(), which takes no time here, releases it. */
bool has_ended(const sg::CommPtr& reply)
{
  if (result_of(*reply, {}).arrived())
    return reply->wait(), true;
  return reply->test();
}

std::uint64_t simulated_size(Bytes bytes)
{
  return static_cast<std::uint64_t>(bytes.value());
}

/** Actor of one tree switch of one communicator: serves calls one after another until the
 *  communicator is freed. */
class ServingSwitch {
  RunContext& context_;
  const std::shared_ptr<Communicator> communicator_;
  const ServedTree& tree_;
  int position_;
  const TreeSwitch& node_;
  Aggregation& aggregation_;
  std::int64_t served_ = 0;
  std::map<std::int64_t, std::vector<Request*>> waiting_; // by number of their call
  std::vector<sg::CommPtr> replies_;

public:
  ServingSwitch(RunContext& context, std::shared_ptr<Communicator> communicator, TreeState& state,
                const ServedTree& tree, int position)
      : context_(context), communicator_(std::move(communicator)), tree_(tree), position_(position),
        node_(tree.switches()[static_cast<std::size_t>(position)]), aggregation_(state.aggregation(node_))
  {
  }

  [[noreturn]] void serve()
  {
    while (true) {
      const std::vector<Request*> requests = collect();
      const double start                   = sg::Engine::get_clock();
      MessageCall& call                    = *requests.front()->call;
      const auto kept = call.shared_from_this(); // the call's last member may finish before this switch does
      aggregation_.begin(call.vector());
      sg::this_actor::sleep_for(delay(call).value());
      if (node_.parent >= 0)
        ask_parent(call);
      const auto [reduced, multicast] = distribute(call, requests);
      aggregation_.end(call.vector(), reduced, multicast);
      context_.record.add_event({node_.index, communicator_->id, call.collective(), communicator_->size(),
                                 call.tree_call().message.value(), start, sg::Engine::get_clock()});
    }
  }

private:
  const SwitchModel& model() const { return aggregation_.model(); }

  Seconds delay(const MessageCall& call) const
  {
    return call.tree_call().movement.combines ? model().processing_latency : model().hop_latency();
  }

  /** Receives all requests of the next call; requests of later calls may arrive in between. */
  std::vector<Request*> collect()
  {
    const auto all                        = static_cast<std::size_t>(node_.contributions);
    const std::vector<Request*>& requests = waiting_[served_];
    while (requests.size() < all) {
      std::vector<Request*> received(all - requests.size());
      std::vector<sg::CommPtr> receives;
      receives.reserve(received.size());
      for (Request*& request : received)
        receives.push_back(ingress(*communicator_, tree_, position_)->get_async<Request>(&request));
      for (const sg::CommPtr& receive : receives)
        receive->wait();
      for (Request* request : received)
        waiting_[request->call->number()].push_back(request);
    }
    return std::move(waiting_.extract(served_++).mapped());
  }

  void ask_parent(MessageCall& call)
  {
    const ReplyMailbox partial;
    Request request;
    request.below         = node_.below;
    request.reply_mailbox = partial.get();
    request.call          = &call;
    ingress(*communicator_, tree_, node_.parent)->put(&request, simulated_size(call.up(node_.below, model())));
    partial->get<Reply>();
    // A result that only passes through on its way down is forwarded like any packet, as in
    // MemberDelays.
    const bool combined = call.tree_call().movement.combines_on_the_way_down();
    sg::this_actor::sleep_for((combined ? model().processing_latency : model().hop_latency()).value());
  }

  std::pair<Bytes, Bytes> distribute(MessageCall& call, const std::vector<Request*>& requests)
  {
    Bytes reduced;
    Bytes multicast;
    // Drops finished replies of earlier calls; others may be in flight, because ranks may start
    // further calls. Replies are not detached, because SMPI would free the object that it copies.
    std::erase_if(replies_, has_ended);
    for (const Request* request : requests) {
      const Bytes down = call.down(request->below, model());
      reduced += call.up(request->below, model());
      multicast += down;
      replies_.push_back(request->reply_mailbox->put_async(&call.reply, simulated_size(down)));
    }
    return {call.tree_call().movement.combines ? reduced : Bytes(), multicast};
  }
};

/** Starts the actors of the communicator's tree at the first call. */
void MessageCall::ensure_served()
{
  if (std::exchange(served_.has_servers, true))
    return;
  for (int position = 0; std::cmp_less(position, tree_.switches.size()); ++position) {
    sg::Host* host   = context_.network.switch_host(tree_.switches[static_cast<std::size_t>(position)].index);
    const auto serve = [&context = context_, communicator = communicator_, &state = state_, &tree = served_, position] {
      ServingSwitch(context, communicator, state, tree, position).serve();
    };
    served_.servers.emplace_back(
        add_actor(host, mailbox_name(*communicator_, served_, "switch" + std::to_string(position)), serve)
            ->daemonize());
  }
}

void MessageCall::send_contribution(int rank)
{
  if (not must_send_contribution(rank))
    return;
  ensure_served(); // yields to other ranks
  const int member = communicator_->member(rank);
  const auto at    = static_cast<std::size_t>(member);

  const ReplyMailbox reply_mailbox;
  Request request;
  request.below            = {tree_.place[at], tree_.place[at] + 1};
  request.reply_mailbox    = reply_mailbox.get();
  request.call             = this;
  Reply* received          = nullptr;
  const sg::CommPtr answer = reply_mailbox->get_async<Reply>(&received);
  members_ready_[at]->acquire();

  const NicModel& nic    = context_.fabric.nic();
  const auto before      = static_cast<double>(messages_.nic_position[at]);
  const Seconds overhead = nic.costs(call_.message).offload_overhead;
  const Seconds memory   = call_.copied > Bytes() ? nic.registration(call_.message) : Seconds();
  sg::this_actor::sleep_for((overhead + memory + nic.message_gap * before).value());

  const int entry          = tree_.entry[at];
  const int index          = tree_.switches[static_cast<std::size_t>(entry)].index;
  const SwitchModel& model = context_.fabric.switch_model(index);
  ingress(*communicator_, served_, entry)->put(&request, simulated_size(up(request.below, model)));
  answer->wait();
  if (call_.copied > Bytes())
    sg::this_actor::sleep_for((call_.copied / nic.part_copy_rate).value());
  member_done(member);
}

class Message : public TreeMechanism {
  bool needs_shared_memory(const CallDescriptor& /*call*/) const override { return true; }
  std::shared_ptr<OffloadedCall> make(const std::shared_ptr<Communicator>& communicator,
                                      const CallDescriptor& call) override
  {
    return std::make_shared<MessageCall>(context_, communicator, call);
  }

public:
  explicit Message(RunContext& context) : TreeMechanism(mechanism_kind("message"), context) {}

  /** With privatization by mmap, SimGrid takes every actor for an MPI rank and crashes on the
   *  switches' actors. */
  void check(const std::string& /*platform*/, int /*ranks*/) const override
  {
    if (simgrid::config::get_value<std::string>("smpi/privatization") == "mmap")
      throw UserError(
          "smpi/privatization: found \"mmap\", which cannot be combined with offload granularity \"message\";"
          " take \"dlopen\", or granularity \"stream\"");
  }
};

} // namespace

std::unique_ptr<Mechanism> make_message(RunContext& context)
{
  return std::make_unique<Message>(context);
}

} // namespace weft
