// SPDX-License-Identifier: LGPL-2.1-only
/* Reduction tree whose switches serve the calls of a communicator one after another: Belbeisi et al. (CF '26), section
 * 4.
 *
 * A tree switch posts a receive for each message that its next call combines, and a message leaves its sender, a member
 * or a child switch, once a receive is posted for it. Receives are assigned in FIFO order and, at the same instant, in
 * the order of calls. Once all messages have arrived, the switch processes them and sends one message of the same kind
 * to its parent. The root completes the call, and each switch returns the results to all its children at once. */
#pragma once

#include "collective/in_network/traffic.hpp"
#include "collective/in_network/tree_service.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class ServedTree;
class ServingSwitch;

/** Call as the switches of its tree see it. */
class ServedCall {
public:
  ServedCall()                             = default;
  ServedCall(const ServedCall&)            = delete;
  ServedCall& operator=(const ServedCall&) = delete;
  virtual ~ServedCall()                    = default;

  /** Position among the calls over the tree. */
  virtual std::int64_t number() const                                           = 0;
  virtual std::string collective() const                                        = 0;
  virtual const TreeCall& tree_call() const                                     = 0;
  virtual Loads loads(const MemberRange& below, const SwitchModel& model) const = 0;
  /** Called when a switch sends the result of a member; replied() follows. */
  virtual void expect_reply() = 0;
  /** Called when the result of @p member has arrived at its host, or has failed. */
  virtual void replied(int member, const FlowResult& result) = 0;
  virtual void fail_with(const FlowResult& result)           = 0;
  /** Called when a switch of the tree has lost the state of the call. */
  virtual void interrupt(const std::string& why) = 0;

  Bytes vector() const { return tree_call().movement.combines ? tree_call().message : Bytes(); }
};

/** Message that a switch combines, from a member or a child switch. */
struct ServingRequest {
  ServedCall* call;
  MemberRange below;    ///< members that it represents
  VertexId from;        ///< vertex of its sender
  Bytes bytes;          ///< payload
  ServingSwitch* child; ///< sending switch; null if a member sends
  int member;           ///< sending member, if a member sends
  Seconds since = {};   ///< time since which it has waited for a receive
};

class ServingSwitch : public Due {
  enum What : std::uint64_t { matches, processed, passed_down };

  ServedTree& tree_;
  const TreeSwitch& node_;
  ServingSwitch* const parent_; // null at the root
  Aggregation& aggregation_;
  const VertexId vertex_;
  std::int64_t served_   = 0;            // number of calls served
  bool will_match_       = false;        // true if matching is scheduled for the end of this instant
  std::size_t posted_    = 0;            // unmatched posted receives
  std::size_t under_way_ = 0;            // receives whose message has not arrived, including posted_
  std::vector<ServingRequest> batch_;    // requests that have matched the posted receives
  std::deque<ServingRequest> unmatched_; // requests waiting for a receive
  std::map<std::int64_t, std::vector<ServingRequest>> arrived_; // by number of their call
  std::vector<ServingRequest> serving_;                         // requests of the call that is being served
  Seconds start_;                                               // start time of that call

  void collect();
  void match_soon();
  void match();
  void arrive(ServedCall& call, const FlowResult& result);
  void serve();
  void ask_parent();
  void distribute();
  void reply(const ServingRequest& request, Bytes down);
  void after(Seconds delay, What what);

public:
  ServingSwitch(ServedTree& tree, Aggregation& aggregation, const TreeSwitch& node, ServingSwitch* parent);

  const SwitchModel& model() const { return aggregation_.model(); }
  void request(ServingRequest request);
  /** Called when the parent's reply has arrived, or has failed. */
  void replied(ServedCall& call, const FlowResult& result);
  /** Abandons the call that is being served. */
  void abandon();
  void due(std::uint64_t what) override;
};

/** Tree of a communicator with its serving switches, until one of them loses its state. */
class ServedTree : public BreakableCall, public std::enable_shared_from_this<ServedTree> {
  const std::shared_ptr<const ReductionTree> tree_;
  std::deque<ServingSwitch> switches_; // in the tree's order
  std::vector<ServedCall*> calls_;     // unfinished calls in order; only in runs with faults
  std::int64_t started_  = 0;          // number of calls started
  std::int64_t expected_ = 0;          // callbacks yet to come
  bool broken_           = false;
  std::shared_ptr<ServedTree> kept_; // itself, while it is broken and callbacks are yet to come

public:
  const TreeService service;

  ServedTree(TreeService its_service, std::shared_ptr<const ReductionTree> tree);
  ~ServedTree() override;

  const std::shared_ptr<const ReductionTree>& tree() const { return tree_; }
  ServingSwitch& at(int position) { return switches_[static_cast<std::size_t>(position)]; }
  /** Adds a call, and returns its number. */
  std::int64_t add(ServedCall& call);
  void remove(const ServedCall& call);
  /** Returns whether a switch has lost its state, so that the tree no longer serves calls. */
  bool is_broken() const { return broken_; }
  void lose_state(int device) override;
  /** Interrupts all unfinished calls. */
  void interrupt(const std::string& why);

  /** Registers a callback that a switch of the tree will get. */
  void expect() { ++expected_; }
  /** Counts such a callback. Returns false if the tree is broken; the tree may then have been deleted. */
  bool serves();
};

} // namespace weft
