// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/rank_progress.hpp"

#include <algorithm>
#include <functional>

namespace weft {

ProgramOrder::ProgramOrder(const Program& program) : program_(program)
{
  const auto size = static_cast<WorkNumber>(program.size());
  if (program.in_order()) {
    streams_.resize(program.streams());
    place_.reserve(size);
    for (WorkNumber number = 0; number < size; ++number) {
      auto& stream = streams_[program[number].stream];
      place_.push_back(static_cast<std::uint32_t>(stream.size()));
      stream.push_back(number);
    }
    return;
  }
  open_.resize(size);
  first_follower_.assign(size + std::size_t{1}, 0);
  for (WorkNumber number = 0; number < size; ++number) {
    open_[number] = static_cast<std::uint32_t>(program.after(number).size());
    for (const WorkNumber before : program.after(number))
      ++first_follower_[before + std::size_t{1}];
  }
  for (WorkNumber number = 0; number < size; ++number)
    first_follower_[number + std::size_t{1}] += first_follower_[number];
  followers_.resize(first_follower_.back());
  std::vector<std::uint32_t> next(first_follower_.begin(), first_follower_.end() - 1);
  for (WorkNumber number = 0; number < size; ++number)
    for (const WorkNumber before : program.after(number))
      followers_[next[before]++] = number;
}

RankProgress::RankProgress(const ProgramOrder& order)
    : order_(&order), streams_(order.program().streams()), open_(order.open_), left_(order.program().size())
{
  for (WorkNumber number = 0; number < open_.size(); ++number)
    if (open_[number] == 0)
      make_ready(number);
}

bool RankProgress::has_ended(WorkNumber number) const
{
  return order_->place_[number] < streams_[order_->program()[number].stream].at;
}

void RankProgress::make_ready(WorkNumber number)
{
  auto& ready = streams_[order_->program()[number].stream].ready;
  ready.push_back(number);
  std::ranges::push_heap(ready, std::greater());
}

std::optional<WorkNumber> RankProgress::next_of(Stream& stream, std::uint32_t number) const
{
  if (order_->program().in_order()) {
    const auto& all = order_->streams_[number];
    if (stream.at == all.size())
      return std::nullopt;
    const WorkNumber next = all[stream.at];
    const auto ended      = [this](WorkNumber before) { return has_ended(before); };
    return std::ranges::all_of(order_->program().after(next), ended) ? std::optional(next) : std::nullopt;
  }
  if (stream.ready.empty())
    return std::nullopt;
  std::ranges::pop_heap(stream.ready, std::greater());
  const WorkNumber next = stream.ready.back();
  stream.ready.pop_back();
  return next;
}

std::optional<WorkNumber> RankProgress::begin_next()
{
  for (std::uint32_t number = 0; number < streams_.size(); ++number) {
    Stream& stream = streams_[number];
    if (stream.doing)
      continue;
    stream.doing = next_of(stream, number);
    if (stream.doing)
      return stream.doing;
  }
  return std::nullopt;
}

void RankProgress::end(WorkNumber number)
{
  Stream& stream = streams_[order_->program()[number].stream];
  stream.doing.reset();
  ++stream.at;
  --left_;
  if (order_->program().in_order())
    return;
  const std::uint32_t last = order_->first_follower_[number + std::size_t{1}];
  for (std::uint32_t at = order_->first_follower_[number]; at < last; ++at)
    if (--open_[order_->followers_[at]] == 0)
      make_ready(order_->followers_[at]);
}

std::vector<WorkNumber> RankProgress::current() const
{
  std::vector<WorkNumber> all;
  for (const Stream& stream : streams_)
    if (stream.doing)
      all.push_back(*stream.doing);
  return all;
}

} // namespace weft
