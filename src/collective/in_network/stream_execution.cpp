// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream_execution.hpp"

#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {

double loss_probability(const ReductionTree& tree, const LinkLosses& losses)
{
  std::vector<int> links;
  for (const TreeSwitch& node : tree.switches)
    for (const TreeLink& link : node.links)
      links.insert(links.end(), {link.up, reverse(link.up)});
  return losses.lost(links);
}

Seconds mean_stall(const ReductionTree& tree, const CallRecovery& recovery)
{
  const double probability = recovery.losses.any() ? loss_probability(tree, recovery.losses) : 0;
  return recovery.model.timeout * (probability / (1 - probability));
}

/** Returns the part of a vector that each tree combines. */
Bytes StreamExecution::vector() const
{
  return call_.movement.combines ? call_.message / static_cast<double>(shares_.size()) : Bytes();
}

void StreamExecution::start(std::vector<Share> shares, double part, Seconds start)
{
  shares_ = std::move(shares);
  part_   = part;
  start_  = start;
  flows_  = 0;
  for (const Share& share : shares_)
    if (service_.carrier.trees())
      ++flows_;
    else
      for (const SwitchPlan& its : share.plan->switches)
        flows_ += static_cast<int>(its.flows.size());
  for (std::size_t number = 0; number < shares_.size(); ++number)
    start_share(number);
}

void StreamExecution::start_share(std::size_t number)
{
  const Share share = shares_[number]; // a copy: the last flow may end immediately
  for (const TreeSwitch& node : share.tree->switches)
    service_.aggregation(node).begin(vector(), share.passed_on);
  if (TreeNetwork* const trees = service_.carrier.trees()) {
    trees->start(*share.plan->packets, service_.carrier.now(), share.latency - share.plan->base_latency, service_.world,
                 [end = end_of_flow()] { end({}); });
    return;
  }
  for (const SwitchPlan& its : share.plan->switches)
    for (const StreamFlow& flow : its.flows)
      if (service_.recovery)
        start_breakable(flow, share);
      else
        service_.carrier.start_flow(flow, share.latency, share.tree->forwarding, service_.world, end_of_flow());
}

/** Returns the callback for the end of a flow, or of a share's packets. */
FlowEnd StreamExecution::end_of_flow()
{
  return owner_.when_arrived([this] {
    if (--flows_ == 0)
      finish();
  });
}

void StreamExecution::start_breakable(StreamFlow flow, const Share& share)
{
  const std::size_t at = numbers_.size();
  numbers_.push_back(ENDED);
  flow.wire = flow.wire * part_;
  for (FlowLink& its : flow.links)
    its.wire = its.wire * part_;
  numbers_[at] = service_.carrier.start_breakable_flow(flow, share.latency, share.tree->forwarding, service_.world,
                                                       owner_.when_arrived([this, at] {
                                                         numbers_[at] = ENDED;
                                                         if (--flows_ == 0)
                                                           await_last_packets();
                                                       }));
}

/** Waits until the last packet of every slot has been retransmitted until it arrives. */
void StreamExecution::await_last_packets()
{
  const int times = service_.recovery->losses.any() ? transmissions() : 1;
  if (times == 1) {
    finish();
    return;
  }
  kept_ = owner_.keep();
  ++events_;
  service_.carrier.call_after(service_.recovery->model.time_of(times - 1), *this, attempt_);
}

/** Draws the number of transmissions of the last packets: the probability of at most r is the product of (1 -
 * p^r)^slots over the trees. */
int StreamExecution::transmissions() const
{
  std::vector<std::pair<double, double>> trees; // probability of a loss, slots
  for (const Share& share : shares_) {
    double slots = 1;
    for (const TreeSwitch& node : share.tree->switches)
      if (const SwitchModel& model = service_.fabric.switch_model(node.index); not call_.streams_through(model))
        slots = std::max(slots, static_cast<double>(packet_train(model, call_.message).slots));
    trees.emplace_back(loss_probability(*share.tree, service_.recovery->losses), slots);
  }
  if (std::ranges::all_of(trees, [](const auto& its) { return its.first <= 0; }))
    return 1;
  const auto at_most = [&trees](int times) {
    double all = 1;
    for (const auto& [probability, slots] : trees)
      all *= std::pow(1 - std::pow(probability, times), slots);
    return all;
  };
  const double drawn = service_.recovery->losses.draw();
  int times          = 1;
  while (drawn >= at_most(times))
    ++times;
  return times;
}

void StreamExecution::finish()
{
  const Seconds now            = service_.carrier.now();
  const std::string collective = owner_.collective();
  const Bytes bytes            = call_.message / static_cast<double>(shares_.size());
  for (const Share& share : shares_)
    for (std::size_t position = 0; position < share.tree->switches.size(); ++position) {
      const SwitchPlan& its  = share.plan->switches[position];
      const TreeSwitch& node = share.tree->switches[position];
      service_.aggregation(node).end(vector(), its.reduced, its.multicast, share.passed_on);
      service_.served({node.index, collective, bytes, its.reduced, its.multicast, start_, now});
    }
  owner_.stream_ended();
}

void StreamExecution::due(std::uint64_t attempt)
{
  const auto self = kept_;
  if (--events_ == 0)
    kept_ = nullptr;
  if (attempt == attempt_) // otherwise another fault has hit it since
    finish();
}

double StreamExecution::stop(double left)
{
  for (const std::uint64_t number : std::exchange(numbers_, {}))
    if (number != ENDED)
      left = std::max(left, service_.carrier.cancel_flow(number));
  flows_ = 0;
  for (const Share& share : shares_)
    for (const TreeSwitch& node : share.tree->switches)
      service_.aggregation(node).abandon(vector(), share.passed_on);
  ++attempt_;
  return left;
}

bool StreamExecution::uses(int device) const
{
  return std::ranges::any_of(shares_, [device](const Share& share) {
    return std::ranges::any_of(share.tree->switches, [device](const TreeSwitch& node) { return node.index == device; });
  });
}

double StreamExecution::rest(double left) const
{
  double windows = 1; // windows in the vector
  for (const Share& share : shares_)
    for (const TreeSwitch& node : share.tree->switches)
      if (const Bytes window = service_.fabric.switch_model(node.index).window(); window > Bytes())
        windows = std::max(windows, vector() / window);
  return part_after_complete_windows(windows, part_ * left);
}

} // namespace weft
