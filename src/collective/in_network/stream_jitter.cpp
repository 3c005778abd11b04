// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream_jitter.hpp"

#include <algorithm>
#include <vector>

namespace weft {
namespace {

/** Returns, by position, the sum over the links that a member's packets cross. */
template <class OfLink> std::vector<Seconds> by_place(const ReductionTree& tree, OfLink&& of_link)
{
  std::vector<Seconds> sums(tree.place.size() + 1); // each as the difference from the previous one
  for (const TreeSwitch& node : tree.switches)
    for (const TreeLink& link : node.links) {
      const Seconds more = of_link(link.up);
      sums[static_cast<std::size_t>(link.below.first)] += more;
      sums[static_cast<std::size_t>(link.below.last)] += more * -1;
    }
  for (std::size_t at = 1; at < sums.size(); ++at)
    sums[at] += sums[at - 1];
  return sums;
}

/** Returns the longest route latency, including jitter, of the members that send or receive. */
Seconds longest(const ReductionTree& tree, const TreeCall& call, Participants who, Seconds MemberDelays::* way,
                const std::vector<Seconds>& jitter)
{
  Seconds most;
  for (std::size_t member = 0; member < tree.ways.size(); ++member)
    if (who != Participants::root || std::cmp_equal(member, call.root))
      most = std::max(most, tree.ways[member].*way + jitter[static_cast<std::size_t>(tree.place[member])]);
  return most;
}

} // namespace

Seconds stream_jitter(const ReductionTree& tree, const TreeCall& call, const Jitter& jitter, std::uint32_t communicator,
                      std::uint32_t number)
{
  const auto up =
      by_place(tree, [&](LinkId link) { return jitter.on(link, {Crossing::Kind::up_the_tree, communicator, number}); });
  const auto down          = by_place(tree, [&](LinkId link) {
    return jitter.on(reverse(link), {Crossing::Kind::down_the_tree, communicator, number});
  });
  const Movement& movement = call.movement;
  const auto up_way        = movement.combines ? &MemberDelays::up_combined : &MemberDelays::up_forwarded;
  const auto down_way =
      movement.combines_on_the_way_down() ? &MemberDelays::down_combined : &MemberDelays::down_forwarded;
  const std::vector<Seconds> quiet(tree.place.size() + 1);
  return longest(tree, call, movement.senders, up_way, up) - longest(tree, call, movement.senders, up_way, quiet) +
         longest(tree, call, movement.receivers, down_way, down) -
         longest(tree, call, movement.receivers, down_way, quiet);
}

} // namespace weft
