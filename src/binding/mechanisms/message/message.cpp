// SPDX-License-Identifier: LGPL-2.1-only
/* Message granularity: Belbeisi et al. (CF '26), section 4; the switches are in collective/in_network/served_tree.hpp.
 *
 * This is store-and-forward: on a quiet star, an Allreduce of S bytes takes overhead + up + S/B + processing + S/B +
 * down. traffic.hpp defines the sizes up and down; messages without payload are sent too.
 *
 * Faults: senders retransmit lost data. A switch that goes down or loses its state interrupts all calls that its tree
 * has not completed. After a timeout they continue in order, repeated according to CallPolicy; calls that ranks make
 * meanwhile queue behind them. */
#include "binding/mechanisms/message/message.hpp"

#include "binding/mechanisms/tree_mechanism.hpp"
#include "binding/mechanisms/tree_offload.hpp"
#include "collective/in_network/served_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

class MessageCall;

/** Interrupted calls of a communicator that wait to continue, in order. */
class InterruptedCalls : public Due {
  std::vector<std::shared_ptr<MessageCall>> calls_;
  int timeouts_ = 0;

public:
  bool empty() const { return calls_.empty(); }
  void add(std::shared_ptr<MessageCall> call);
  void due(std::uint64_t what) override;
};

/** State of the mechanism on a communicator: the tree in service, and earlier ones with unfinished calls. */
struct MessageState : CommunicatorState {
  std::vector<std::shared_ptr<ServedTree>> trees;
  std::vector<int> nic_position; ///< by member: position among the members that share its NIC
  InterruptedCalls interrupted;

  explicit MessageState(const Communicator& communicator);
  std::shared_ptr<ServedTree> served(const TreeState& state, const std::shared_ptr<const CommunicatorTree>& tree);
};

MessageState::MessageState(const Communicator& communicator)
{
  std::map<VertexId, int> members_at;
  for (const std::vector<int>& ranks : communicator.member_ranks)
    nic_position.push_back(members_at[communicator.rank_hosts[static_cast<std::size_t>(ranks.front())]]++);
}

std::shared_ptr<ServedTree> MessageState::served(const TreeState& state,
                                                 const std::shared_ptr<const CommunicatorTree>& tree)
{
  std::erase_if(trees, [](const std::shared_ptr<ServedTree>& one) { return one->is_broken(); });
  const std::shared_ptr<const ReductionTree> its(tree, &*tree->tree);
  if (trees.empty() || trees.back()->tree() != its)
    trees.push_back(std::make_shared<ServedTree>(state.service(), its));
  return trees.back();
}

MessageState& message_state(Communicator& communicator)
{
  return communicator.state<MessageState>([&] { return std::make_unique<MessageState>(communicator); });
}

class MessageCall : public TreeOffload, public ServedCall, public Due {
  enum What : std::uint64_t { sends, has_copied };
  static constexpr unsigned WHAT_BITS = 1; // bits of an agenda entry; followed by bits of the attempt, and the member
  static constexpr unsigned ATTEMPTS  = 8;

  MessageState& messages_;
  std::shared_ptr<ServedTree> served_; // null while the call waits, and while the hosts repeat it
  std::optional<Traffic> traffic_;
  std::int64_t number_ = 0; // index among the tree's calls
  int ready_           = 0; // members that are ready
  int done_            = 0; // members that have finished

  // Only in runs with faults:
  enum class Part : std::uint8_t { absent, ready, done };
  std::vector<Part> parts_of_; // by member
  bool interrupted_ = false;
  bool on_hosts_    = false;
  unsigned attempt_ = 0;
  int pending_      = 0;                // results in flight and entries in the agenda
  int unsent_       = 0;                // results that its tree has yet to send
  double hit_       = 0;                // time of the last interruption
  double begun_     = 0;                // time at which its first member was ready
  std::shared_ptr<OffloadedCall> kept_; // itself, after its last member has finished

public:
  MessageCall(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : TreeOffload(context, communicator, call), messages_(message_state(*communicator))
  {
    begun_ = sg::Engine::get_clock();
    if (recovery())
      parts_of_.resize(static_cast<std::size_t>(communicator->members()));
    if (messages_.interrupted.empty())
      take_place();
  }
  ~MessageCall() override
  {
    if (served_)
      served_->remove(*this);
  }

  std::int64_t number() const override { return number_; }
  const TreeCall& tree_call() const override { return call_; }
  std::string collective() const override { return descriptor_->name(); }
  Loads loads(const MemberRange& below, const SwitchModel& model) const override
  {
    return traffic_->loads(model, below, 1);
  }
  void fail_with(const FlowResult& result) override { fail(result); }
  void expect_reply() override
  {
    --unsent_;
    ++pending_;
  }

  void replied(int member, const FlowResult& result) override
  {
    --pending_;
    if (is_done(member))
      release();
    else if (not result.arrived())
      fail(result);
    else if (recovery())
      accept(member);
    else
      take_result(member);
  }

  void due(std::uint64_t what) override
  {
    --pending_;
    const int member = static_cast<int>(what >> (WHAT_BITS + ATTEMPTS));
    if ((what & ((1U << WHAT_BITS) - 1)) == has_copied)
      end_member(member);
    else if (what == due_of(sends, member) && served_)
      send(member);
    else
      release();
  }

  void interrupt(const std::string& why) override
  {
    served_ = nullptr;
    unsent_ = 0;
    ++attempt_;
    if (kept_) { // it was being repeated although all its results were in flight
      release();
      return;
    }
    interrupted_ = true;
    hit_         = sg::Engine::get_clock();
    ++recovery()->broken;
    if (recovery()->policy == CallPolicy::abort)
      give_up(hit_, why);
    else
      messages_.interrupted.add(self());
  }

  /** Calls due() of @p calls after the timeout that follows @p others earlier ones. */
  void wait(InterruptedCalls& calls, int others)
  {
    context_.host_network().call_after(recovery()->model.timeout_after(others), calls, 0);
  }

  /** Continues, if possible, after @p timeouts timeouts. Returns false if the call must wait. */
  bool go_on(int timeouts)
  {
    if (done_ == communicator_->members()) // its results were in flight
      return true;
    const bool to_hosts = recovery()->policy == CallPolicy::hosts && (interrupted_ || not switches_are_up());
    switch (recovery()->after_timeout(
        timeouts, to_hosts, [this] { return find_tree(); }, [this] { return switches_are_up(); })) {
      case AfterTimeout::hosts:
        leave_to_hosts();
        return true;
      case AfterTimeout::again:
        start_again();
        return true;
      case AfterTimeout::give_up:
        give_up(hit_, "an offloaded " + collective() + " cannot go on: " + recovery()->model.timeouts());
        return true;
      case AfterTimeout::wait:
        break;
    }
    return false;
  }

protected:
  void member_ready(int member) override
  {
    if (ready_++ == 0) {
      context_.host_network().begin();
      begun_ = sg::Engine::get_clock();
      if (not served_ && not interrupted_)
        join_queue();
    }
    if (recovery())
      parts_of_[static_cast<std::size_t>(member)] = Part::ready;
    if (served_)
      prepare(member);
    else if (on_hosts_ && ready_ == communicator_->members())
      repeat_on_hosts(hit_, begun_);
  }

  void member_repeated(int member) override
  {
    if (not is_done(member))
      accept(member);
  }

private:
  std::shared_ptr<MessageCall> self() { return std::static_pointer_cast<MessageCall>(shared_from_this()); }
  std::uint64_t due_of(What what, int member) const
  {
    const std::uint64_t attempt = attempt_ & ((1U << ATTEMPTS) - 1);
    return (((static_cast<std::uint64_t>(member) << ATTEMPTS) | attempt) << WHAT_BITS) | what;
  }
  bool is_done(int member) const
  {
    return not parts_of_.empty() && parts_of_[static_cast<std::size_t>(member)] == Part::done;
  }

  void take_place()
  {
    served_ = messages_.served(state_, kept_tree_);
    traffic_.emplace(tree(), call_);
    number_ = served_->add(*this);
    unsent_ = communicator_->members();
  }

  /** Queues the call behind interrupted calls, if there are any. */
  void join_queue()
  {
    if (messages_.interrupted.empty())
      take_place();
    else
      messages_.interrupted.add(self());
  }

  void after(Seconds delay, What what, int member)
  {
    ++pending_;
    context_.host_network().call_after(delay, *this, due_of(what, member));
  }

  /** Makes the NIC of @p member prepare its contribution. */
  void prepare(int member)
  {
    const NicModel& nic    = context_.fabric.nic();
    const auto before      = static_cast<double>(messages_.nic_position[static_cast<std::size_t>(member)]);
    const Seconds overhead = nic.costs(call_.message).offload_overhead;
    const Seconds memory   = call_.copied > Bytes() ? nic.registration(call_.message) : Seconds();
    after(overhead + memory + nic.message_gap * before, sends, member);
  }

  void send(int member)
  {
    if (recovery() && not switches_are_up()) { // routing has not learnt of the failure yet
      served_->interrupt("a switch of its tree is down");
      return;
    }
    const auto at = static_cast<std::size_t>(member);
    const MemberRange itself{tree().place[at], tree().place[at] + 1};
    const int rank       = communicator_->member_ranks[at].front();
    ServingSwitch& entry = served_->at(tree().entry[at]);
    entry.request({this, itself, communicator_->rank_hosts[static_cast<std::size_t>(rank)],
                   loads(itself, entry.model()).up.payload, nullptr, member});
  }

  /** Accepts the first result of @p member. */
  void accept(int member)
  {
    parts_of_[static_cast<std::size_t>(member)] = Part::done;
    take_result(member);
  }

  void take_result(int member)
  {
    if (call_.copied > Bytes() && not on_hosts_)
      after(call_.copied / context_.fabric.nic().part_copy_rate, has_copied, member);
    else
      end_member(member);
  }

  void end_member(int member)
  {
    if (++done_ == communicator_->members()) {
      kept_ = shared_from_this();
      release();
    }
    member_done(member);
  }

  /** Lets the network delete the call once its last member has finished and none of its parts is pending. */
  void release()
  {
    if (not kept_ || pending_ > 0 || unsent_ > 0)
      return;
    if (served_)
      std::exchange(served_, nullptr)->remove(*this);
    context_.host_network().end(std::exchange(kept_, nullptr));
  }

  bool switches_are_up()
  {
    return std::ranges::all_of(tree().switches,
                               [this](const TreeSwitch& node) { return recovery()->actual.switch_is_up(node.index); });
  }

  void start_again()
  {
    if (std::exchange(interrupted_, false))
      count_restart(hit_, begun_);
    take_place();
    for (int member = 0; member < communicator_->members(); ++member)
      if (parts_of_[static_cast<std::size_t>(member)] != Part::absent)
        prepare(member);
  }

  void leave_to_hosts()
  {
    on_hosts_ = true;
    if (ready_ == communicator_->members())
      repeat_on_hosts(hit_, begun_);
  }
};

void InterruptedCalls::add(std::shared_ptr<MessageCall> call)
{
  if (calls_.empty()) {
    timeouts_ = 0;
    call->wait(*this, timeouts_);
  }
  calls_.push_back(std::move(call));
}

void InterruptedCalls::due(std::uint64_t /*what*/)
{
  ++timeouts_;
  const std::vector<std::shared_ptr<MessageCall>> all = std::exchange(calls_, {});
  // Later calls wait for earlier ones.
  const auto first = std::ranges::find_if_not(all, [this](const auto& call) { return call->go_on(timeouts_); });
  calls_.insert(calls_.begin(), first, all.end());
  if (first != all.end())
    (*first)->wait(*this, timeouts_);
}

class Message : public TreeMechanism {
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
