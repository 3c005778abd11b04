// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/execution.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace weft {

namespace {

constexpr std::uint64_t WORK = std::uint64_t{1} << 63U; // flag on a rank's number: an end of work rather than a message
constexpr std::uint64_t PACED = std::uint64_t{1} << 62U; // flag on a message's number: the end of its pacing or latency

} // namespace

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
    Memory::Used& used  = memory_->used_.back();
    ranks_              = std::move(used.ranks);
    state_of_messages() = std::move(used.messages);
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
  all     = {};
  requests.clear();
}

Execution::~Execution()
{
  if (not memory_)
    return;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    ranks_[rank].forget();
  if (not state_of_messages().is_idle()) // the call has failed
    state_of_messages() = {};
  matching().clear(); // an abandoned call leaves receives behind
  memory_->used_.push_back({std::move(ranks_), std::move(state_of_messages())});
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
  const auto left = [&](std::size_t ranks) { return model.leaves_socket(buffers, ranks); };
  missed_by_all_  = 0;
  if (left(hosts_.size()) <= 0) // the data fits even if all ranks are on one socket
    return;
  sharing_ = ranks_by_memory();
  if (left(std::ranges::max(sharing_)) <= 0)
    return;
  missed_.reserve(hosts_.size());
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    missed_.push_back(left(sharing_[memory_of(rank)]));
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

/** Returns the misses of @p copies copies of a message; only one copy touches data for the first time. */
Execution::Misses Execution::misses(int rank, const Pipeline* pipeline, int copies) const
{
  const Misses whole{left_core_, missed(rank)};
  if (not pipeline)
    return whole;
  const HostModel& model = costs_.host;
  const double fresh     = pipeline->fresh / copies;
  const auto mixed       = [fresh](double first, double later) { return later + fresh * (first - later); };
  Misses its             = whole;
  its.core               = mixed(whole.core, std::min(whole.core, model.leaves_core(pipeline->in_flight)));
  if (not missed_.empty()) {
    const std::size_t ranks = sharing_[memory_of(static_cast<std::size_t>(rank))];
    its.all                 = mixed(whole.all, std::min(whole.all, model.leaves_socket(pipeline->in_flight, ranks)));
  }
  return its;
}

/** Returns the fraction of a message's data that is not cached on one of the sockets. */
double Execution::missed(const Step& send, int from) const
{
  const int copies = costs_.host.copies(send.bytes);
  return std::max(misses(from, send.pipeline, copies).all, misses(send.peer, send.pipeline, copies).all);
}

void Execution::enter(int rank, Seconds time)
{
  agenda_.add(time, *this, static_cast<std::uint64_t>(rank));
}

void Execution::due(std::uint64_t rank)
{
  if ((rank & PACED) != 0)
    return proceed_on_connection(rank & ~PACED);
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

/** Executes a step; returns true if it is complete. */
bool Execution::take(int number, const Step& step)
{
  switch (step.kind) {
    case Step::Kind::send: {
      const bool detached = step.bytes < costs_.detached_below;
      Seconds cost;
      if (step.is_flag() || step.over)
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
      return begin_work(number, step, costs_.reduction_overhead);
    case Step::Kind::copy:
      return begin_work(number, step, Seconds());
    case Step::Kind::pack:
      return spend(number, costs_.piece_overhead * step.pieces, Activity::computing);
    case Step::Kind::pause:
      return pass(number, step.over->latency, Activity::computing);
  }
  return true;
}

/** Makes the rank copy or combine the step's bytes after @p overhead; returns true if that takes no time. */
bool Execution::begin_work(int number, const Step& step, Seconds overhead)
{
  const HostModel& model = costs_.host;
  const Bytes bytes      = step.bytes;
  const Misses its       = misses(number, step.pipeline);
  const Seconds alone =
      overhead + bytes / costs_.reduction_rate + Seconds(bytes.value() * model.seconds_a_byte(its.core, its.all));
  if (sockets_.empty() || not model.shares_memory())
    return spend(number, alone, Activity::computing);
  const double load = model.load(bytes, std::max(0.0, its.core - its.all), its.all);
  if (load <= 0)
    return spend(number, alone, Activity::computing);
  state(number).doing = Activity::computing;
  const Seconds time  = on_end_.with_os_noise(number, agenda_.now(), alone);
  network_.work({host(number), socket(number), load, time}, *this, WORK | static_cast<std::uint64_t>(number));
  return false;
}

/** Makes the rank work; returns true if that takes no time. */
bool Execution::spend(int number, Seconds work, Activity doing)
{
  return pass(number, on_end_.with_os_noise(number, agenda_.now(), work), doing);
}

/** Makes the rank wait for @p time; returns true if that is zero. */
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
  const SendMode mode = flag ? SendMode{true, true} : step.over ? SendMode{false, false} : costs_.mode(step.bytes);
  state(number).requests.add(mode.detached);
  const Index message = add_message(mode, {number, step.peer, step.bytes.value(), agenda_.now().value(), step.request,
                                           flag, missed(step, number), step.over});
  MessageExchange::post_send(message, static_cast<Endpoint>(step.peer), number, step.tag);
  return not step.blocking || wait_for(number, step.request);
}

bool Execution::post_receive(int number, const Step& step)
{
  state(number).requests.add(false);
  MessageExchange::post_receive(static_cast<Endpoint>(number), static_cast<std::uint64_t>(step.request), step.peer,
                                step.tag);
  return not step.blocking || wait_for(number, step.request);
}

/** Returns whether a receiver attends to a rendezvous message. A rank attends while it posts the receive, but does not
 * see a message that is posted at the same instant. */
bool Execution::may_leave(const Message& message) const
{
  return message.over || message.posted < agenda_.now().value() || on_end_.makes_progress(message.to);
}

void Execution::carry(Index number)
{
  Message& message = message_of(number);
  if (message.over)
    message.posted = agenda_.now().value();
  const Bytes bytes = Bytes(message.bytes) + SMPI_ENVELOPE + (message.over ? message.over->overhead : Bytes());
  if (sockets_.empty())
    network_.send(host(message.from), host(message.to), bytes, message.missed, *this, number);
  else
    network_.send_on_sockets({.from        = host(message.from),
                              .to          = host(message.to),
                              .from_socket = socket(message.from),
                              .to_socket   = socket(message.to),
                              .bytes       = bytes,
                              .missed      = message.missed},
                             *this, number);
}

void Execution::send_ended(const Message& message)
{
  complete(message.from, message.send, 0);
}

void Execution::receive_ended(const Message& message)
{
  complete(message.to, static_cast<Request>(message.receive), receiving_cost(message));
}

void Execution::make_progress(int number)
{
  release_held([number](const Message& message) { return message.to == number; });
  Rank& rank = state(number);
  if (rank.doing == Activity::waiting && rank.requests.has_ended(rank.awaited)) {
    rank.doing = Activity::stepping;
    if (wait_for(number, rank.awaited))
      resume(number);
  } else if (rank.doing == Activity::waiting_for_all && rank.all.all_ended()) {
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
  if ((number & WORK) != 0)
    due(number & ~WORK);
  else if (message_of(number).over)
    proceed_on_connection(number);
  else
    arrive(number);
}

/** Completes the send of a message that the network has carried, once its connection's rate allows it, and later its
 * receive. */
void Execution::proceed_on_connection(Index number)
{
  Message& message       = message_of(number);
  const Connection& over = *message.over;
  if (not message.detached) {
    const Seconds end = Seconds(message.posted) + Bytes(message.bytes) / over.rate;
    if (end > agenda_.now() && not Agenda::same(end.value(), agenda_.now().value()))
      return agenda_.add(end, *this, PACED | number);
    message.detached = true; // its send is complete
    if (over.latency > Seconds())
      agenda_.add(agenda_.now() + over.latency, *this, PACED | number);
    send_ended(Message(message)); // a copy: the rank may post further messages
    if (over.latency > Seconds())
      return;
  }
  arrive(number);
}

double Execution::receiving_cost(const Message& message) const
{
  const bool costs =
      not message.flag && not message.over && (message.detached || host(message.from) == host(message.to));
  return costs ? costs_.receive(Bytes(message.bytes), host(message.from), host(message.to)).value() : 0;
}

void Execution::complete(int number, Request which, double cost)
{
  Rank& rank = state(number);
  rank.requests.end(which, cost);
  if (rank.doing == Activity::waiting && rank.awaited == which) {
    if (not on_end_.makes_progress(number))
      return;
    rank.doing = Activity::stepping;
    if (wait_for(number, which))
      resume(number);
  } else if (rank.doing == Activity::waiting_for_all) {
    const double now = agenda_.now().value();
    rank.all.pay(now, on_end_.with_os_noise(number, Seconds(rank.all.begin_of_overhead(now)), Seconds(cost)).value());
    if (rank.all.count_end() && on_end_.makes_progress(number)) {
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

bool Execution::wait_for(int number, Request awaited)
{
  Rank& rank = state(number);
  if (rank.requests.forgot(awaited))
    return true;
  if (not rank.requests.has_ended(awaited)) {
    rank.doing   = Activity::waiting;
    rank.awaited = awaited;
    return false;
  }
  return spend(number, Seconds(rank.requests.reap(awaited)), Activity::computing);
}

/** Waits for any request; returns true if one is complete. */
bool Execution::wait_for_any(int number)
{
  Rank& rank = state(number);
  const auto found =
      std::ranges::find_if(rank.any->requests, [&](Request one) { return rank.requests.has_ended(one); });
  if (found == rank.any->requests.end()) {
    rank.doing = Activity::waiting_for_any;
    return false;
  }
  rank.any->ended = *found;
  return true;
}

bool Execution::wait_for_all(int number)
{
  Rank& rank        = state(number);
  const Seconds now = agenda_.now();
  rank.all          = rank.requests.wait_for_all(
      now.value(), [&](double costs) { return on_end_.with_os_noise(number, now, Seconds(costs)).value(); });
  if (not rank.all.all_ended()) {
    rank.doing = Activity::waiting_for_all;
    return false;
  }
  return all_arrived(number);
}

/** Returns true if all requests are complete and the rank has paid for them. */
bool Execution::all_arrived(int number)
{
  Rank& rank = state(number);
  rank.requests.reap_all();
  return pass(number, Seconds(rank.all.busy_until()) - agenda_.now(), Activity::computing);
}

} // namespace weft
