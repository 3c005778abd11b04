// SPDX-License-Identifier: LGPL-2.1-only
#include "traffic/traffic_stream.hpp"

#include "fabric/analysis/bisection.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/** Poisson processes of messages. A sender has a limited number of messages in flight; further messages wait in FIFO
 * order. */
class PatternStream : public TrafficStream {
  struct Sender {
    std::uint32_t made = 0;
    std::uint32_t sent = 0;
    int in_flight      = 0;
    std::vector<double> since; // start of each message in flight; NOTHING: a free slot
  };
  static constexpr double NOTHING = -1;
  TrafficSource source_;
  std::vector<Sender> senders_;

  void send(std::size_t number)
  {
    Sender& sender      = senders_[number];
    const auto place    = static_cast<std::size_t>(std::ranges::find(sender.since, NOTHING) - sender.since.begin());
    sender.since[place] = network_.now().value();
    ++sender.in_flight;
    TrafficStream::send(source_.load().hosts[number], source_.destination(number, sender.sent++), source_.load().bytes,
                        number * static_cast<std::size_t>(table_.window) + place);
  }

  /** Frees the slot of @p message. Returns the time at which the message was sent. */
  double free_slot(std::uint64_t message)
  {
    const auto window = static_cast<std::size_t>(table_.window);
    Sender& sender    = senders_[message / window];
    --sender.in_flight;
    return std::exchange(sender.since[message % window], NOTHING);
  }

  void send_waiting(std::size_t number)
  {
    const Sender& sender = senders_[number];
    if (sender.sent < sender.made && sender.in_flight < table_.window && not is_over())
      send(number);
  }

  void schedule(std::size_t number) { network_.call_after(source_.gap(number, senders_[number].made), *this, number); }

public:
  PatternStream(TrafficNetwork& network, TrafficTable table, int job, TrafficLoad load)
      : TrafficStream(network, std::move(table), job), source_(std::move(load)), senders_(source_.senders())
  {
    for (Sender& sender : senders_)
      sender.since.assign(static_cast<std::size_t>(table_.window), NOTHING);
  }

  void begin() override
  {
    for (std::size_t number = 0; number < senders_.size(); ++number)
      schedule(number);
  }

  /** @p number: the sender whose next message is due, plus the number of senders if a message was given up. */
  void due(std::uint64_t number) override
  {
    if (is_over())
      return;
    if (number >= senders_.size()) {
      send_waiting(number - senders_.size());
      return;
    }
    Sender& sender = senders_[number];
    ++sender.made;
    if (sender.in_flight < table_.window)
      send(number);
    schedule(number);
  }

  void arrived(std::uint64_t message) override
  {
    count_arrival(source_.load().bytes, free_slot(message));
    send_waiting(message / static_cast<std::size_t>(table_.window));
  }
  void failed(std::uint64_t message, const std::string& /*why*/) override
  {
    free_slot(message);
    ++counts_.given_up;
    // Deferred, since a network that fails within send() would recurse.
    network_.call_after(Seconds(), *this, senders_.size() + message / static_cast<std::size_t>(table_.window));
  }

  TrafficCounts counts() const override
  {
    TrafficCounts counts = counts_;
    counts.rate          = source_.load().rate;
    counts.waiting       = 0;
    for (const Sender& sender : senders_)
      *counts.waiting += sender.made - sender.sent;
    return counts;
  }
};

/** Schedule in GOAL. */
class GoalStream : public TrafficStream, public GoalPort {
  struct Sent {
    Bytes bytes;
    double since = 0;
  };
  std::optional<GoalExecution> execution_; // engaged once the traffic has begun
  std::vector<Sent> sent_;                 // by operation
  std::int64_t rounds_ = 0;
  std::string failure_ = {}; // reason why the schedule failed

  bool has_ended() const { return is_over() || not failure_.empty(); }

  static std::size_t operations_of(const GoalSchedule& schedule)
  {
    std::size_t count = 0;
    for (const auto& rank : schedule)
      count += rank.size();
    return count;
  }

  void continue_or_repeat()
  {
    if (not execution_->ended())
      return;
    ++rounds_;
    if (not table_.repeat || has_ended())
      return;
    execution_->begin();
  }

public:
  GoalStream(TrafficNetwork& network, TrafficTable table, int job)
      : TrafficStream(network, std::move(table), job), sent_(operations_of(table_.goal))
  {
  }

  void begin() override { execution_.emplace(table_.goal, *this, network_.eager_below()).begin(); }
  void send(int from, int to, Bytes bytes, std::size_t operation) override
  {
    sent_[operation]  = {bytes, network_.now().value()};
    const auto& hosts = table_.load.hosts;
    TrafficStream::send(hosts[static_cast<std::size_t>(from)], hosts[static_cast<std::size_t>(to)], bytes, operation);
  }
  void compute(Seconds time, std::size_t operation) override { network_.call_after(time, *this, operation); }
  void due(std::uint64_t operation) override
  {
    if (has_ended())
      return;
    execution_->computed(operation);
    continue_or_repeat();
  }
  void arrived(std::uint64_t operation) override
  {
    count_arrival(sent_[operation].bytes, sent_[operation].since);
    if (has_ended())
      return;
    execution_->arrived(operation);
    continue_or_repeat();
  }
  void failed(std::uint64_t /*operation*/, const std::string& why) override
  {
    ++counts_.given_up;
    if (failure_.empty())
      failure_ = why;
  }
  TrafficCounts counts() const override
  {
    TrafficCounts counts = counts_;
    counts.rounds        = rounds_;
    counts.failure       = failure_;
    return counts;
  }
};

} // namespace

TrafficStream::TrafficStream(TrafficNetwork& network, TrafficTable table, int job)
    : network_(network), table_(std::move(table)), job_(job)
{
}

void TrafficStream::send(VertexId from, VertexId to, Bytes bytes, std::uint64_t number)
{
  network_.send(job_, from, to, bytes, *this, number);
}

void TrafficStream::count_arrival(Bytes bytes, double since)
{
  ++counts_.messages;
  counts_.bytes += bytes.value();
  counts_.time_s += network_.now().value() - since;
}

bool TrafficStream::is_over() const
{
  return network_.ended() || network_.now() >= table_.end;
}

std::vector<std::unique_ptr<TrafficStream>> make_traffic(std::vector<TrafficTable> tables, const Fabric& fabric,
                                                         TrafficNetwork& network, int first_job)
{
  std::vector<std::unique_ptr<TrafficStream>> streams;
  double per_host = -1; // computed once: the maximum flow of a large fabric takes long
  for (TrafficTable& table : tables) {
    const int job = first_job - static_cast<int>(streams.size());
    if (table.pattern == "goal") {
      streams.push_back(std::make_unique<GoalStream>(network, std::move(table), job));
      continue;
    }
    if (per_host < 0)
      per_host = bisection_per_host(fabric).value();
    TrafficLoad load = table.load;
    load.rate        = BytesPerSecond(table.share * per_host);
    streams.push_back(std::make_unique<PatternStream>(network, std::move(table), job, std::move(load)));
  }
  return streams;
}

} // namespace weft
