// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/iteration.hpp"

#include "base/error.hpp"
#include "model/noise/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace weft {
namespace {

constexpr unsigned NUMBER_BITS = 32;

std::uint64_t packed(int one, std::uint32_t other)
{
  return (static_cast<std::uint64_t>(one) << NUMBER_BITS) | other;
}

/** Returns zero costs for messages of GPUs, since connections include all costs. */
MessageCosts free_messages()
{
  const auto nothing = [](Bytes, int, int) { return Seconds(); };
  MessageCosts costs;
  costs.detached_below = Bytes(0);
  costs.eager_below    = Bytes(0);
  costs.blocking_send  = nothing;
  costs.send           = nothing;
  costs.receive        = nothing;
  return costs;
}

/** Returns whether no rank can finish a collective before all have begun it. */
bool ends_need_all(NcclCollective collective)
{
  return collective != NcclCollective::broadcast && collective != NcclCollective::reduce;
}

/** Returns the resources whose capacities faults change: links, and the pools of links over which packets are sprayed.
 */
std::vector<int> unsteady_resources(const DisturbanceDescription& disturbances, const Fabric& fabric,
                                    std::size_t resources)
{
  std::vector<int> all = disturbances.faulty_links(fabric);
  if (fabric.sprays() && not all.empty())
    for (std::size_t pool = fabric.links().size(); pool < resources; ++pool)
      all.push_back(static_cast<int>(pool));
  return all;
}

/** Returns a number of the standard normal distribution (G. E. P. Box, M. E. Muller, 1958). */
double normal(std::uint64_t seed, RandomPlace place)
{
  const double one   = 1 - uniform(seed, place);
  place[2]           = 1;
  const double other = uniform(seed, place);
  return std::sqrt(-2 * std::log(one)) * std::cos(2 * std::numbers::pi * other);
}

} // namespace

Iteration::Iteration(const Workload& workload, const Fabric& fabric, IterationOptions options, IterationPlace place)
    : workload_(workload), fabric_(fabric), options_(std::move(options)), nccl_(options_.library, fabric),
      agenda_(place.agenda), network_(place.messages), on_over_(std::move(place.over)),
      reports_errors_(place.reports_errors), capacities_(FabricRoutes::capacities(fabric)), unguarded_(fabric),
      uses_(fabric, capacities_), costs_(free_messages()),
      calls_on_{agenda_, network_, costs_, std::make_shared<Execution::Memory>()}, hosts_(std::move(place.hosts)),
      ranks_left_(hosts_.size())
{
  check(workload);
  for (const Program& program : workload.programs)
    orders_.emplace_back(program);
  progress_.reserve(hosts_.size());
  for (const int program : workload.program_of) {
    progress_.emplace_back(orders_[static_cast<std::size_t>(program)]);
    works_ += progress_.back().left();
  }
  works_left_ = works_;
  accounts_.assign(hosts_.size(), RankAccounts(message_kind() + 1, agenda_.now()));
  for (const GroupDivision& division : workload.divisions) {
    begun_.emplace_back(hosts_.size(), 0);
    inside_.emplace_back(hosts_.size(), 0);
    shape_of_.emplace_back(static_cast<std::size_t>(division.number()), -1);
  }
  if (options_.sms > 0) {
    computing_.resize(hosts_.size());
    taken_.resize(hosts_.size());
  }
  if (not options_.listed.empty()) {
    listed_.resize(hosts_.size());
    for (const int rank : options_.listed)
      if (rank >= 0 && rank < workload.ranks())
        listed_[static_cast<std::size_t>(rank)] = true;
  }
  agenda_.tell(*this);
  if (options_.detail == CallDetail::call)
    execute_calls_as_flows(place);
  if (options_.multicast) {
    if (options_.disturbances.faults)
      throw UserError("an Allgather by multicast is one flow without messages that faults could cut; leave the faults "
                      "or the multicast out");
    multicast_ = std::make_unique<MulticastCalls>(agenda_, *place.flows, fabric_, capacities_);
  }
  if (not options_.execute_all)
    apart_ = std::make_unique<Apart>(*this);
}

void Iteration::execute_calls_as_flows(const IterationPlace& place)
{
  if (unguarded_.routes_each_message())
    throw UserError(fabric_.name() + ": [routing] policy: each message has a route of its own, but a call that is one "
                                     "flow has one route between two ranks; choose the policy \"static\" or \"ecmp\", "
                                     "or the detail \"step\"");
  if (options_.disturbances.faults)
    throw UserError("a call that is one flow has no messages that faults could cut; choose the detail \"step\"");
  as_flows_ =
      std::make_unique<CallFlows>(agenda_, *place.flows, *place.routes, capacities_, costs_, fabric_.host_count());
}

Iteration::Apart::Apart(Iteration& its)
    : links(its.workload_, its.hosts_, its.fabric_.nccl()->gpus_per_node, its.unguarded_, its.capacities_,
            unsteady_resources(its.options_.disturbances, its.fabric_, its.capacities_.size())),
      network(agenda, its.unguarded_, its.capacities_, its.fabric_.host_count()),
      known({agenda, network, its.costs_, std::make_shared<Execution::Memory>()})
{
}

Iteration::~Iteration() = default;

// ---- Progress of a rank
// ------------------------------------------------------------------------------------------------

void Iteration::advance(int rank)
{
  try {
    while (not over_) {
      const auto number = progress_[static_cast<std::size_t>(rank)].begin_next();
      if (not number)
        return;
      begin(rank, *number);
    }
  } catch (const UserError& error) {
    if (not reports_errors_)
      throw;
    fail("mismatch", error.what());
  }
}

void Iteration::begin()
{
  for (int rank = 0; rank < workload_.ranks(); ++rank)
    if (progress_[static_cast<std::size_t>(rank)].left() == 0) {
      accounts_[static_cast<std::size_t>(rank)].close(agenda_.now());
      --ranks_left_;
    }
  if (ranks_left_ == 0) {
    over_ = true;
    if (on_over_)
      on_over_();
  }
  for (int rank = 0; rank < workload_.ranks(); ++rank)
    advance(rank);
}

void Iteration::fail(const std::string& outcome, const std::string& message)
{
  if (over_)
    return;
  over_          = true;
  times_.outcome = outcome;
  times_.message = message;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank)
    if (progress_[rank].left() > 0)
      accounts_[rank].close(agenda_.now());
  if (on_over_)
    on_over_();
}

void Iteration::host_failed(int host, Seconds since)
{
  const auto found = std::ranges::find(hosts_, host);
  if (found != hosts_.end())
    fail("host-failure", "host " + fabric_.topology().host_name(host) + " failed at " + to_text(since) +
                             ", and with it rank " + std::to_string(found - hosts_.begin()));
}

void Iteration::begin(int rank, WorkNumber number)
{
  const Work& work = workload_.program(rank)[number];
  if (work.kind == WorkKind::collective)
    return join(rank, number);
  if (work.kind != WorkKind::compute)
    return post(rank, number);
  const double now     = agenda_.now().value();
  const double seconds = computation(rank, number);
  const bool on_host   = workload_.program(rank).is_on_host(work.stream);
  agenda_.add(Seconds(now + (on_host ? seconds : seconds / speed(rank))), *this, packed(rank, number));
  if (on_host)
    return;
  accounts_[static_cast<std::size_t>(rank)].begin_computation(agenda_.now());
  if (not computing_.empty())
    computing_[static_cast<std::size_t>(rank)].push_back({number, now, seconds, now});
}

/** Returns the fraction of a GPU's multiprocessors that calls leave to computation. */
double Iteration::speed(int rank) const
{
  if (taken_.empty())
    return 1;
  const int left = std::max(1, options_.sms - taken_[static_cast<std::size_t>(rank)]);
  return static_cast<double>(left) / options_.sms;
}

/** Records that calls of a rank occupy @p number more (or fewer) of its multiprocessors. */
void Iteration::take_multiprocessors(int rank, int number)
{
  if (taken_.empty())
    return;
  const double now    = agenda_.now().value();
  const double before = speed(rank);
  taken_[static_cast<std::size_t>(rank)] += number;
  const double after = speed(rank);
  for (Computing& one : computing_[static_cast<std::size_t>(rank)]) {
    one.left -= (now - one.since) * before;
    one.since = now;
    agenda_.add(Seconds(now + std::max(0.0, one.left) / after), *this, packed(rank, one.number));
  }
}

/** Ends a computation and returns its start time; nothing if it does not end now because its speed has changed. */
std::optional<double> Iteration::end_computing(int rank, WorkNumber number)
{
  const double now = agenda_.now().value();
  if (computing_.empty())
    return is_listed(rank) ? now - computation(rank, number) : now; // only listed ranks report the start time
  auto& all      = computing_[static_cast<std::size_t>(rank)];
  const auto one = std::ranges::find(all, number, &Computing::number);
  if (one == all.end())
    return std::nullopt;
  if (const double end = one->since + one->left / speed(rank); end > now && not Agenda::same(end, now))
    return std::nullopt;
  const double begin = one->begin;
  all.erase(one);
  return begin;
}

double Iteration::computation(int rank, WorkNumber number) const
{
  double seconds = workload_.program(rank)[number].amount;
  if (not options_.slowdown.empty())
    seconds *= options_.slowdown[static_cast<std::size_t>(rank)];
  if (options_.noise > 0)
    seconds *= std::exp(options_.noise * normal(options_.seed, {static_cast<std::uint32_t>(rank), number, 0,
                                                                RandomPurpose::COMPUTATION}));
  return seconds;
}

void Iteration::due(std::uint64_t rank_and_number)
{
  if (over_)
    return;
  const int rank    = static_cast<int>(rank_and_number >> NUMBER_BITS);
  const auto number = static_cast<WorkNumber>(rank_and_number);
  const Work& work  = workload_.program(rank)[number];
  const double now  = agenda_.now().value();
  double since      = now;
  if (work.kind == WorkKind::compute) {
    const bool on_host = workload_.program(rank).is_on_host(work.stream);
    const auto begin   = on_host ? now - computation(rank, number) : end_computing(rank, number);
    if (not begin)
      return;
    since = *begin;
    if (not on_host)
      accounts_[static_cast<std::size_t>(rank)].end_computation(agenda_.now());
  }
  end(rank, {rank, number, since, since, now});
}

void Iteration::end(int rank, const TimedWork& work)
{
  RankProgress& its = progress_[static_cast<std::size_t>(rank)];
  if (is_listed(rank))
    times_.listed.push_back(work);
  its.end(work.number);
  --works_left_;
  if (its.left() == 0) {
    accounts_[static_cast<std::size_t>(rank)].close(agenda_.now());
    over_ = --ranks_left_ == 0;
    if (over_ && on_over_)
      on_over_();
  }
  advance(rank);
}

// ---- Collectives ----------------------------------------------------------------------------------------------------

int Iteration::shape(std::uint32_t division, int group)
{
  int& known = shape_of_[division][static_cast<std::size_t>(group)];
  if (known < 0) {
    std::map<int, int> numbers;
    std::vector<int> nodes;
    for (const int rank : workload_.divisions[division].members(group)) {
      const int node = hosts_[static_cast<std::size_t>(rank)] / fabric_.nccl()->gpus_per_node;
      nodes.push_back(numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second);
    }
    known = shapes_.try_emplace(std::move(nodes), static_cast<int>(shapes_.size())).first->second;
  }
  return known;
}

/** Returns the routes between the first neighbours of a group within a node, and on two nodes. */
NcclWays Iteration::ways(const std::vector<int>& hosts)
{
  const int gpus = fabric_.nccl()->gpus_per_node;
  NcclWays all;
  std::array<bool, 2> known{};
  FlowRoute way;
  for (std::size_t at = 0; at < hosts.size() && not(known[0] && known[1]); ++at) {
    const int from     = hosts[at];
    const int to       = hosts[(at + 1) % hosts.size()];
    const bool between = from / gpus != to / gpus;
    if (known[between])
      continue;
    known[between] = true;
    unguarded_.find(from, to, Bytes(1), 0, way);
    double rate = way.bound;
    for (const int resource : way.resources)
      rate = std::min(rate, capacities_[static_cast<std::size_t>(resource)]);
    (between ? all.between : all.within) = {Seconds(way.latency), BytesPerSecond(rate)};
  }
  return all;
}

std::shared_ptr<const PlannedCall> Iteration::plan(std::uint32_t division, int group, const Work& work)
{
  auto& planned = planned_[{division, group, work.collective, work.amount}];
  if (planned)
    return planned;
  PlannedCall one;
  for (const int rank : workload_.divisions[division].members(group))
    one.hosts.push_back(hosts_[static_cast<std::size_t>(rank)]);
  HostCall& call   = one.call;
  const auto ranks = static_cast<double>(one.hosts.size());
  const bool whole = work.collective == NcclCollective::broadcast || work.collective == NcclCollective::reduce ||
                     work.collective == NcclCollective::allreduce;
  call.collective  = to_text(work.collective);
  call.ranks       = static_cast<int>(one.hosts.size());
  call.count       = 1;
  call.element     = Bytes(whole ? work.amount : work.amount / ranks);
  auto& its        = plans_[{shape(division, group), work.collective, work.amount}];
  if (not its) {
    call.host = [&one](int rank) { return one.hosts[static_cast<std::size_t>(rank)]; };
    its       = nccl_.plan(call);
    if (options_.detail != CallDetail::slice)
      its = std::make_shared<const NcclPlan>(coarse(*its, call.ranks, ways(one.hosts)));
    call.host = {};
  }
  call.nccl   = its;
  one.traffic = uses_.next();
  planned     = std::make_shared<const PlannedCall>(std::move(one));
  if (multicast_ && work.collective == NcclCollective::allgather && its->nodes.number() > 1)
    uses_.add_loads(
        multicast_->add(*planned, static_cast<std::size_t>(group),
                        "group " + std::to_string(group) + " of \"" + workload_.divisions[division].name() + "\""));
  else
    uses_.add_call(planned);
  return planned;
}

std::unique_ptr<GroupCall> Iteration::begun_call(std::uint64_t number, const OpenCall& open, const GroupLinks::Own* own)
{
  if (own)
    return std::make_unique<KnownCall>(number, open.planned, agenda_, apart_->known, own->wiring, *this);
  if (is_multicast(*open.planned))
    return multicast_->call(number, open.planned, *this);
  if (as_flows_)
    return as_flows_->call(number, open.planned, *this);
  return std::make_unique<SteppedCall>(number, open.planned, calls_on_, *this);
}

std::uint64_t Iteration::open_call(std::uint32_t division, int group, std::uint32_t sequence, const Work& work)
{
  const auto [found, is_new] = open_.try_emplace({division, group, sequence}, calls_.size());
  if (not is_new)
    return found->second;
  if (not idle_calls_.empty()) {
    found->second = idle_calls_.back();
    idle_calls_.pop_back();
  } else {
    calls_.emplace_back();
  }
  OpenCall& open = calls_[found->second];
  open.division  = division;
  open.group     = group;
  open.planned   = plan(division, group, work);
  open.complete  = -1;
  open.left      = static_cast<int>(open.planned->hosts.size());
  open.at.assign(open.planned->hosts.size(), {0, -1});
  const auto* own = apart_ && ends_need_all(work.collective) ? apart_->links.own(division, group) : nullptr;
  open.call       = begun_call(found->second, open, own);
  uses_.begin(open.planned->traffic);
  ++times_.calls;
  if (not own)
    ++times_.executed;
  if (is_multicast(*open.planned))
    ++times_.algorithms["multicast"];
  else
    ++calls_of_[open.planned->call.nccl.get()];
  return found->second;
}

void Iteration::check_agreement(const OpenCall& open, int rank, WorkNumber number) const
{
  const auto first = std::ranges::find_if(open.at, [](const auto& one) { return one.second >= 0; });
  if (first == open.at.end())
    return;
  const int other =
      workload_.divisions[open.division].members(open.group)[static_cast<std::size_t>(first - open.at.begin())];
  const Work& its    = workload_.program(rank)[number];
  const Work& theirs = workload_.program(other)[first->first];
  if (its.collective == theirs.collective && its.amount == theirs.amount)
    return;
  const auto bytes = [](const Work& work) { return std::to_string(std::llround(work.amount)) + " bytes"; };
  throw UserError("group " + std::to_string(open.group) + " of \"" + workload_.divisions[open.division].name() +
                  "\": ranks do not call the same collective: " + describe(workload_, rank, number) + " has " +
                  bytes(its) + ", " + describe(workload_, other, first->first) + " has " + bytes(theirs) +
                  "; all ranks of a group must call its collectives in the same order and with the same sizes");
}

/** Begins the communication of a call whose last rank enters now. */
void Iteration::end_waiting(OpenCall& open)
{
  open.complete = agenda_.now().value();
  for (const int member : workload_.divisions[open.division].members(open.group)) {
    RankAccounts& its = accounts_[static_cast<std::size_t>(member)];
    its.end_waiting(open.division, agenda_.now());
    its.begin_communication(open.division, open.planned->traffic, agenda_.now());
  }
}

void Iteration::join(int rank, WorkNumber number)
{
  const Work& work              = workload_.program(rank)[number];
  const GroupDivision& division = workload_.divisions[work.groups];
  const int group               = division.group_of(rank);
  if (division.members(group).size() < 2) {
    agenda_.add(agenda_.now(), *this, packed(rank, number));
    return;
  }
  const std::uint32_t sequence = begun_[work.groups][static_cast<std::size_t>(rank)]++;
  const std::uint64_t place    = open_call(work.groups, group, sequence, work);
  OpenCall& open               = calls_[place];
  check_agreement(open, rank, number);
  open.at[static_cast<std::size_t>(division.place_of(rank))] = {number, agenda_.now().value()};
  // A rank of a Bcast or Reduce can finish before others begin, so there is no time at which it waits for all.
  const bool waits = ends_need_all(work.collective);
  if (waits)
    accounts_[static_cast<std::size_t>(rank)].begin_waiting(work.groups, agenda_.now());
  else
    accounts_[static_cast<std::size_t>(rank)].begin_communication(work.groups, open.planned->traffic, agenda_.now());
  take_multiprocessors(rank, channels(*open.planned));
  if (++inside_[work.groups][static_cast<std::size_t>(rank)] > 1 && apart_ && apart_->links.own(work.groups, group))
    reuse_was_wrong_ = true;
  GroupCall& call = *open.call; // calls_ may grow while the rank enters
  if (call.inside() + 1 == open.at.size()) {
    if (waits)
      end_waiting(open);
    open_.erase({work.groups, group, sequence});
  }
  call.enter(division.place_of(rank));
}

void Iteration::left(std::uint64_t call, int place)
{
  if (over_)
    return;
  OpenCall& open               = calls_[call];
  const std::uint32_t division = open.division;
  const int rank               = workload_.divisions[division].members(open.group)[static_cast<std::size_t>(place)];
  const auto [number, since]   = open.at[static_cast<std::size_t>(place)];
  const TimedWork work{rank, number, since, std::max(since, open.complete), agenda_.now().value()};
  --inside_[division][static_cast<std::size_t>(rank)];
  take_multiprocessors(rank, -channels(*open.planned));
  const std::uint32_t traffic = open.planned->traffic;
  if (--open.left == 0) {
    ended_.push_back(std::move(open.call));
    open.planned.reset();
    idle_calls_.push_back(call);
  }
  accounts_[static_cast<std::size_t>(rank)].end_communication(division, traffic, Seconds(work.active), agenda_.now());
  end(rank, work);
}

// ---- Messages -------------------------------------------------------------------------------------------------------

void Iteration::post(int rank, WorkNumber number)
{
  const Work& work = workload_.program(rank)[number];
  const int peer   = rank + work.peer;
  const bool sends = work.kind == WorkKind::send;
  const Posted own{number, agenda_.now().value()};
  auto& all   = unmatched_[sends ? packed(rank, static_cast<std::uint32_t>(peer))
                                 : packed(peer, static_cast<std::uint32_t>(rank))];
  auto& its   = all[work.tag];
  auto& other = sends ? its.receives : its.sends;
  accounts_[static_cast<std::size_t>(rank)].begin_waiting(message_kind(), agenda_.now());
  if (other.empty()) {
    (sends ? its.sends : its.receives).push_back(own);
    return;
  }
  const Posted partner = other.front();
  other.pop_front();
  if (its.sends.empty() && its.receives.empty())
    all.erase(work.tag);
  if (sends)
    depart(rank, peer, own, partner);
  else
    depart(peer, rank, partner, own);
}

void Iteration::depart(int from, int to, Posted send, Posted receive)
{
  const double bytes   = workload_.program(from)[send.number].amount;
  const double awaited = workload_.program(to)[receive.number].amount;
  if (bytes != awaited)
    throw UserError(describe(workload_, from, send.number) + " has " + std::to_string(std::llround(bytes)) +
                    " bytes, but its " + describe(workload_, to, receive.number) + " has " +
                    std::to_string(std::llround(awaited)));
  const std::uint32_t traffic =
      uses_.message(hosts_[static_cast<std::size_t>(from)], hosts_[static_cast<std::size_t>(to)], bytes);
  uses_.begin(traffic);
  for (const int rank : {from, to}) {
    RankAccounts& its = accounts_[static_cast<std::size_t>(rank)];
    its.end_waiting(message_kind(), agenda_.now());
    its.begin_communication(message_kind(), traffic, agenda_.now());
  }
  std::uint64_t number = flights_.size();
  if (idle_flights_.empty()) {
    flights_.emplace_back();
  } else {
    number = idle_flights_.back();
    idle_flights_.pop_back();
  }
  flights_[number] = {from, to, send, receive, agenda_.now().value(), traffic};
  network_.send(hosts_[static_cast<std::size_t>(from)], hosts_[static_cast<std::size_t>(to)], Bytes(bytes), 0, *this,
                number);
}

void Iteration::arrived(std::uint64_t flight)
{
  if (over_)
    return;
  const Flight one = flights_[flight];
  idle_flights_.push_back(flight);
  for (const int rank : {one.from, one.to})
    accounts_[static_cast<std::size_t>(rank)].end_communication(message_kind(), one.traffic, Seconds(one.left),
                                                                agenda_.now());
  const double now = agenda_.now().value();
  end(one.from, {one.from, one.send.number, one.send.since, one.left, now});
  end(one.to, {one.to, one.receive.number, one.receive.since, one.left, now});
}

void Iteration::failed(std::uint64_t flight, const std::string& why)
{
  const Flight& one = flights_[flight];
  fail("network-failure", describe(workload_, one.from, one.send.number) + " to rank " + std::to_string(one.to) +
                              " does not arrive: " + why);
}

void Iteration::call_failed(std::uint64_t call, const std::string& why)
{
  const OpenCall& open = calls_[call];
  fail("network-failure", "a collective of group " + std::to_string(open.group) + " of \"" +
                              workload_.divisions[open.division].name() + "\" does not end: " + why);
}

// ---- The end --------------------------------------------------------------------------------------------------------

std::string Iteration::reason_to_wait(int rank, WorkNumber number) const
{
  const Work& work = workload_.program(rank)[number];
  const int peer   = rank + work.peer;
  switch (work.kind) {
    case WorkKind::send:
      return "no receive of rank " + std::to_string(peer) + " matches it (tag " + std::to_string(work.tag) + ")";
    case WorkKind::receive:
      return "no send of rank " + std::to_string(peer) + " matches it (tag " + std::to_string(work.tag) + ")";
    case WorkKind::collective: {
      const GroupDivision& division = workload_.divisions[work.groups];
      for (const int member : division.members(division.group_of(rank)))
        if (begun_[work.groups][static_cast<std::size_t>(member)] < begun_[work.groups][static_cast<std::size_t>(rank)])
          return "rank " + std::to_string(member) + " of its group \"" + division.name() + "\" does not call it";
      return "its group \"" + division.name() + "\" does not end it";
    }
    case WorkKind::compute:
      break;
  }
  return "it does not end";
}

std::string Iteration::waits() const
{
  std::string text;
  int named = 0;
  for (int rank = 0; rank < workload_.ranks() && named < 3; ++rank)
    for (const WorkNumber number : progress_[static_cast<std::size_t>(rank)].current()) {
      text += "\n  " + describe(workload_, rank, number) + ": " + reason_to_wait(rank, number);
      if (++named == 3)
        break;
    }
  if (named == 0)
    text = "\n  operations wait for each other in a cycle";
  return "the workload cannot end: " + std::to_string(ranks_left_) + " of " + std::to_string(workload_.ranks()) +
         " ranks wait for ever" + text;
}

/** Returns whether other messages may have slowed down calls that were executed separately. */
bool Iteration::calls_were_disturbed() const
{
  if (not apart_ || not apart_->links.is_crossed())
    return false;
  Agenda agenda;
  FabricRoutes routes(fabric_);
  const std::vector<double> left = apart_->links.left_for_groups(apart_->known.most_flows());
  FlowNetwork network(agenda, routes, left, fabric_.host_count());
  return not apart_->known.hold_on({agenda, network, costs_, std::make_shared<Execution::Memory>()});
}

bool Iteration::reuse_was_wrong() const
{
  return reuse_was_wrong_ || (apart_ && apart_->links.is_shared()) || calls_were_disturbed();
}

void Iteration::add_links(IterationTimes& times) const
{
  LinkUses::Report report = uses_.report(times.end);
  for (std::size_t rank = 0; rank < accounts_.size(); ++rank) {
    RankTimes& its = times.ranks[rank];
    its.exposed_at.resize(report.classes.size());
    its.carried_at.resize(report.classes.size());
    for (const TrafficTime& one : accounts_[rank].traffic()) {
      const LinkUses::Limit limit = report.limits[one.traffic];
      if (limit.link_class < 0)
        continue;
      const auto at = static_cast<std::size_t>(limit.link_class);
      its.exposed_at[at] += one.exposed;
      const double carried = limit.seconds * static_cast<double>(one.times);
      if (one.communicated > 0)
        its.carried_at[at] += one.exposed * std::min(1.0, carried / one.communicated);
    }
  }
  times.links = std::move(report.classes);
}

IterationTimes Iteration::take_times()
{
  for (const RankAccounts& its : accounts_)
    times_.ranks.push_back(its.times());
  for (const RankTimes& its : times_.ranks)
    times_.end = std::max(times_.end, its.end);
  for (const auto& [plan, calls] : calls_of_)
    times_.algorithms[std::string(NcclLibrary::algorithm(*plan).name)] += calls;
  if (apart_) {
    times_.messages += apart_->network.work().messages;
    times_.executed += apart_->known.executed();
  }
  return std::move(times_);
}

} // namespace weft
