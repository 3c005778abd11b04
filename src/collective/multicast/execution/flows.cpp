// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/flows.hpp"

#include "network/flow_network.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/** Latency of flows whose path delay is added separately. */
constexpr Seconds NO_LATENCY{};
/** Rounding of the clock, in seconds: a timer may expire this much early. */
constexpr double ROUNDING = 1e-12;

} // namespace

MulticastFlows::MulticastFlows(const MulticastService& service, MulticastOwner& owner, const MulticastCall& call,
                               MulticastListener& listener)
    : service_(service), carrier_(service.carrier), owner_(owner), call_(call), listener_(listener),
      reception_(service.fabric, service.engines, call), losses_(call.sizes.size()),
      ranks_at_(call.group.ranks_at.size()), hearing_(static_cast<std::size_t>(call.ranks())),
      drops_(static_cast<std::size_t>(call.ranks()))
{
  for (int rank = 0; rank < call.ranks(); ++rank)
    ranks_at_[member_of(rank)].push_back(rank);
  // One block of each chain is in flight at a time. If that is every block, no rank receives its own.
  Bytes all;
  std::vector<Bytes> own(ranks_at_.size());
  for (std::size_t block = 0; block < call.sizes.size(); ++block) {
    all += wire_of(static_cast<int>(block));
    own[member_of(call.shape.blocks[block].root)] += wire_of(static_cast<int>(block));
  }
  const double part = static_cast<double>(call.shape.chains.size()) / static_cast<double>(call.sizes.size());
  together_         = part < 1 ? all * part : all - std::ranges::min(own);
  if (std::isfinite(call.model.port_buffer.value()))
    ports_.assign(ranks_at_.size(), Port{StagingRing(call.model.port_buffer / call.model.wire(call.model.chunk))});
}

void MulticastFlows::message(int from, int to, Bytes payload, std::function<void()> arrived)
{
  Seconds overhead;
  if (const auto& mpi = service_.fabric.mpi())
    overhead = mpi->send_time(payload) + mpi->receive_time(payload);
  const auto take = owner_.when_arrived([this, to, overhead, arrived = std::move(arrived)] {
    listener_.after(owner_.with_os_noise(to, overhead), arrived);
  });
  listener_.after(owner_.with_os_noise(from, {}), [this, from, to, payload, take] {
    carrier_.transfer(call_.host(from), call_.host(to), payload + SMPI_ENVELOPE, call_.identity.world, take);
  });
}

double MulticastFlows::last_heard(int rank) const
{
  const Hearing& its = hearing_[static_cast<std::size_t>(rank)];
  const double time  = clock();
  if (reception_.sleeps(rank, time, its.since))
    return -1;
  return its.since.empty() ? its.last : std::max(its.last, time);
}

Seconds MulticastFlows::time_on_cable(int rank) const
{
  const Fabric& fabric = service_.fabric;
  const VertexId root  = call_.group.trees.front().switches.front().index + fabric.host_count();
  const VertexId host  = call_.host(rank);
  const LinkId cable   = reverse(fabric.topology().next_hop(host, root).link);
  return call_.model.wire(call_.model.chunk) / fabric.link(cable).bandwidth;
}

bool MulticastFlows::hears(int rank, Seconds time) const
{
  return last_heard(rank) >= 0 && clock() - last_heard(rank) < time.value() - ROUNDING;
}

void MulticastFlows::multicast(int block)
{
  listener_.after(owner_.with_os_noise(call_.block(block).root, {}), [this, block] {
    leaving_.push_back(block);
    if (leaving_.size() == 1)
      listener_.later([this] { depart(); });
  });
}

/** Delays each host's arrival by the jitter of the links from the roots. */
void MulticastFlows::add_jitter(Departure& departure) const
{
  const auto& noise = service_.fabric.noise();
  if (not noise || noise->links.empty())
    return;
  for (std::size_t member = 0; member < departure.plan.arrivals.size(); ++member) {
    Seconds latest;
    for (const int block : departure.blocks)
      latest = std::max(latest, jitter_of(block, member));
    departure.plan.arrivals[member].way += latest;
  }
}

Seconds MulticastFlows::jitter_of(int block, std::size_t member) const
{
  const int root      = call_.block(block).root;
  const VertexId from = call_.host(root);
  const VertexId to   = call_.host(ranks_at_[member].front());
  if (from == to)
    return {};
  Route way;
  service_.state.route(from, to, way);
  const auto calls = static_cast<std::uint32_t>(call_.identity.number * call_.ranks() + root);
  return Jitter(*service_.fabric.noise())
      .on(way.links, {Crossing::Kind::multicast, static_cast<std::uint32_t>(call_.identity.handle), calls});
}

void MulticastFlows::depart()
{
  const auto departure = std::make_shared<Departure>(std::exchange(leaving_, {}), clock());
  for (const int block : departure->blocks)
    take_off(block);
  if (not whole_ && departure->blocks.size() < call_.sizes.size()) {
    std::vector<int> all(call_.sizes.size());
    std::iota(all.begin(), all.end(), 0);
    whole_ = plan(all, use_of_idle_links());
  }
  departure->plan = plan(departure->blocks, recovery() ? use_of_idle_links() : use_of_links());
  add_jitter(*departure);
  const MulticastPlan& plan = departure->plan;
  departure->prepare();
  if (recovery())
    begin_faults(departure);
  if (call_.model.pauses())
    departure->slowest = slowest(*departure);
  for (std::size_t at = 0; at < plan.links.size(); ++at)
    owner_.count_on_link(plan.links[at].link, plan.payloads[at]);
  for (std::size_t member = 0; member < plan.arrivals.size(); ++member) {
    if (plan.arrivals[member].flows == 0)
      continue;
    if (not ports_.empty())
      ports_[member].since.push_back(departure->start);
    for (const int rank : ranks_at_[member])
      if (gets_some(rank, *departure))
        hearing_[static_cast<std::size_t>(rank)].since.push_back(departure->start + plan.arrivals[member].way.value());
  }
  if (ports_.empty())
    hold_back(departure);
  for (std::size_t flow = 0; flow < plan.flows.size(); ++flow)
    start_flow(departure, flow);
}

/** Starts a flow, or the rest of it. */
void MulticastFlows::start_flow(const Shared& departure, std::size_t flow)
{
  // A flow weighs the inverse of its latency. All blocks in flight share a receiver's
  // cable as one message would, and every other link in proportion to their bytes there.
  const MulticastPlan& plan = departure->plan;
  StreamFlow its            = plan.flows[flow].flow;
  const Seconds sharing     = std::max(plan.forwarding, Seconds(FlowRoute::LEAST_PENALTY)) / (its.wire / together_);
  if (call_.model.pauses())
    its.rate_limit = its.wire / departure->slowest;
  if (recovery())
    start_piece(departure, flow, std::move(its), sharing);
  else
    carrier_.start_flow(its, NO_LATENCY, sharing, call_.identity.world,
                        owner_.when_arrived([this, departure, flow] { ended(departure, flow); }));
}

MulticastPlan MulticastFlows::plan(const std::vector<int>& blocks, const LinkUse& use) const
{
  std::vector<MulticastRoot> roots;
  for (const int block : blocks) {
    const int rank = call_.block(block).root;
    roots.push_back({rank, call_.size(block), reception_.send_rate(rank)});
  }
  return plan_multicast(service_.fabric, call_.group, roots, use);
}

/** Returns a key of each link's load. Keys are equal if all blocks of the call put the same bytes
 *  on the links and other traffic uses the same fraction of their bandwidth, rounded to 1/64. */
LinkUse MulticastFlows::use_of_links() const
{
  constexpr double PARTS = 64;
  return [this](LinkId id) {
    const double others = carrier_.use_of(id) / service_.fabric.link(id).bandwidth.value();
    double wire         = 0;
    if (whole_)
      wire = std::ranges::lower_bound(whole_->links, id, {}, &FlowLink::link)->wire.value();
    return std::round(PARTS * others) + 2 * PARTS * wire; // both in one number
  };
}

/** Returns a key of each link without other traffic: in runs with faults, each link has a flow of its own. */
LinkUse MulticastFlows::use_of_idle_links() const
{
  return [this](LinkId id) { return recovery() ? static_cast<double>(id) : 0.0; };
}

/** Returns the rates at which members receive the call's blocks; 0 for those that nothing reaches. */
std::vector<BytesPerSecond> MulticastFlows::receive_rates(const Departure& departure) const
{
  const std::vector<MulticastArrival>& arrivals = (whole_ ? *whole_ : departure.plan).arrivals;
  std::vector<Seconds> times(arrivals.size());
  std::ranges::transform(arrivals, times.begin(), &MulticastArrival::switching);
  if (recovery())
    times = switching_now(departure);
  const Seconds longest = std::ranges::max(times);
  std::vector<BytesPerSecond> rates(times.size());
  for (std::size_t member = 0; member < times.size(); ++member)
    if (times[member] > Seconds())
      rates[member] = arrivals[member].wire / (call_.model.pauses() ? longest : times[member]);
  return rates;
}

/** Delays the end of the roots' sending until the receivers have room. */
void MulticastFlows::hold_back(const Shared& departure)
{
  if (not backpressure_)
    backpressure_.emplace(receive_rates(*departure));
  else if (recovery())
    backpressure_->set_rates(Seconds(departure->start), receive_rates(*departure));
  std::vector<Backpressure::Sent> sent;
  for (const int block : departure->blocks)
    sent.emplace_back(member_of(call_.block(block).root), wire_of(block));
  backpressure_->start(Seconds(departure->start), std::move(sent));
  departures_.push_back(departure);
  for (const std::size_t flow : departure->first_flows())
    ++departure->waits_for[flow];
  await_backpressure();
}

void MulticastFlows::await_backpressure()
{
  const int timer = ++backpressure_timers_;
  if (const std::optional<Seconds> next = backpressure_->next())
    listener_.after(std::max(Seconds(), *next - carrier_.now()), [this, timer] {
      if (timer == backpressure_timers_)
        release();
    });
}

/** Ends the wait of roots whose blocks the receivers have taken. */
void MulticastFlows::release()
{
  for (const std::size_t number : backpressure_->take_left(carrier_.now())) {
    const Shared departure = std::exchange(departures_[number], nullptr);
    for (const std::size_t flow : departure->first_flows())
      ended(departure, flow);
  }
  await_backpressure();
}

std::vector<std::size_t> MulticastFlows::Departure::first_flows() const
{
  std::vector<std::size_t> flows;
  for (const std::vector<std::size_t>& its : plan.leaving)
    flows.insert(flows.end(), its.begin(), its.end());
  std::ranges::sort(flows);
  flows.erase(std::ranges::unique(flows).begin(), flows.end());
  return flows;
}

void MulticastFlows::Departure::prepare()
{
  going = plan.flows.size();
  for (const MulticastArrival& arrival : plan.arrivals)
    coming_to.push_back(arrival.flows);
  being_fed = coming_to;
  unswitched.resize(coming_to.size());
  feeds.resize(going);
  roots_of.resize(going);
  for (std::size_t flow = 0; flow < plan.flows.size(); ++flow) {
    fed_by.push_back(plan.flows[flow].after.size());
    waits_for.push_back(1 + fed_by.back());
    for (const std::size_t feeding : plan.flows[flow].after)
      feeds[feeding].push_back(flow);
  }
  for (std::size_t root = 0; root < plan.leaving.size(); ++root) {
    leaves_after.push_back(plan.leaving[root].size());
    for (const std::size_t flow : plan.leaving[root])
      roots_of[flow].push_back(root);
  }
}

/** Returns the drops of links that lose packets because of a fault. */
MoreDrops MulticastFlows::drops_of_links() const
{
  if (not recovery())
    return {};
  const LinkLosses& losses = recovery()->losses;
  const Fabric& fabric     = service_.fabric;
  MoreDrops more{{}, static_cast<std::int64_t>(losses.seed())};
  for (const int link : losses.lossy()) {
    if (std::cmp_greater_equal(link, fabric.links().size())) // a pool, which multicasts do not use
      break;
    DropRule& rule   = more.rules.emplace_back();
    rule.link        = fabric.link(link).name;
    rule.probability = 1 - std::pow(1 - losses.probability(link), call_.model.packets(call_.model.chunk));
  }
  return more;
}

void MulticastFlows::take_off(int block)
{
  const MulticastBlock& its = call_.block(block);
  auto& losses              = losses_[static_cast<std::size_t>(block)];
  losses                    = Drops(service_.fabric, call_.group, drops_of_links())
                                  .of({call_.identity.communicator, call_.identity.number, its.root, its.chunks});
  for (std::size_t rank = 0; rank < losses.size(); ++rank)
    drops_[rank].all += count_chunks(losses[rank]);
  ++moved_.multicasts;
  moved_.chunks += its.chunks;
  moved_.payload += call_.size(block).value();
  moved_.headers += (call_.model.packet_overhead * call_.model.packets(call_.size(block))).value();
}

/** Called when a flow, or one that feeds it, has ended. */
void MulticastFlows::ended(const Shared& departure, std::size_t flow)
{
  std::size_t& waits_for = departure->waits_for[flow];
  if (waits_for == 0) // a fault has ended it
    return;
  if (--waits_for == 0)
    complete(departure, flow);
}

void MulticastFlows::complete(const Shared& departure, std::size_t flow)
{
  for (const std::size_t root : departure->roots_of[flow])
    if (--departure->leaves_after[root] == 0)
      leave(*departure, root);
  arrive(*departure, flow);
  pass_on(departure, flow);
  if (--departure->going == 0)
    report(*departure);
}

/** Tells the flows that a flow feeds that nothing more comes from it. */
void MulticastFlows::pass_on(const Shared& departure, std::size_t flow)
{
  for (const std::size_t next : std::exchange(departure->feeds[flow], {})) {
    if (std::size_t& fed_by = departure->fed_by[next]; fed_by > 0) // otherwise its cable has failed before
      if (--fed_by == 0)
        fed(*departure, next);
    ended(departure, next);
  }
}

/** Called when all of a root's block has left it. Other ranks of its host receive it from the NIC. */
void MulticastFlows::leave(const Departure& departure, std::size_t root)
{
  const int block = departure.blocks[root];
  const int from  = call_.block(block).root;
  listener_.block_left(block);
  Deliveries deliveries;
  for (const int rank : ranks_at_[member_of(from)])
    if (rank != from)
      receive(rank, runs_of_block(rank, block), departure.start, clock(), deliveries);
  deliver(std::move(deliveries));
}

/** Called when all data of a flow have reached its switch, or with @p now, when its cable has failed and those that
 * have been sent until now count. Once this holds for all flows to a member, determines the chunks that found no room
 * in its port's buffer. */
void MulticastFlows::fed(Departure& departure, std::size_t flow, const BlockReach::Progress& now)
{
  if (ports_.empty())
    return;
  Bytes wire;
  std::int64_t all = 0;
  for (const int block : departure.blocks) {
    wire += wire_of(block);
    all += call_.block(block).chunks;
  }
  // The last chunk of a block may be partial.
  const double part = call_.model.wire(call_.model.chunk) * static_cast<double>(all) / wire;
  for (const int its : departure.plan.members[flow]) {
    const auto member = static_cast<std::size_t>(its);
    if (departure.reach && (now || departure.reach->any_stopped()))
      count_losses(its, departure, departure.reach->not_fed(flow, departure.reach->fed(flow, now)));
    if (--departure.being_fed[member] > 0)
      continue;
    Port& port = ports_[member];
    std::erase(port.since, departure.start);
    std::int64_t chunks = 0;
    for (const int rank : ranks_at_[member])
      chunks = std::max(chunks, count_chunks(runs_to(rank, departure)));
    const StagingRing::Arrival arrival{departure.start, clock(), static_cast<double>(chunks)};
    const double rate            = part / time_on_cable(ranks_at_[member].front()).value();
    departure.unswitched[member] = port.queue.take(arrival, rate, port.since).lost;
  }
}

/** Called when a flow has ended. Hosts that have now received the flows of all trees have their
 *  data one path latency later. */
void MulticastFlows::arrive(Departure& departure, std::size_t flow)
{
  Deliveries deliveries;
  for (const int its : departure.plan.members[flow]) {
    const auto member = static_cast<std::size_t>(its);
    if (departure.reach)
      count_arrival(its, departure, flow);
    if (--departure.coming_to[member] > 0)
      continue;
    const double way = departure.plan.arrivals[member].way.value();
    for (const int rank : ranks_at_[member]) {
      std::erase(hearing_[static_cast<std::size_t>(rank)].since, departure.start + way);
      receive(rank, pass_switch(rank, departure), departure.start + way, clock() + way, deliveries);
    }
  }
  deliver(std::move(deliveries));
}

std::vector<BlockRun> MulticastFlows::runs_of_block(int rank, int block) const
{
  const ChunkRun all{0, call_.block(block).chunks};
  const auto& losses = losses_[static_cast<std::size_t>(block)];
  if (losses.empty())
    return {{block, all}};
  std::vector<BlockRun> runs;
  for (const ChunkRun& left : without(all, losses[static_cast<std::size_t>(rank)]))
    runs.push_back({block, left});
  return runs;
}

std::vector<BlockRun> MulticastFlows::runs_to(int rank, const Departure& departure) const
{
  std::vector<BlockRun> runs;
  for (const int block : departure.blocks)
    if (member_of(call_.block(block).root) != member_of(rank))
      std::ranges::copy(runs_of_block(rank, block), std::back_inserter(runs));
  return runs;
}

/** Returns the chunks for which the rank's switch had room, and counts the others as drops. */
std::vector<BlockRun> MulticastFlows::pass_switch(int rank, const Departure& departure)
{
  std::vector<BlockRun> runs            = runs_to(rank, departure);
  const std::vector<std::int64_t>& lost = departure.unswitched[member_of(rank)];
  if (not lost.empty()) {
    std::vector<BlockRun> passed = interleaved_without(runs, lost);
    const std::int64_t missing   = count_chunks(runs) - count_chunks(passed);
    MulticastDrops& drops        = drops_[static_cast<std::size_t>(rank)];
    drops.all += missing;
    drops.port += missing;
    runs = std::move(passed);
  }
  return departure.reach && not ports_.empty() ? carried_of(rank, departure, std::move(runs)) : runs;
}

bool MulticastFlows::gets_some(int rank, const Departure& departure) const
{
  const bool lossless = std::ranges::all_of(
      departure.blocks, [this](int block) { return losses_[static_cast<std::size_t>(block)].empty(); });
  return lossless || not runs_to(rank, departure).empty();
}

void MulticastFlows::receive(int rank, std::vector<BlockRun> runs, double first, double last, Deliveries& deliveries)
{
  const std::int64_t chunks = count_chunks(runs);
  if (chunks == 0)
    return;
  Hearing& its            = hearing_[static_cast<std::size_t>(rank)];
  const auto [time, lost] = reception_.process(rank, {first, last, static_cast<double>(chunks)}, its.since);
  if (not lost.empty()) {
    drops_[static_cast<std::size_t>(rank)].all += static_cast<std::int64_t>(lost.size());
    drops_[static_cast<std::size_t>(rank)].staging += static_cast<std::int64_t>(lost.size());
    runs = interleaved_without(runs, lost);
  }
  its.last = time;
  deliveries[time].emplace_back(rank, std::move(runs));
}

void MulticastFlows::deliver(Deliveries deliveries)
{
  for (auto& [time, its] : deliveries)
    listener_.after(Seconds(time - clock()), [this, its = std::move(its)] {
      for (const auto& [rank, runs] : its)
        for (const BlockRun& run : runs)
          listener_.chunks_came(rank, run.block, run.chunks);
    });
}

void MulticastFlows::report(const Departure& departure)
{
  Bytes all;
  for (const int block : departure.blocks)
    all += call_.size(block);
  owner_.forwarded(all, Seconds(departure.start));
}

} // namespace weft
