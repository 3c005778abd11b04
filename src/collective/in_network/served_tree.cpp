// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/served_tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft {

ServingSwitch::ServingSwitch(ServedTree& tree, Aggregation& aggregation, const TreeSwitch& node, ServingSwitch* parent)
    : tree_(tree), node_(node), parent_(parent), aggregation_(aggregation),
      vertex_(tree.service.fabric.host_count() + node.index)
{
  collect();
}

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

void ServingSwitch::request(ServingRequest request)
{
  request.since = tree_.service.carrier.now();
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
    const ServingRequest& next = batch_.emplace_back(unmatched_.front());
    unmatched_.pop_front();
    tree_.expect();
    // The network keeps the call until its last member has ended. Two pointers fit into a std::function without
    // allocation, here and in reply().
    tree_.service.carrier.transfer(next.from, vertex_, next.bytes, tree_.service.world,
                                   [this, call = next.call](const FlowResult& result) { arrive(*call, result); });
  }
}

/** A message has arrived or failed. Posts receives for the messages that the next call still lacks. */
void ServingSwitch::arrive(ServedCall& call, const FlowResult& result)
{
  if (not tree_.serves())
    return;
  if (not result.arrived()) {
    call.fail_with(result);
    return;
  }
  if (--under_way_ > 0)
    return;
  for (const ServingRequest& request : batch_)
    arrived_[request.call->number()].push_back(request);
  batch_.clear();
  collect();
}

void ServingSwitch::serve()
{
  serving_               = std::move(arrived_.extract(served_++).mapped());
  start_                 = tree_.service.carrier.now();
  const ServedCall& call = *serving_.front().call;
  aggregation_.begin(call.vector());
  after(call.tree_call().movement.combines ? node_.combining : model().hop_latency(), processed);
}

void ServingSwitch::after(Seconds delay, What what)
{
  tree_.expect();
  tree_.service.carrier.call_after(delay, *this, what);
}

void ServingSwitch::due(std::uint64_t what)
{
  if (not tree_.serves())
    return;
  if (what == matches)
    match();
  else if (what == processed && parent_)
    ask_parent();
  else
    distribute();
}

void ServingSwitch::ask_parent()
{
  ServedCall& call = *serving_.front().call;
  parent_->request({&call, node_.below, vertex_, call.loads(node_.below, model()).up.payload, this, -1});
}

void ServingSwitch::replied(ServedCall& call, const FlowResult& result)
{
  if (not tree_.serves())
    return;
  if (not result.arrived()) {
    call.fail_with(result);
    return;
  }
  // A result that only passes through on its way down is forwarded like any packet, as in MemberDelays.
  const bool combined = call.tree_call().movement.combines_on_the_way_down();
  after(combined ? node_.combining : model().hop_latency(), passed_down);
}

void ServingSwitch::distribute()
{
  const ServedCall& call = *serving_.front().call;
  Bytes reduced;
  Bytes multicast;
  for (const ServingRequest& request : std::exchange(serving_, {})) {
    const Loads loads = call.loads(request.below, model());
    reduced += loads.up.payload;
    multicast += loads.down.payload;
    reply(request, loads.down.payload);
  }
  if (not call.tree_call().movement.combines)
    reduced = {};
  aggregation_.end(call.vector(), reduced, multicast);
  const std::string collective = call.collective();
  tree_.service.served(
      {node_.index, collective, call.tree_call().message, reduced, multicast, start_, tree_.service.carrier.now()});
  collect();
}

void ServingSwitch::reply(const ServingRequest& request, Bytes down)
{
  FlowEnd done;
  if (request.child) {
    tree_.expect();
    done = [child = request.child, call = request.call](const FlowResult& result) { child->replied(*call, result); };
  } else {
    request.call->expect_reply();
    done = [member = request.member, call = request.call](const FlowResult& result) { call->replied(member, result); };
  }
  tree_.service.carrier.transfer(vertex_, request.from, down, tree_.service.world, std::move(done));
}

void ServingSwitch::abandon()
{
  if (not serving_.empty())
    aggregation_.abandon(serving_.front().call->vector());
}

ServedTree::ServedTree(TreeService its_service, std::shared_ptr<const ReductionTree> tree)
    : tree_(std::move(tree)), service(std::move(its_service))
{
  for (const TreeSwitch& node : tree_->switches) // parents before their children
    switches_.emplace_back(*this, service.aggregation(node), node, node.parent < 0 ? nullptr : &at(node.parent));
  if (service.recovery)
    service.recovery->running.push_back(this);
}

ServedTree::~ServedTree()
{
  if (service.recovery)
    service.recovery->end(*this);
}

std::int64_t ServedTree::add(ServedCall& call)
{
  if (service.recovery)
    calls_.push_back(&call);
  return started_++;
}

void ServedTree::remove(const ServedCall& call)
{
  std::erase(calls_, &call);
}

void ServedTree::lose_state(int device)
{
  const auto is_it = [device](const TreeSwitch& node) { return node.index == device; };
  if (std::ranges::any_of(tree_->switches, is_it))
    interrupt("switch " + service.fabric.topology().switch_name(device) + " has lost its state");
}

void ServedTree::interrupt(const std::string& why)
{
  broken_ = true;
  service.recovery->end(*this);
  for (ServingSwitch& its : switches_)
    its.abandon();
  if (expected_ > 0)
    kept_ = shared_from_this();
  for (ServedCall* const call : std::exchange(calls_, {}))
    call->interrupt(why);
}

bool ServedTree::serves()
{
  --expected_;
  if (not broken_)
    return true;
  if (expected_ == 0)
    kept_.reset();
  return false;
}

} // namespace weft
