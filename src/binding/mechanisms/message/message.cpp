// SPDX-License-Identifier: LGPL-2.1-only
/* Message granularity: Belbeisi et al. (CF '26), section 4.
 *
 * A tree switch of a communicator serves its calls one after another (ServingSwitch), in the order
 * in which the communicator makes them. It posts a receive for each message that its next call
 * combines, and a message leaves its sender, a member or a child switch, once a receive is posted
 * for it: first come, first served, and at one instant in the order of their calls. Once all have
 * arrived, the switch processes them and sends one message of the same kind to its parent. At the root the call is
 * complete, and the results return, from each switch to all children at once. This is store-and-forward: on a quiet
 * star, an Allreduce of S bytes lasts overhead + up + S/B + processing + S/B + down. Sizes up and down are those of
 * traffic.hpp; messages without payload are sent too.
 */
#include "binding/mechanisms/message/message.hpp"

#include "binding/mechanisms/tree_mechanism.hpp"
#include "binding/mechanisms/tree_offload.hpp"

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

class MessageCall;
class ServingSwitch;

/** Message that a switch combines, from a member or a child switch. */
struct Request {
  MessageCall* call;
  MemberRange below;    ///< members that it represents
  VertexId from;        ///< vertex of its sender
  Bytes bytes;          ///< payload
  ServingSwitch* child; ///< its sender; null if that is a member
  int member;           ///< its sender, if that is a member
  double since = 0;     ///< time from which it waits for a receive
};

/** Tree switch of one communicator: serves calls one after another until the communicator is freed. */
class ServingSwitch : public Due {
  enum What : std::uint64_t { matches, processed, passed_down };

  RunContext& context_;
  const Communicator& communicator_;
  const TreeSwitch& node_;
  ServingSwitch* const parent_; // null at the root
  Aggregation& aggregation_;
  const VertexId vertex_;
  std::int64_t served_   = 0;     // calls
  bool will_match_       = false; // at the end of this instant
  std::size_t posted_    = 0;     // receives that no request has matched
  std::size_t under_way_ = 0;     // receives whose message has not arrived, those of posted_ included
  std::vector<Request> batch_;    // requests that have matched the posted receives
  std::deque<Request> unmatched_; // requests that wait for a receive
  std::map<std::int64_t, std::vector<Request>> arrived_; // by number of their call
  std::vector<Request> serving_;                         // requests of the call that is being served
  double start_ = 0;                                     // of that call

public:
  ServingSwitch(RunContext& context, const Communicator& communicator, TreeState& state, const TreeSwitch& node,
                ServingSwitch* parent)
      : context_(context), communicator_(communicator), node_(node), parent_(parent),
        aggregation_(state.aggregation(node)), vertex_(context.fabric.host_count() + node.index)
  {
    collect();
  }

  const SwitchModel& model() const { return aggregation_.model(); }
  void request(Request request);
  /** The reply of the parent has arrived, or has failed to. */
  void replied(MessageCall& call, const FlowResult& result);
  void due(std::uint64_t what) override;

private:
  void collect();
  void match_soon();
  void match();
  void arrive(MessageCall& call, const FlowResult& result);
  void serve();
  void ask_parent();
  void distribute();
  void reply(const Request& request, Bytes down);
  void after(Seconds delay, What what);
};

/** Tree of a communicator with its serving switches. */
struct ServedTree {
  std::shared_ptr<const CommunicatorTree> tree;
  std::int64_t calls = 0;             ///< calls started over this tree
  std::deque<ServingSwitch> switches; ///< in the tree's order

  explicit ServedTree(std::shared_ptr<const CommunicatorTree> its_tree) : tree(std::move(its_tree)) {}
};

/** State of the mechanism at a communicator: one served tree for each epoch of the fabric in which
 *  it made calls. */
struct MessageState : CommunicatorState {
  std::deque<ServedTree> trees;
  std::vector<int> nic_position; ///< by member: position among the members that share its NIC

  explicit MessageState(const Communicator& communicator);
  ServedTree& served(RunContext& context, const Communicator& communicator, TreeState& state,
                     const std::shared_ptr<const CommunicatorTree>& tree);
};

MessageState::MessageState(const Communicator& communicator)
{
  std::map<VertexId, int> members_at;
  for (const std::vector<int>& ranks : communicator.member_ranks)
    nic_position.push_back(members_at[communicator.rank_hosts[static_cast<std::size_t>(ranks.front())]]++);
}

ServedTree& MessageState::served(RunContext& context, const Communicator& communicator, TreeState& state,
                                 const std::shared_ptr<const CommunicatorTree>& tree)
{
  if (not trees.empty() && trees.back().tree == tree)
    return trees.back();
  ServedTree& added = trees.emplace_back(tree);
  for (const TreeSwitch& node : tree->tree->switches) // parents before their children
    added.switches.emplace_back(context, communicator, state, node,
                                node.parent < 0 ? nullptr : &added.switches[static_cast<std::size_t>(node.parent)]);
  return added;
}

MessageState& message_state(Communicator& communicator)
{
  return communicator.state<MessageState>([&] { return std::make_unique<MessageState>(communicator); });
}

class MessageCall : public TreeOffload, public Due {
  enum What : std::uint64_t { sends, has_copied };
  static constexpr unsigned WHAT_BITS = 1; // of an entry in the agenda; the others are the member

  MessageState& messages_;
  ServedTree& served_;
  Traffic traffic_;
  std::int64_t number_; // index among the tree's calls
  int ready_ = 0;       // members
  int done_  = 0;       // members

public:
  MessageCall(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : TreeOffload(context, communicator, call), messages_(message_state(*communicator)),
        served_(messages_.served(context, *communicator, state_, kept_tree_)), traffic_(tree(), call_),
        number_(served_.calls++)
  {
  }

  std::int64_t number() const { return number_; }
  const TreeCall& tree_call() const { return call_; }
  std::string collective() const { return descriptor_->name(); }
  Bytes vector() const { return call_.movement.combines ? call_.message : Bytes(); }
  Loads loads(const MemberRange& below, const SwitchModel& model) const { return traffic_.loads(model, below, 1); }

  using TreeOffload::fail;

  /** The result of @p member has arrived at its host, or has failed to. */
  void replied(int member, const FlowResult& result)
  {
    if (not result.arrived())
      fail(result);
    else if (call_.copied > Bytes())
      after(call_.copied / context_.fabric.nic().part_copy_rate, has_copied, member);
    else
      end_member(member);
  }

  void due(std::uint64_t what) override
  {
    const int member = static_cast<int>(what >> WHAT_BITS);
    if ((what & ((1U << WHAT_BITS) - 1)) == sends)
      send(member);
    else
      end_member(member);
  }

protected:
  void member_ready(int member) override
  {
    if (ready_++ == 0)
      context_.host_network().begin();
    const NicModel& nic    = context_.fabric.nic();
    const auto before      = static_cast<double>(messages_.nic_position[static_cast<std::size_t>(member)]);
    const Seconds overhead = nic.costs(call_.message).offload_overhead;
    const Seconds memory   = call_.copied > Bytes() ? nic.registration(call_.message) : Seconds();
    after(overhead + memory + nic.message_gap * before, sends, member);
  }

private:
  void after(Seconds delay, What what, int member)
  {
    context_.host_network().call_after(delay, *this, (static_cast<std::uint64_t>(member) << WHAT_BITS) | what);
  }

  void send(int member)
  {
    const auto at = static_cast<std::size_t>(member);
    const MemberRange itself{tree().place[at], tree().place[at] + 1};
    const int rank       = communicator_->member_ranks[at].front();
    ServingSwitch& entry = served_.switches[static_cast<std::size_t>(tree().entry[at])];
    entry.request({this, itself, communicator_->rank_hosts[static_cast<std::size_t>(rank)],
                   loads(itself, entry.model()).up.payload, nullptr, member});
  }

  void end_member(int member)
  {
    if (++done_ == communicator_->members())
      context_.host_network().end(shared_from_this());
    member_done(member);
  }
};

/** Posts the receives of the next call. Requests of later calls may match them. */
void ServingSwitch::collect()
{
  const auto all            = static_cast<std::size_t>(node_.contributions);
  const std::size_t waiting = arrived_[served_].size();
  if (waiting == all) {
    serve();
    return;
  }
  posted_    = all - waiting;
  under_way_ = posted_;
  batch_.reserve(posted_);
  match_soon();
}

void ServingSwitch::request(Request request)
{
  request.since = sg::Engine::get_clock();
  auto place    = unmatched_.end();
  while (place != unmatched_.begin() && std::prev(place)->since == request.since &&
         std::prev(place)->call->number() > request.call->number())
    --place;
  unmatched_.insert(place, request);
  match_soon();
}

/** Matches requests and receives once all requests of this instant are known. */
void ServingSwitch::match_soon()
{
  if (posted_ == 0 || unmatched_.empty() || std::exchange(will_match_, true))
    return;
  after(Seconds(), matches);
}

void ServingSwitch::match()
{
  will_match_ = false;
  for (; posted_ > 0 && not unmatched_.empty(); --posted_) {
    const Request& next = batch_.emplace_back(unmatched_.front());
    unmatched_.pop_front();
    // The network keeps the call until its last member has ended. Two pointers fit into a
    // std::function without allocation, here and in reply().
    context_.host_network().transfer(next.from, vertex_, next.bytes, communicator_.world,
                                     [this, call = next.call](const FlowResult& result) { arrive(*call, result); });
  }
}

/** A message has arrived, or has failed to. Posts receives for those that the next call still lacks. */
void ServingSwitch::arrive(MessageCall& call, const FlowResult& result)
{
  if (not result.arrived()) {
    call.fail(result);
    return;
  }
  if (--under_way_ > 0)
    return;
  for (const Request& request : batch_)
    arrived_[request.call->number()].push_back(request);
  batch_.clear();
  collect();
}

void ServingSwitch::serve()
{
  serving_                = std::move(arrived_.extract(served_++).mapped());
  start_                  = sg::Engine::get_clock();
  const MessageCall& call = *serving_.front().call;
  aggregation_.begin(call.vector());
  after(call.tree_call().movement.combines ? model().processing_latency : model().hop_latency(), processed);
}

void ServingSwitch::after(Seconds delay, What what)
{
  context_.host_network().call_after(delay, *this, what);
}

void ServingSwitch::due(std::uint64_t what)
{
  if (what == matches)
    match();
  else if (what == processed && parent_)
    ask_parent();
  else
    distribute();
}

void ServingSwitch::ask_parent()
{
  MessageCall& call = *serving_.front().call;
  parent_->request({&call, node_.below, vertex_, call.loads(node_.below, model()).up.payload, this, -1});
}

void ServingSwitch::replied(MessageCall& call, const FlowResult& result)
{
  if (not result.arrived()) {
    call.fail(result);
    return;
  }
  // A result that only passes through on its way down is forwarded like any packet, as in MemberDelays.
  const bool combined = call.tree_call().movement.combines_on_the_way_down();
  after(combined ? model().processing_latency : model().hop_latency(), passed_down);
}

void ServingSwitch::distribute()
{
  const MessageCall& call = *serving_.front().call;
  Bytes reduced;
  Bytes multicast;
  for (const Request& request : serving_) {
    const Loads loads = call.loads(request.below, model());
    reduced += loads.up.payload;
    multicast += loads.down.payload;
    reply(request, loads.down.payload);
  }
  if (not call.tree_call().movement.combines)
    reduced = {};
  aggregation_.end(call.vector(), reduced, multicast);
  context_.record.count_on_switch(communicator_.world, node_.index, reduced, multicast);
  context_.record.add_event({node_.index, communicator_.id, call.collective(), communicator_.size(),
                             call.tree_call().message.value(), start_, sg::Engine::get_clock()});
  collect();
}

void ServingSwitch::reply(const Request& request, Bytes down)
{
  FlowEnd done;
  if (request.child)
    done = [child = request.child, call = request.call](const FlowResult& result) { child->replied(*call, result); };
  else
    done = [member = request.member, call = request.call](const FlowResult& result) { call->replied(member, result); };
  context_.host_network().transfer(vertex_, request.from, down, communicator_.world, std::move(done));
}

class Message : public TreeMechanism {
  bool needs_shared_memory(const CallDescriptor& call) const override { return not call.blocking; }
  std::shared_ptr<OffloadedCall> make(const std::shared_ptr<Communicator>& communicator,
                                      const CallDescriptor& call) override
  {
    return std::make_shared<MessageCall>(context_, communicator, call);
  }

public:
  explicit Message(RunContext& context) : TreeMechanism(mechanism_kind("message"), context) {}
};

} // namespace

std::unique_ptr<Mechanism> make_message(RunContext& context)
{
  return std::make_unique<Message>(context);
}

} // namespace weft
