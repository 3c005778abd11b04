// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/walk.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

namespace weft {
namespace {

/** Message posted by one of its two ranks. */
struct Posted {
  Bytes bytes;
  Request request;
  int time; ///< send: round in which the message leaves; receive: round in which it was posted
};

struct Rank {
  Schedule schedule;
  std::vector<std::optional<int>> ends = {}; // by request: its end, if known
  int now                              = 0;
  std::size_t ended_requests           = 0; // number of leading requests that have completed ...
  int last_end                         = 0; // ... by this time
  int next_send                        = 0; // first round in which it can send
  bool started                         = false;
  bool ended                           = false;
};

class Walker {
  std::vector<Rank> ranks_;
  using Matching = std::tuple<int, int, int>; // from, to, tag
  std::map<Matching, std::deque<Posted>> sends_;
  std::map<Matching, std::deque<Posted>> receives_;
  Walk walk_;

public:
  Walker(int ranks, const std::function<Schedule(int)>& schedule)
  {
    for (int rank = 0; rank < ranks; ++rank)
      ranks_.push_back({schedule(rank)});
    walk_.ended.assign(ranks_.size(), -1);
    walk_.sums.resize(ranks_.size());
  }

  Walk run()
  {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < count(); ++rank)
        if (not at(rank).ended && end_of_step(at(rank))) {
          moved = true;
          resume(rank);
        }
    }
    check_all_received();
    std::ranges::stable_sort(walk_.messages, {},
                             [](const WalkedMessage& one) { return std::pair(one.round, one.from); });
    for (const WalkedMessage& one : walk_.messages)
      walk_.rounds = std::max(walk_.rounds, one.round + 1);
    return std::move(walk_);
  }

private:
  int count() const { return static_cast<int>(ranks_.size()); }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  /** Returns the end of the rank's current step, if it is known. */
  static std::optional<int> end_of_step(Rank& rank)
  {
    if (not rank.started)
      return rank.now;
    const Step& step = rank.schedule.step();
    if (step.kind == Step::Kind::wait || step.blocking)
      return rank.ends[static_cast<std::size_t>(step.request)];
    if (step.kind == Step::Kind::wait_any)
      return end_of_any(rank, *step.any);
    return step.kind == Step::Kind::wait_all ? end_of_all(rank) : rank.now;
  }

  /** Returns the end of the first request that is known to have completed. */
  static std::optional<int> end_of_any(const Rank& rank, AnyOf& any)
  {
    std::optional<int> first;
    for (const Request one : any.requests)
      if (const std::optional<int> end = rank.ends[static_cast<std::size_t>(one)];
          end && (not first || *end < *first)) {
        first     = end;
        any.ended = one;
      }
    return first;
  }

  static std::optional<int> end_of_all(Rank& rank)
  {
    for (; rank.ended_requests < rank.ends.size(); ++rank.ended_requests) {
      const std::optional<int> end = rank.ends[rank.ended_requests];
      if (not end)
        return std::nullopt;
      rank.last_end = std::max(rank.last_end, *end);
    }
    return std::max(rank.now, rank.last_end);
  }

  void resume(int number)
  {
    Rank& rank = at(number);
    while (const std::optional<int> end = end_of_step(rank)) {
      rank.now     = std::max(rank.now, *end);
      rank.started = true;
      if (not rank.schedule.next()) {
        rank.ended                                    = true;
        walk_.ended[static_cast<std::size_t>(number)] = rank.now;
        return;
      }
      take(number, rank.schedule.step());
    }
  }

  void take(int number, const Step& step)
  {
    Rank& rank = at(number);
    if (step.kind == Step::Kind::reduce)
      walk_.sums[static_cast<std::size_t>(number)] += step.bytes;
    if (step.kind != Step::Kind::send && step.kind != Step::Kind::receive)
      return;
    if (step.peer < 0 || step.peer >= count() || step.peer == number)
      throw std::logic_error("rank " + std::to_string(number) + " has a message with rank " +
                             std::to_string(step.peer));
    if (step.kind == Step::Kind::send) {
      const int round = std::max(rank.now, rank.next_send);
      rank.next_send  = round + 1;
      rank.ends.emplace_back(round + 1);
      walk_.messages.push_back({number, step.peer, step.bytes, round});
      sends_[{number, step.peer, step.tag}].push_back({step.bytes, step.request, round});
      match(number, step.peer, step.tag);
    } else {
      rank.ends.emplace_back();
      receives_[{step.peer, number, step.tag}].push_back({step.bytes, step.request, rank.now});
      match(step.peer, number, step.tag);
    }
  }

  void match(int from, int to, int tag)
  {
    std::deque<Posted>& sends    = sends_[{from, to, tag}];
    std::deque<Posted>& receives = receives_[{from, to, tag}];
    while (not sends.empty() && not receives.empty()) {
      if (sends.front().bytes != receives.front().bytes)
        throw std::logic_error("rank " + std::to_string(from) + " sends " + to_text(sends.front().bytes) + " to rank " +
                               std::to_string(to) + ", which expects " + to_text(receives.front().bytes));
      at(to).ends[static_cast<std::size_t>(receives.front().request)] =
          std::max(sends.front().time + 1, receives.front().time);
      sends.pop_front();
      receives.pop_front();
    }
  }

  void check_all_received() const
  {
    for (const auto* posted : {&sends_, &receives_})
      for (const auto& [ends, left] : *posted)
        if (not left.empty())
          throw std::logic_error(std::string(posted == &sends_ ? "nobody receives" : "nobody sends") +
                                 " a message from rank " + std::to_string(std::get<0>(ends)) + " to rank " +
                                 std::to_string(std::get<1>(ends)));
  }
};

} // namespace

Walk walk(int ranks, const std::function<Schedule(int rank)>& schedule)
{
  return Walker(ranks, schedule).run();
}

} // namespace weft
