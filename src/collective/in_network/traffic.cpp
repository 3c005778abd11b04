// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/traffic.hpp"

#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weft {
namespace {

Load whole_vectors(const SwitchModel& model, Bytes message, std::int64_t messages)
{
  const auto count        = static_cast<double>(messages);
  const PacketTrain train = packet_train(model, message);
  return {messages, message * count, train.wire * count, static_cast<double>(train.packets) * count};
}

Load empty_packets(const SwitchModel& model, std::int64_t messages)
{
  // One byte if packets have no overhead, since a message is never empty.
  const auto packets = static_cast<double>(messages);
  return {messages, Bytes(), std::max(Bytes(1), model.packet_overhead) * packets, packets};
}

/** Returns @p kept of a load, plus @p count vectors. */
Load with(const Load& load, double kept, const Load& vector, double count)
{
  return {std::max<std::int64_t>(load.messages, count > 0 ? 1 : 0), load.payload * kept + vector.payload * count,
          load.wire * kept + vector.wire * count, load.packets * kept + vector.packets * count};
}

/** Returns, by switch, the members behind each contribution: a single member, or all members below the next switch. */
std::vector<std::vector<MemberRange>> contributions_of(const ReductionTree& tree)
{
  std::vector<std::vector<MemberRange>> found(tree.switches.size());
  for (std::size_t member = 0; member < tree.place.size(); ++member)
    found[static_cast<std::size_t>(tree.entry[member])].push_back({tree.place[member], tree.place[member] + 1});
  for (const TreeSwitch& node : tree.switches)
    if (node.parent >= 0)
      found[static_cast<std::size_t>(node.parent)].push_back(node.below);
  for (std::vector<MemberRange>& its : found)
    std::ranges::sort(its, {}, &MemberRange::first);
  return found;
}

} // namespace

Movement movement_on_trees(const CallDescriptor& call, const NicModel& nic)
{
  const Movement movement = call.movement();
  return nic.scatters_whole_vectors() && movement == Movement::reduce_scatter ? Movement::allreduce : movement;
}

TreeCall tree_call(const CallDescriptor& call, const Members& members, const std::vector<double>& parts,
                   const NicModel& nic)
{
  const auto member_of = [&](std::size_t rank) { return members.of_rank[rank]; };
  TreeCall load{movement_on_trees(call, nic), call.vector(), -1, {}, {}};
  if (load.movement != call.movement())
    load.copied = Bytes(std::ranges::max(parts));
  if (call.root >= 0)
    load.root = member_of(static_cast<std::size_t>(call.root));
  if (load.movement.in_parts()) {
    load.parts.resize(members.ranks.size());
    for (std::size_t rank = 0; rank < members.of_rank.size(); ++rank)
      load.parts[static_cast<std::size_t>(member_of(rank))] += parts[rank];
  }
  return load;
}

TreeCall divided(TreeCall whole, int trees)
{
  whole.message = whole.message / static_cast<double>(trees);
  for (double& part : whole.parts)
    part /= trees;
  whole.trees = trees;
  return whole;
}

int trees_for(const TreeCall& whole, Bytes payload, int most)
{
  const Bytes largest = whole.parts.empty() ? whole.message : Bytes(std::ranges::max(whole.parts));
  return static_cast<int>(std::clamp(std::ceil(largest / payload), 1.0, static_cast<double>(most)));
}

Traffic::Traffic(const ReductionTree& tree, const TreeCall& call) : tree_(tree), call_(call)
{
  if (call.parts.empty())
    return;
  bytes_before_.resize(call.parts.size() + 1);
  for (std::size_t member = 0; member < call.parts.size(); ++member)
    bytes_before_[static_cast<std::size_t>(tree.place[member]) + 1] = call.parts[member];
  for (std::size_t place = 1; place < bytes_before_.size(); ++place)
    bytes_before_[place] += bytes_before_[place - 1];
  if (call.movement.in_blocks())
    contributions_ = contributions_of(tree);
}

Bytes Traffic::bytes(const MemberRange& below) const
{
  return Bytes(bytes_before_[static_cast<std::size_t>(below.last)] -
               bytes_before_[static_cast<std::size_t>(below.first)]);
}

double Traffic::packets(const SwitchModel& model, const MemberRange& below) const
{
  std::vector<double>& before = packets_before_[model.payload.value()];
  if (before.empty()) {
    before.resize(bytes_before_.size());
    for (std::size_t place = 1; place < before.size(); ++place)
      before[place] =
          before[place - 1] + std::ceil((bytes_before_[place] - bytes_before_[place - 1]) / model.payload.value());
  }
  return before[static_cast<std::size_t>(below.last)] - before[static_cast<std::size_t>(below.first)];
}

/** Every rank below sends a block to every rank that is not below, and receives one from it. */
Loads Traffic::in_blocks(const SwitchModel& model, const MemberRange& below) const
{
  const double ranks   = bytes_before_.back() / call_.message.value();
  const double inside  = bytes(below) / call_.message;
  const double blocks  = inside * (ranks - inside);
  const Bytes block    = call_.message / ranks;
  const double packets = blocks * std::ceil(block / model.payload);
  const Load each_way{1, block * blocks, block * blocks + model.packet_overhead * packets, packets};
  return {each_way, each_way};
}

Loads Traffic::in_parts(const SwitchModel& model, const MemberRange& below, std::int64_t messages) const
{
  const MemberRange all{0, static_cast<std::int64_t>(call_.parts.size())};
  const Bytes inside           = bytes(below);
  const double inside_packets  = packets(model, below);
  const auto count             = static_cast<double>(messages);
  const Bytes outside          = call_.message * count - inside;
  const double outside_packets = packets(model, all) * count - inside_packets;
  return {{messages, inside, inside + model.packet_overhead * inside_packets, inside_packets},
          {messages, outside, outside + model.packet_overhead * outside_packets, outside_packets}};
}

Loads Traffic::loads(const SwitchModel& model, const MemberRange& below, std::int64_t messages) const
{
  const Movement& movement = call_.movement;
  if (not movement.carries_data())
    return {empty_packets(model, messages), empty_packets(model, messages)};
  if (movement.in_blocks() && messages != 1)
    throw std::logic_error("an Alltoall's messages are told apart");
  if (movement.in_blocks())
    return in_blocks(model, below);
  if (movement.gives == Share::part)
    return in_parts(model, below, messages);
  if (movement.gets == Share::part) { // the mirror image
    const Loads gathered = in_parts(model, below, messages);
    return {gathered.down, gathered.up};
  }
  // With the root below, all messages but one belong to the opposite side.
  const bool root_below   = call_.root >= 0 && below.contains(tree_.place[static_cast<std::size_t>(call_.root)]);
  const std::int64_t to   = root_below ? 1 : 0;
  const std::int64_t away = root_below ? messages - 1 : messages;
  const auto up           = movement.senders == Participants::root     ? to
                            : movement.receivers == Participants::root ? away
                                                                       : messages;
  const auto down         = movement.receivers == Participants::root ? to
                            : movement.senders == Participants::root ? away
                                                                     : messages;
  return {whole_vectors(model, call_.message, up), whole_vectors(model, call_.message, down)};
}

Loads Traffic::loads(const SwitchModel& model, std::size_t position, const TreeLink& link) const
{
  if (not call_.movement.in_blocks() || link.messages == 1)
    return loads(model, link.below, link.messages);
  const std::vector<MemberRange>& all = contributions_[position];
  Loads sum;
  for (auto one = std::ranges::lower_bound(all, link.below.first, {}, &MemberRange::first);
       one != all.end() && one->last <= link.below.last; ++one) {
    const Load more = in_blocks(model, *one).up;
    sum.up          = {sum.up.messages + 1, sum.up.payload + more.payload, sum.up.wire + more.wire,
                       sum.up.packets + more.packets};
  }
  sum.down = sum.up;
  return sum;
}

Loads Traffic::with_passed_on(const SwitchModel& model, const TreeLink& link, const Loads& all) const
{
  const double on        = call_.passed_on;
  const Load vector      = whole_vectors(model, call_.message, 1);
  const auto members     = static_cast<double>(tree_.place.size());
  const auto below       = static_cast<double>(link.below.last - link.below.first);
  const bool server_here = link.below.contains(tree_.place[static_cast<std::size_t>(call_.server())]);
  if (not server_here)
    return {with(all.up, 1 - on, vector, on * below), all.down};
  // Members whose contributions no smart switch below this link has seen send them up, and the server receives them
  // down.
  const bool each    = link.messages == link.below.last - link.below.first;
  const double above = each ? below - 1 : 0;
  const double given = each ? members - 1 : members - below;
  if (call_.movement.receivers == Participants::root)
    return {with(all.up, 1 - on, vector, on * above), with(all.down, 1 - on, vector, on * given)};
  const double answered =
      each ? 1 - on / static_cast<double>(link.messages) : 1; // fraction of results for other members
  return {with(all.up, 1 - on, vector, on * (above + 1)), with(all.down, answered, vector, on * given)};
}

} // namespace weft
