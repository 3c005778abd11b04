// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/tree_resends.hpp"

#include <iterator>

namespace weft {

bool TreeResends::any_next(Number member)
{
  std::deque<Number>& again = nodes_[member].again;
  while (not again.empty() && has_result(member, again.front()))
    again.pop_front();
  return not again.empty();
}

TreeResends::Number TreeResends::take_next(Number member)
{
  const Number packet = nodes_[member].again.front();
  nodes_[member].again.pop_front();
  return packet;
}

std::optional<double> TreeResends::sent(Number member, Number packet, double now)
{
  Node& its = nodes_[member];
  const Sent made{packet, now + its.factor * timeout_, its.factor};
  auto behind = its.unanswered.end();
  while (behind != its.unanswered.begin() && std::prev(behind)->deadline > made.deadline)
    --behind;
  its.unanswered.insert(behind, made);
  return its.timer ? std::nullopt : next_timer(member);
}

std::size_t TreeResends::expire(Number member, double now)
{
  Node& its           = nodes_[member];
  its.timer           = false;
  const double factor = its.factor;
  std::size_t number  = 0;
  while (not its.unanswered.empty() && its.unanswered.front().deadline <= now) {
    if (const Sent& late = its.unanswered.front(); not has_result(member, late.packet)) {
      its.again.push_back(late.packet);
      if (late.factor == factor) // it was sent after the last doubling
        its.factor = 2 * factor;
      ++number;
    }
    its.unanswered.pop_front();
  }
  return number;
}

std::optional<double> TreeResends::next_timer(Number member)
{
  Node& its = nodes_[member];
  while (not its.unanswered.empty() && has_result(member, its.unanswered.front().packet))
    its.unanswered.pop_front();
  its.timer = not its.unanswered.empty();
  return its.timer ? std::optional(its.unanswered.front().deadline) : std::nullopt;
}

} // namespace weft
