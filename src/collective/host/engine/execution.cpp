// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/execution.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace weft {

namespace {

/** Returns the matching key of a message or receive: peer and tag. */
int matching(int peer, int tag)
{
  return peer * TAGS + tag;
}

constexpr std::uint64_t WORK = std::uint64_t{1} << 63U; // with a rank's number: an end of work, no message

} // namespace

MessageCosts costs_of(const std::optional<MpiModel>& mpi, const HostModel& host)
{
  const MpiModel model = mpi.value_or(MpiModel());
  const auto cost      = [&](Seconds (MpiModel::*time)(Bytes) const) {
    return [model, time, host](Bytes size, int from, int to) {
      return from == to ? host.message_time(size) : (model.*time)(size);
    };
  };
  return {model.eager_threshold,         mpi ? model.eager_threshold : Bytes(),
          cost(&MpiModel::send_time),    cost(&MpiModel::send_time),
          cost(&MpiModel::receive_time), host.reduction_rate,
          host.piece_overhead,           host,
          model.reduction_overhead};
}

void RankCallbacks::call_refused(const std::string& why)
{
  throw UserError(why);
}

Execution::Execution(Agenda& agenda, Messages& network, const MessageCosts& costs, std::vector<int> hosts,
                     std::function<Schedule(int rank)> schedule, RankCallbacks& on_end, std::shared_ptr<Memory> memory)
    : agenda_(agenda), network_(network), costs_(costs), memory_(std::move(memory)), hosts_(std::move(hosts)),
      schedule_(std::move(schedule)), on_end_(on_end)
{
  if (memory_ && not memory_->used_.empty()) {
    Memory::Used& used = memory_->used_.back();
    ranks_             = std::move(used.ranks);
    messages_          = std::move(used.messages);
    idle_              = std::move(used.idle);
    memory_->used_.pop_back();
  }
  if (ranks_.size() < hosts_.size())
    ranks_.resize(hosts_.size());
}

void Execution::Rank::forget()
{
  schedule.reset();
  doing   = Activity::stepping;
  awaited = -1;
  any     = nullptr;
  open    = 0;
  free_at = 0;
  first   = 0;
  reaped  = 0;
  requests.clear();
  receives.clear();
  sent.clear();
}

Execution::~Execution()
{
  if (not memory_)
    return;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    ranks_[rank].forget();
  messages_.clear();
  idle_.clear();
  memory_->used_.push_back({std::move(ranks_), std::move(messages_), std::move(idle_)});
}

void Execution::work_on(Bytes buffers)
{
  const HostModel& model = costs_.host;
  left_core_             = model.leaves_core(buffers);
  if (model.has_sockets())
    find_sockets();
  missed_.clear();
  missed_by_all_ = 1;
  if (model.cache_size <= Bytes())
    return;
  const auto left = [&](std::size_t ranks) {
    return std::max(0.0, 1 - model.cache_size / std::max(Bytes(1), buffers * static_cast<double>(ranks)));
  };
  missed_by_all_ = 0;
  if (left(hosts_.size()) <= 0) // fits even if all ranks were on one socket
    return;
  const std::vector<std::size_t> ranks = ranks_by_memory();
  if (left(std::ranges::max(ranks)) <= 0)
    return;
  missed_.reserve(hosts_.size());
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    missed_.push_back(left(ranks[memory_of(rank)]));
}

/** Finds the socket of each rank. */
void Execution::find_sockets()
{
  std::vector<int> placed(static_cast<std::size_t>(std::ranges::max(hosts_)) + 1); // by host
  sockets_.clear();
  for (int rank = 0; std::cmp_less(rank, hosts_.size()); ++rank) {
    const int index = placed[static_cast<std::size_t>(host(rank))]++;
    const int known = on_end_.socket(rank);
    sockets_.push_back(known < 0 ? costs_.host.socket(index) : known);
  }
}

/** Returns the index of the memory and caches that a rank uses. */
std::size_t Execution::memory_of(std::size_t rank) const
{
  const auto host = static_cast<std::size_t>(hosts_[rank]);
  return sockets_.empty()
             ? host
             : host * static_cast<std::size_t>(costs_.host.sockets) + static_cast<std::size_t>(sockets_[rank]);
}

/** Returns how many ranks use each memory. */
std::vector<std::size_t> Execution::ranks_by_memory() const
{
  const int sockets = sockets_.empty() ? 1 : costs_.host.sockets;
  std::vector<std::size_t> ranks(static_cast<std::size_t>((std::ranges::max(hosts_) + 1) * sockets));
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    ++ranks[memory_of(rank)];
  return ranks;
}

double Execution::missed(const Message& message) const
{
  return std::max(missed(message.from), missed(message.to));
}

/** Returns the time in which a rank copies or combines @p bytes of the call's buffers. */
Seconds Execution::work(int rank, Bytes bytes) const
{
  return bytes / costs_.reduction_rate + Seconds(bytes.value() * costs_.host.seconds_a_byte(left_core_, missed(rank)));
}

void Execution::enter(int rank, Seconds time)
{
  agenda_.add(time, *this, static_cast<std::uint64_t>(rank));
}

void Execution::due(std::uint64_t rank)
{
  const int number    = static_cast<int>(rank);
  Rank& its           = state(number);
  const Activity done = std::exchange(its.doing, Activity::stepping);
  if (not its.schedule)
    its.schedule.emplace(schedule_(number));
  if (done == Activity::posting && not post_send(number, its.schedule->step()))
    return;
  resume(number);
}

void Execution::resume(int number)
{
  Rank& rank = state(number);
  try {
    while (rank.schedule->next())
      if (not take(number, rank.schedule->step()))
        return;
  } catch (const UserError& problem) {
    on_end_.call_refused(problem.what());
    return;
  }
  rank.schedule.reset();
  on_end_.rank_ended(number);
}

/** Takes a step; returns true if it has ended. */
bool Execution::take(int number, const Step& step)
{
  switch (step.kind) {
    case Step::Kind::send: {
      const bool detached = step.bytes < costs_.detached_below;
      Seconds cost;
      if (step.is_flag())
        return post_send(number, step);
      if (not step.blocking)
        cost = costs_.send(step.bytes, host(number), host(step.peer));
      else if (detached || host(number) == host(step.peer))
        cost = costs_.blocking_send(step.bytes, host(number), host(step.peer));
      return spend(number, cost, Activity::posting) && post_send(number, step);
    }
    case Step::Kind::receive:
      return post_receive(number, step);
    case Step::Kind::wait:
      return wait_for(number, step.request);
    case Step::Kind::wait_all:
      return wait_for_all(number);
    case Step::Kind::wait_any:
      state(number).any = step.any;
      return wait_for_any(number);
    case Step::Kind::reduce:
      return begin_work(number, step.bytes, costs_.reduction_overhead);
    case Step::Kind::copy:
      return begin_work(number, step.bytes, Seconds());
    case Step::Kind::pack:
      return spend(number, costs_.piece_overhead * step.pieces, Activity::computing);
  }
  return true;
}

/** Lets the rank copy or combine @p bytes of the call's buffers after @p overhead; returns true if that takes no time.
 */
bool Execution::begin_work(int number, Bytes bytes, Seconds overhead)
{
  const HostModel& model = costs_.host;
  const Seconds alone    = overhead + work(number, bytes);
  if (sockets_.empty() || not model.shares_memory())
    return spend(number, alone, Activity::computing);
  const double load = model.load(bytes, std::max(0.0, left_core_ - missed(number)), missed(number));
  if (load <= 0)
    return spend(number, alone, Activity::computing);
  state(number).doing = Activity::computing;
  const Seconds time  = on_end_.with_os_noise(number, agenda_.now(), alone);
  network_.work({host(number), socket(number), load, time}, *this, WORK | static_cast<std::uint64_t>(number));
  return false;
}

/** Lets the rank work; returns true if that takes no time. */
bool Execution::spend(int number, Seconds work, Activity doing)
{
  return pass(number, on_end_.with_os_noise(number, agenda_.now(), work), doing);
}

/** Lets the rank wait for @p time; returns true if that is zero. */
bool Execution::pass(int number, Seconds time, Activity doing)
{
  if (time <= Seconds())
    return true;
  state(number).doing = doing;
  agenda_.add(agenda_.now() + time, *this, static_cast<std::uint64_t>(number));
  return false;
}

bool Execution::post_send(int number, const Step& step)
{
  const bool flag     = step.is_flag();
  const bool detached = flag || step.bytes < costs_.detached_below;
  const bool eager    = flag || step.bytes < costs_.eager_below;
  state(number).requests.push_back({0, detached, false});

  if (idle_.empty()) {
    idle_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t message = idle_.back();
  idle_.pop_back();
  messages_[message] = {number, step.peer, step.bytes.value(),   step.request, -1, detached, false,
                        false,  flag,      agenda_.now().value()};

  Rank& peer       = state(step.peer);
  const auto found = std::ranges::find(peer.receives, matching(number, step.tag), &Posted<weft::Request>::peer);
  if (found != peer.receives.end()) {
    messages_[message].receive = found->what;
    peer.receives.erase(found);
    if (eager)
      leave(message);
    else
      leave_or_hold(message);
  } else {
    peer.sent.push_back({matching(number, step.tag), message});
    if (eager)
      leave(message);
  }
  return not step.blocking || wait_for(number, step.request);
}

bool Execution::post_receive(int number, const Step& step)
{
  Rank& rank = state(number);
  rank.requests.emplace_back();
  const int from   = matching(step.peer, step.tag);
  const auto found = std::ranges::find(rank.sent, from, &Posted<std::uint32_t>::peer);
  if (found == rank.sent.end()) {
    rank.receives.push_back({from, step.request});
  } else {
    const std::uint32_t message = found->what;
    rank.sent.erase(found);
    messages_[message].receive = step.request;
    if (not messages_[message].left) {
      // A message posted at this very instant is not visible yet.
      if (messages_[message].posted < agenda_.now().value())
        leave(message);
      else
        leave_or_hold(message);
    } else if (messages_[message].arrived) {
      request(rank, step.request) = {receiving_cost(messages_[message]), true, false};
      idle_.push_back(message);
    }
  }
  return not step.blocking || wait_for(number, step.request);
}

void Execution::leave(std::uint32_t number)
{
  Message& message  = messages_[number];
  message.left      = true;
  const Bytes bytes = Bytes(message.bytes) + SMPI_ENVELOPE;
  if (sockets_.empty())
    network_.send(host(message.from), host(message.to), bytes, missed(message), *this, number);
  else
    network_.send_on_sockets({.from        = host(message.from),
                              .to          = host(message.to),
                              .from_socket = socket(message.from),
                              .to_socket   = socket(message.to),
                              .bytes       = bytes,
                              .missed      = missed(message)},
                             *this, number);
}

/** Starts a message that both sides have posted, or holds it until its receiver attends. */
void Execution::leave_or_hold(std::uint32_t number)
{
  if (on_end_.makes_progress(messages_[number].to))
    leave(number);
  else
    held_.push_back(number);
}

void Execution::make_progress(int number)
{
  for (std::size_t at = 0; at < held_.size();)
    if (messages_[held_[at]].to == number) {
      leave(held_[at]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      ++at;
    }
  Rank& rank = state(number);
  if (rank.doing == Activity::waiting && request(rank, rank.awaited).complete) {
    rank.doing = Activity::stepping;
    if (wait_for(number, rank.awaited))
      resume(number);
  } else if (rank.doing == Activity::waiting_for_all && rank.open == 0) {
    rank.doing = Activity::stepping;
    if (wait_for_all(number))
      resume(number);
  } else if (rank.doing == Activity::waiting_for_any) {
    rank.doing = Activity::stepping;
    if (wait_for_any(number))
      resume(number);
  }
}

void Execution::arrived(std::uint64_t number)
{
  if ((number & WORK) != 0) {
    due(number & ~WORK);
    return;
  }
  Message& arrived      = messages_[number];
  arrived.arrived       = true;
  const Message message = arrived; // a copy: posting others may move it
  if (message.receive >= 0)
    idle_.push_back(static_cast<std::uint32_t>(number));
  if (not message.detached)
    complete(message.from, message.send, 0);
  if (message.receive >= 0)
    complete(message.to, message.receive, receiving_cost(message));
}

double Execution::receiving_cost(const Message& message) const
{
  const bool costs = not message.flag && (message.detached || host(message.from) == host(message.to));
  return costs ? costs_.receive(Bytes(message.bytes), host(message.from), host(message.to)).value() : 0;
}

void Execution::complete(int number, weft::Request which, double cost)
{
  Rank& rank           = state(number);
  request(rank, which) = {cost, true, false};
  if (rank.doing == Activity::waiting && rank.awaited == which) {
    if (not on_end_.makes_progress(number))
      return;
    rank.doing = Activity::stepping;
    if (wait_for(number, which))
      resume(number);
  } else if (rank.doing == Activity::waiting_for_all) {
    const Seconds begins(std::max(rank.free_at, agenda_.now().value()));
    rank.free_at = (begins + on_end_.with_os_noise(number, begins, Seconds(cost))).value();
    if (--rank.open == 0 && on_end_.makes_progress(number)) {
      rank.doing = Activity::stepping;
      if (all_arrived(number))
        resume(number);
    }
  } else if (rank.doing == Activity::waiting_for_any && on_end_.makes_progress(number)) {
    rank.doing = Activity::stepping;
    if (wait_for_any(number))
      resume(number);
  }
}

bool Execution::wait_for(int number, weft::Request awaited)
{
  Rank& rank = state(number);
  if (awaited < rank.first)
    return true; // already waited for
  Request& its = request(rank, awaited);
  if (not its.complete) {
    rank.doing   = Activity::waiting;
    rank.awaited = awaited;
    return false;
  }
  const Seconds cost(std::exchange(its.cost, 0.0));
  its.reaped = true;
  while (rank.reaped < rank.requests.size() && rank.requests[rank.reaped].reaped)
    ++rank.reaped;
  constexpr std::size_t MANY = 64; // a long schedule would otherwise keep every request until all have ended
  if (rank.reaped == rank.requests.size() || (rank.reaped >= MANY && 2 * rank.reaped >= rank.requests.size())) {
    rank.first += static_cast<weft::Request>(rank.reaped);
    rank.requests.erase(rank.requests.begin(), rank.requests.begin() + static_cast<std::ptrdiff_t>(rank.reaped));
    rank.reaped = 0;
  }
  return spend(number, cost, Activity::computing);
}

/** Waits for any request; returns true if one has ended. */
bool Execution::wait_for_any(int number)
{
  Rank& rank       = state(number);
  const auto ended = [&](weft::Request one) { return one < rank.first || request(rank, one).complete; };
  const auto found = std::ranges::find_if(rank.any->requests, ended);
  if (found == rank.any->requests.end()) {
    rank.doing = Activity::waiting_for_any;
    return false;
  }
  rank.any->ended = *found;
  return true;
}

bool Execution::wait_for_all(int number)
{
  Rank& rank   = state(number);
  rank.open    = 0;
  double costs = 0;
  for (const Request& one : rank.requests) {
    rank.open += one.complete ? 0 : 1;
    costs += one.reaped ? 0 : one.cost;
  }
  rank.free_at = (agenda_.now() + on_end_.with_os_noise(number, agenda_.now(), Seconds(costs))).value();
  if (rank.open > 0) {
    rank.doing = Activity::waiting_for_all;
    return false;
  }
  return all_arrived(number);
}

/** Returns true if all requests are complete and the rank has paid for them. */
bool Execution::all_arrived(int number)
{
  Rank& rank = state(number);
  rank.first += static_cast<weft::Request>(rank.requests.size());
  rank.requests.clear();
  rank.reaped = 0;
  return pass(number, Seconds(rank.free_at) - agenda_.now(), Activity::computing);
}

} // namespace weft
