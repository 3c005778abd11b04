// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/traffic/background_traffic.hpp"

#include "base/error.hpp"
#include "binding/run/run_context.hpp"
#include "binding/settings/settings.hpp"
#include "fabric/bisection.hpp"

#include <algorithm>
#include <optional>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

double clock_now()
{
  return sg::Engine::get_clock();
}

/** Poisson processes of messages. A sender has a limited number of messages in flight; others wait in their order. */
class PatternStream : public TrafficStream {
  struct Sender {
    std::uint32_t made = 0;
    std::uint32_t sent = 0;
    int in_flight      = 0;
    std::vector<double> since; // start of each message in flight; NOTHING: a free slot of the window
  };
  static constexpr double NOTHING = -1;
  TrafficSource source_;
  std::vector<Sender> senders_;

  void send(std::size_t number)
  {
    Sender& sender      = senders_[number];
    const auto place    = static_cast<std::size_t>(std::ranges::find(sender.since, NOTHING) - sender.since.begin());
    sender.since[place] = clock_now();
    ++sender.in_flight;
    all_.send(job_, source_.load().hosts[number], source_.destination(number, sender.sent++), source_.load().bytes,
              *this, number * static_cast<std::size_t>(table_.window) + place);
  }

  /** Frees the slot of @p message. Returns when the message was sent. */
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

  void schedule(std::size_t number)
  {
    all_.network().call_after(source_.gap(number, senders_[number].made), *this, number);
  }

public:
  PatternStream(BackgroundTraffic& all, TrafficTable table, TrafficLoad load)
      : TrafficStream(all, std::move(table)), source_(std::move(load)), senders_(source_.senders())
  {
    for (Sender& sender : senders_)
      sender.since.assign(static_cast<std::size_t>(table_.window), NOTHING);
  }

  void begin() override
  {
    for (std::size_t number = 0; number < senders_.size(); ++number)
      schedule(number);
  }

  /** @p number: of the sender whose next message is due; that plus the number of senders if one was given up. */
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
    count_failure();
    // Not at once: a network that fails within send() would recurse.
    all_.network().call_after(Seconds(), *this, senders_.size() + message / static_cast<std::size_t>(table_.window));
  }

  Json row() const override
  {
    Json row                 = TrafficStream::row();
    row["rate_per_host_Bps"] = source_.load().rate.value();
    std::int64_t waiting     = 0;
    for (const Sender& sender : senders_)
      waiting += sender.made - sender.sent;
    row["waiting_messages"] = waiting;
    return row;
  }
};

/** Schedule in GOAL. */
class GoalStream : public TrafficStream, public GoalPort {
  struct Sent {
    Bytes bytes;
    double since = 0;
  };
  std::optional<GoalExecution> execution_; // since the traffic has begun
  std::vector<Sent> sent_;                 // by operation
  std::int64_t rounds_ = 0;
  std::string failure_ = {}; // that has ended the schedule

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
  GoalStream(BackgroundTraffic& all, TrafficTable table)
      : TrafficStream(all, std::move(table)), sent_(operations_of(table_.goal))
  {
  }

  void begin() override { execution_.emplace(table_.goal, *this, all_.network().costs.eager_below).begin(); }
  void send(int from, int to, Bytes bytes, std::size_t operation) override
  {
    sent_[operation]  = {bytes, clock_now()};
    const auto& hosts = table_.load.hosts;
    all_.send(job_, hosts[static_cast<std::size_t>(from)], hosts[static_cast<std::size_t>(to)], bytes, *this,
              operation);
  }
  void compute(Seconds time, std::size_t operation) override { all_.network().call_after(time, *this, operation); }
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
    count_failure();
    if (failure_.empty())
      failure_ = why;
  }
  Json row() const override
  {
    Json row      = TrafficStream::row();
    row["rounds"] = rounds_;
    if (not failure_.empty()) {
      row["outcome"] = "network-failure";
      row["message"] = failure_;
    }
    return row;
  }
};

} // namespace

TrafficStream::TrafficStream(BackgroundTraffic& all, TrafficTable table)
    : all_(all), table_(std::move(table)), job_(all.next_job())
{
}

void TrafficStream::count_arrival(Bytes bytes, double since)
{
  ++messages_;
  bytes_ += bytes.value();
  time_ += clock_now() - since;
}

bool TrafficStream::is_over() const
{
  return all_.ended() || Seconds(clock_now()) >= table_.end;
}

Json TrafficStream::row() const
{
  Json row{{"name", table_.name},
           {"pattern", table_.pattern},
           {"hosts", table_.load.hosts.size()},
           {"messages", messages_},
           {"bytes", bytes_},
           {"mean_s", messages_ > 0 ? time_ / static_cast<double>(messages_) : 0}};
  if (given_up_ > 0)
    row["given_up_messages"] = given_up_;
  return row;
}

BackgroundTraffic::BackgroundTraffic(RunContext& context) : context_(context)
{
  double per_host = -1; // computed once: the maximum flow of a large fabric takes a while
  for (TrafficTable& table : read_traffic(settings().traffic)) {
    context.background_weights.push_back(table.weight);
    if (table.pattern == "goal") {
      streams_.push_back(std::make_unique<GoalStream>(*this, std::move(table)));
      continue;
    }
    if (per_host < 0)
      per_host = bisection_per_host(context.fabric).value();
    TrafficLoad load = table.load;
    load.rate        = BytesPerSecond(table.share * per_host);
    streams_.push_back(std::make_unique<PatternStream>(*this, std::move(table), std::move(load)));
  }
}

void BackgroundTraffic::serve(RunContext& context)
{
  if (settings().traffic.empty())
    return;
  if (const std::string& reason = need_of_simgrid_flows(); not reason.empty())
    throw UserError("--traffic: background traffic needs weft's own network, and " + reason + " (" +
                    option_for_simgrid_flows() + ")");
  auto* const traffic = new BackgroundTraffic(context); // lives as long as the process
  context.record_parts.push_back(traffic);
  context.at_last_exit.emplace_back([traffic] { traffic->end(); });
  // The network is known once the ranks have started. SMPI starts the simulation without the engine's signal.
  simgrid::kernel::timer::Timer::set(0, [traffic] { traffic->begin(); });
}

HostNetwork& BackgroundTraffic::network()
{
  return context_.host_network();
}

void BackgroundTraffic::begin()
{
  if (ended_)
    return;
  network().begin_background();
  for (std::size_t number = 0; number < streams_.size(); ++number)
    network().call_after(streams_[number]->table().start, *this, number);
}

void BackgroundTraffic::end()
{
  if (not std::exchange(ended_, true))
    network().end_background();
}

void BackgroundTraffic::send(int job, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver,
                             std::uint64_t number)
{
  constexpr std::uint64_t MESSAGES_PER_LOOK = 1024;
  if (++made_ % MESSAGES_PER_LOOK == 0)
    look();
  network().messages_of(job).send(from, to, bytes, UNKNOWN_PART, receiver, number);
}

/** Returns whether no rank can wake: SimGrid has no activity and no timer, and weft's network only background traffic.
 * Called while events happen, when the network has no timer. */
bool BackgroundTraffic::nothing_else_happens() const
{
  const auto& models = sg::Engine::get_instance()->get_all_models();
  return simgrid::kernel::timer::Timer::next() < 0 &&
         std::ranges::all_of(
             models, [](auto* model) { return model->get_started_action_set()->empty(); }) &&
         not context_.host_network().has_foreground();
}

/** Ends the traffic if nothing else has happened since the last look: a rank that was woken at the instant of that one
 * has run meanwhile. SimGrid then finds the deadlock. */
void BackgroundTraffic::look()
{
  if (std::exchange(was_idle_, nothing_else_happens()) && was_idle_)
    end();
}

void BackgroundTraffic::add_rows(Json& record) const
{
  Json& rows = record["traffic"] = Json::array();
  for (const auto& stream : streams_)
    rows.push_back(stream->row());
}

} // namespace weft
