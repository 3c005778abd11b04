// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/messages/fabric_messages.hpp"

#include "binding/messages/zone_routes.hpp"
#include "binding/settings/settings.hpp"
#include "network/nic_queues.hpp"
#include "packets/packet_network.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Routes whose messages are also counted by job. */
class JobRoutes : public ZoneRoutes {
  JobTraffic& traffic_;
  const Fabric& fabric_;
  int job_ = JobTraffic::UNKNOWN; // job of the message being sent; UNKNOWN: determined by its hosts

protected:
  int job(int from, int to) const { return job_ == JobTraffic::UNKNOWN ? traffic_.job_between(from, to) : job_; }

public:
  template <class Source>
  JobRoutes(const Source& source, FabricZone& zone, JobTraffic& traffic, const Fabric& fabric)
      : ZoneRoutes(source, zone.traffic()), traffic_(traffic), fabric_(fabric)
  {
  }

  /** Sets the job of subsequent messages. */
  void turn_to(int job) { job_ = job; }
  void repeat(const FlowRoute& way, int from, int to, Bytes bytes) override
  {
    const int its = job(from, to);
    traffic_.count_message(its, bytes);
    for (const int resource : way.resources)
      if (fabric_.counts(resource, from, to))
        traffic_.count_bytes(its, resource, bytes);
    ZoneRoutes::repeat(way, from, to, bytes);
  }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override
  {
    if (not is_rest())
      traffic_.count_message(job(from, to), bytes);
    ZoneRoutes::find(from, to, bytes, missed, into);
  }

protected:
  void count_storage(int resource, int from, int to, Bytes bytes) override
  {
    traffic_.count_bytes(job(from, to), resource, bytes);
    ZoneRoutes::count_storage(resource, from, to, bytes);
  }
  Seconds start(const Route& route, int from, int to, Bytes bytes) override
  {
    for (const LinkId link : route.links)
      traffic_.count_bytes(job(from, to), fabric_.counted_as(link, from, to), sent_of(bytes));
    return ZoneRoutes::start(route, from, to, bytes);
  }
};

/** Classes in which flows share links. */
class ShareClasses {
  LinkSharing sharing_;
  int jobs_;
  int background_;
  std::vector<int> tails_; // by link

  /** Returns the host at which all links of a flow that begin at a host begin; BY_LINK if there are several such
   * hosts. */
  int source_of(const StreamFlow& flow, int hosts) const
  {
    int source = ClassFairShare::BY_LINK;
    for (const FlowLink& link : flow.links) {
      const int tail = tails_[static_cast<std::size_t>(link.link)];
      if (tail >= hosts || tail == source)
        continue;
      if (source != ClassFairShare::BY_LINK)
        return ClassFairShare::BY_LINK;
      source = tail;
    }
    return source;
  }

public:
  ShareClasses(const Fabric& fabric, const LinkWeights& weights)
      : sharing_(fabric.sharing()), jobs_(static_cast<int>(weights.jobs.size())),
        background_(static_cast<int>(weights.background.size()))
  {
    if (sharing_ == LinkSharing::job && jobs_ + background_ < 2)
      sharing_ = LinkSharing::flow; // the only class
    if (sharing_ == LinkSharing::host)
      tails_ = FabricRoutes::tails(fabric);
  }
  LinkSharing sharing() const { return sharing_; }
  /** Returns the class of a job or a table of background traffic. */
  int of_job(int job) const
  {
    if (job <= JobTraffic::NONE)
      return jobs_ + JobTraffic::NONE - job;
    return job >= 0 ? job : jobs_ + background_; // hosts of several jobs
  }
  int of_flow(const StreamFlow& flow, int world, int hosts) const
  {
    return sharing_ == LinkSharing::host ? source_of(flow, hosts) : of_job(world);
  }
  /** Makes a network share links by these classes. */
  void apply(const Fabric& fabric, const LinkWeights& weights, FlowNetwork& flows) const
  {
    if (sharing_ == LinkSharing::flow)
      return;
    flows.share_by_class(FabricRoutes::tails(fabric), sharing_ == LinkSharing::host);
    if (sharing_ == LinkSharing::host)
      return;
    for (int job = 0; job < jobs_; ++job)
      flows.set_class_weight(job, weights.jobs[static_cast<std::size_t>(job)]);
    for (int table = 0; table < background_; ++table)
      flows.set_class_weight(jobs_ + table, weights.background[static_cast<std::size_t>(table)]);
  }
};

/** Routes of messages that share links by job. */
class JobShares : public JobRoutes {
  const ShareClasses& classes_;

public:
  template <class Source>
  JobShares(const Source& source, FabricZone& zone, JobTraffic& traffic, const Fabric& fabric,
            const ShareClasses& classes)
      : JobRoutes(source, zone, traffic, fabric), classes_(classes)
  {
  }
  /** Equal messages of two jobs are two flows. */
  bool repeats() const override { return false; }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override
  {
    JobRoutes::find(from, to, bytes, missed, into);
    into.share_class = classes_.of_job(job(from, to));
  }
};

/** Interface for the messages of one job. */
class JobMessages : public Messages {
  Messages& network_;
  JobRoutes& routes_;
  int job_;

public:
  JobMessages(Messages& network, JobRoutes& routes, int job) : network_(network), routes_(routes), job_(job) {}
  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override
  {
    routes_.turn_to(job_);
    network_.send(from, to, bytes, missed, receiver, message);
    routes_.turn_to(JobTraffic::UNKNOWN);
  }
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override
  {
    routes_.turn_to(job_);
    network_.send_on_sockets(message, receiver, number);
    routes_.turn_to(JobTraffic::UNKNOWN);
  }
  void work(const SocketWork& work, Receiving& receiver, std::uint64_t number) override
  {
    network_.work(work, receiver, number);
  }
};

/** Flows and messages of offloaded calls. */
class CallFlows : public Receiving, public Due {
  struct Message {
    VertexId from;
    VertexId to;
    Bytes bytes;
    int world;
    std::uint64_t number;
  };
  FabricZone& zone_;
  HostNetwork& network_;
  JobTraffic* traffic_; // null if there is one job
  const ShareClasses& classes_;
  FlowNetwork* flows_ = nullptr;
  const Fabric& fabric_;
  std::vector<double> bounds_; // by resource, if links do not contend
  FlowRoute way_;
  std::vector<FlowEnd> ends_;    // by number of the flow or message
  std::vector<bool> breakables_; // by number
  std::vector<std::uint64_t> idle_;
  std::map<std::uint64_t, std::pair<VertexId, VertexId>> storage_ends_; // by number of a storage flow
  std::vector<Message> leaving_;                                        // messages that leave at this instant

public:
  CallFlows(const Fabric& fabric, FabricZone& zone, HostNetwork& network, JobTraffic* traffic,
            const ShareClasses& classes)
      : zone_(zone), network_(network), traffic_(traffic), classes_(classes), fabric_(fabric),
        bounds_(settings().contention ? std::vector<double>() : FabricRoutes::capacities(fabric))
  {
  }

  void serve(FlowNetwork& flows) { flows_ = &flows; }

  std::uint64_t start(const StreamFlow& flow, Seconds latency, Seconds sharing, int world, FlowEnd done,
                      bool breakable = false)
  {
    find_way(flow);
    if (breakable)
      way_.volume = flow.wire.value(); // may be the remainder of a flow
    count_for(world, flow);
    way_.latency = latency.value();
    way_.penalty = std::max(sharing.value(), FlowRoute::LEAST_PENALTY);
    if (classes_.sharing() != LinkSharing::flow)
      way_.share_class = classes_.of_flow(flow, world, fabric_.host_count());
    const std::uint64_t number = begin(std::move(done), breakable);
    flows_->start(way_, Seconds(sg::Engine::get_clock()), *this, number);
    network_.wake();
    return number;
  }

  double left(std::uint64_t number) const { return flows_->left(*this, number).value_or(0); }

  double cancel(std::uint64_t number)
  {
    if (not ends_[number]) // it is ending
      return 0;
    if (const std::optional<double> left = flows_->cancel(*this, number)) {
      ends_[number] = nullptr;
      idle_.push_back(number);
      network_.message_ends();
      return *left;
    }
    ends_[number] = [](const FlowResult& /*result*/) {}; // the flow is being cut
    return 0;
  }

  void send(VertexId from, VertexId to, Bytes bytes, int world, FlowEnd done)
  {
    // Whole bytes, as SimGrid's messages.
    leaving_.push_back({from, to, Bytes(std::floor(bytes.value())), world, begin(std::move(done))});
    if (leaving_.size() > 1)
      return;
    network_.call_after(Seconds(), *this, 0);
  }

  void start_on_storage(ZoneRoutes& routes, VertexId from, VertexId to, const std::vector<int>& storage, Bytes bytes,
                        BytesPerSecond limit, FlowEnd done)
  {
    routes.find_storage_flow(from, to, storage, bytes, limit, way_);
    if (classes_.sharing() == LinkSharing::host)
      way_.share_class = from;
    else if (classes_.sharing() == LinkSharing::job)
      way_.share_class = classes_.of_job(traffic_ ? traffic_->job_between(from, to) : 0);
    const std::uint64_t number = begin(std::move(done));
    storage_ends_[number]      = {from, to};
    flows_->start(way_, Seconds(sg::Engine::get_clock()), *this, number);
    network_.wake();
  }

  void due(std::uint64_t /*what*/) override
  {
    for (const Message& message : std::exchange(leaving_, {}))
      network_.messages_of(message.world)
          .send(message.from, message.to, message.bytes, UNKNOWN_PART, *this, message.number);
  }

  /** Counts a flow's bytes as traffic of a job. */
  void count_for(int world, const StreamFlow& flow)
  {
    if (not traffic_)
      return;
    for (const FlowLink& link : flow.links)
      traffic_->count_bytes(world, link.link, link.wire);
  }

  void arrived(std::uint64_t number) override { end(number, {}); }
  void failed(std::uint64_t number, const std::string& why) override { end(number, {why}); }
  bool cut(std::uint64_t number, double part, const std::string& why) override
  {
    if (not breakables_[number])
      return false;
    end(number, {why, part});
    return true;
  }

  std::optional<std::pair<int, int>> ends_of(std::uint64_t number) const override
  {
    const auto found = storage_ends_.find(number);
    return found == storage_ends_.end() ? std::nullopt : std::optional<std::pair<int, int>>(found->second);
  }

private:
  void find_way(const StreamFlow& flow)
  {
    way_.resources.clear();
    way_.volume = std::max(1.0, std::floor(flow.wire.value())); // like StreamZone
    way_.bound  = flow.rate_limit.value();
    for (const FlowLink& link : flow.links) {
      const std::size_t first = way_.resources.size();
      zone_.resources().append_numbers(link.link, way_.resources);
      const std::size_t one = way_.resources.size() - first;
      for (std::int64_t message = 1; message < link.messages; ++message)
        for (std::size_t at = first; at < first + one; ++at)
          way_.resources.push_back(way_.resources[at]);
      zone_.traffic().count_bytes(link.link, link.wire);
    }
    if (not bounds_.empty())
      for (const int resource : way_.resources)
        way_.bound = std::min(way_.bound, bounds_[static_cast<std::size_t>(resource)]);
  }

  std::uint64_t begin(FlowEnd done, bool breakable = false)
  {
    if (idle_.empty()) {
      idle_.push_back(ends_.size());
      ends_.emplace_back();
      breakables_.push_back(false);
    }
    const std::uint64_t number = idle_.back();
    idle_.pop_back();
    ends_[number]       = std::move(done);
    breakables_[number] = breakable;
    network_.message_leaves();
    return number;
  }

  void end(std::uint64_t number, const FlowResult& result)
  {
    const FlowEnd done = std::exchange(ends_[number], nullptr);
    if (not storage_ends_.empty())
      storage_ends_.erase(number);
    idle_.push_back(number);
    network_.message_ends();
    done(result);
  }
};

/** Returns the capacities of a fabric's resources. Links and media without contention carry any number of flows, each
 * bounded by the narrowest of them. */
std::vector<double> capacities_of(const Fabric& fabric)
{
  std::vector<double> all = FabricRoutes::capacities(fabric);
  if (not settings().contention)
    std::fill_n(all.begin(), fabric.links().size() + fabric.shared().size(), std::numeric_limits<double>::infinity());
  return all;
}

/** @p source: the fabric, or routing's view of it. */
template <class Source>
std::unique_ptr<ZoneRoutes> make_routes(const Source& source, FabricZone& zone, JobTraffic* traffic,
                                        const Fabric& fabric, const ShareClasses& classes)
{
  if (classes.sharing() == LinkSharing::job)
    return std::make_unique<JobShares>(source, zone, *traffic, fabric, classes);
  if (traffic)
    return std::make_unique<JobRoutes>(source, zone, *traffic, fabric);
  return std::make_unique<ZoneRoutes>(source, zone.traffic());
}

std::unique_ptr<ZoneRoutes> make_routes(const Fabric& fabric, const FabricState* known, FabricZone& zone,
                                        JobTraffic* traffic, const ShareClasses& classes)
{
  return known ? make_routes(known, zone, traffic, fabric, classes)
               : make_routes(fabric, zone, traffic, fabric, classes);
}

/** Returns the traffic of a single job on all hosts, for a run with one job. */
JobTraffic one_job(const Fabric& fabric)
{
  std::vector<int> hosts(static_cast<std::size_t>(fabric.host_count()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return {{hosts}, fabric.host_count(), fabric.counted()};
}

/** Offloaded calls on a network of packets. */
class CallPackets : public TreeNetwork {
  PacketNetwork& packets_;
  HostNetwork& network_;
  JobTraffic* const traffic_; // null if there is one job

public:
  CallPackets(PacketNetwork& packets, HostNetwork& network, JobTraffic* traffic)
      : packets_(packets), network_(network), traffic_(traffic)
  {
  }

  void start(const TreePackets& call, Seconds now, Seconds jitter, int world, std::function<void()> done) override
  {
    if (traffic_)
      count_for(world, call);
    network_.message_leaves();
    packets_.start(call, now, jitter, world, [this, done = std::move(done)] {
      network_.message_ends();
      done();
    });
    network_.wake();
  }

private:
  /** Counts a call's bytes as traffic of a job. */
  void count_for(int world, const TreePackets& call)
  {
    const Bytes wire = call.payload * static_cast<double>(call.packets - 1) + call.last_payload +
                       call.overhead * static_cast<double>(call.packets);
    const auto count = [&](const TreePackets::Edge& edge) {
      for (const LinkId link : edge.links) {
        if (edge.crossing != TreePackets::Crossing::down)
          traffic_->count_bytes(world, link, wire);
        if (edge.crossing != TreePackets::Crossing::up)
          traffic_->count_bytes(world, reverse(link), wire);
      }
    };
    for (const TreePackets::Switch& one : call.switches)
      count(one.edge);
    for (const TreePackets::Edge& member : call.members)
      count(member);
  }
};

class FabricHostNetwork : public HostNetwork {
  const Fabric& fabric_;
  ShareClasses classes_;
  std::optional<JobTraffic>
      own_traffic_;     // traffic of the only job, if it shares links with background traffic by weight
  JobTraffic* traffic_; // null if there is one job
  std::unique_ptr<ZoneRoutes> ways_;
  FabricZone& zone_;
  CallFlows offloaded_;
  FlowNetwork flows_;
  std::optional<PacketNetwork> packets_; // for messages between hosts, if the fabric simulates packets
  std::optional<CallPackets> trees_;     // offloaded calls on it
  std::deque<JobMessages> background_;   // by table, if links are shared by job
  std::deque<JobMessages> messages_;     // by world; empty if there is one job
  std::optional<NicQueues> nics_;        // present if NICs limit the message rate
  std::deque<QueuedMessages> queued_;    // in front of flows_, messages_ and background_
  std::unordered_map<const Messages*, QueuedMessages*> queue_before_;
  std::optional<Recovery> recovery_; // in runs with faults

  /** Returns the network of messages between hosts. */
  Messages& network() { return packets_ ? static_cast<Messages&>(*packets_) : flows_; }
  /** Puts the NICs' queues in front of all messages. */
  void queue_all(const Fabric& fabric)
  {
    nics_.emplace(agenda_, fabric.nic().message_rate, fabric.host_count());
    const auto put_before = [this](Messages& onward) {
      queue_before_.emplace(&onward, &queued_.emplace_back(*nics_, onward));
    };
    put_before(network());
    for (JobMessages& one : background_)
      put_before(one);
    for (JobMessages& one : messages_)
      put_before(one);
  }
  /** Returns the queue in front of @p messages, or @p messages if there are no queues. */
  Messages& queued(Messages& messages)
  {
    return nics_ ? static_cast<Messages&>(*queue_before_.at(&messages)) : messages;
  }

public:
  FabricHostNetwork(const Fabric& fabric, FabricZone& zone, MessageCosts its_costs, bool folds, JobTraffic* traffic,
                    const FabricState* known, const LinkWeights& weights, const RecoveryModel* recovery)
      : HostNetwork(std::move(its_costs)), fabric_(fabric), classes_(fabric, weights),
        own_traffic_(not traffic && classes_.sharing() == LinkSharing::job ? std::optional(one_job(fabric))
                                                                           : std::nullopt),
        traffic_(own_traffic_ ? &*own_traffic_ : traffic), ways_(make_routes(fabric, known, zone, traffic_, classes_)),
        zone_(zone), offloaded_(fabric, zone, *this, traffic_, classes_),
        flows_(agenda_, *ways_, capacities_of(fabric), fabric.host_count() + fabric.switch_count(), folds)
  {
    offloaded_.serve(flows_);
    flows_.set_resolution(fabric.resolution());
    if (fabric.packets().carries()) {
      packets_.emplace(agenda_, *ways_, fabric, flows_, recovery);
      trees_.emplace(*packets_, *this, traffic_);
    }
    classes_.apply(fabric, weights, flows_);
    const int tables = classes_.sharing() == LinkSharing::job ? static_cast<int>(weights.background.size()) : 1;
    for (int table = 0; traffic_ && table < tables; ++table)
      background_.emplace_back(network(), static_cast<JobRoutes&>(*ways_), JobTraffic::NONE - table);
    for (int job = 0; traffic_ && job < traffic_->jobs(); ++job)
      messages_.emplace_back(network(), static_cast<JobRoutes&>(*ways_), job);
    if (fabric.nic().limits_messages())
      queue_all(fabric);
  }
  Messages& messages() override { return queued(network()); }
  Messages& messages_of(int world) override
  {
    if (world <= JobTraffic::NONE && not background_.empty())
      return queued(background_[std::min(static_cast<std::size_t>(JobTraffic::NONE - world), background_.size() - 1)]);
    const auto job = static_cast<std::size_t>(world);
    return queued(job < messages_.size() ? static_cast<Messages&>(messages_[job]) : network());
  }
  TreeNetwork* trees() override { return trees_ ? &*trees_ : nullptr; }
  void start_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world, FlowEnd done) override
  {
    offloaded_.start(flow, latency, sharing, world, std::move(done));
  }
  std::uint64_t start_breakable_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world,
                                     FlowEnd done) override
  {
    return offloaded_.start(flow, latency, sharing, world, std::move(done), true);
  }
  double left_of_flow(std::uint64_t number) override { return offloaded_.left(number); }
  double cancel_flow(std::uint64_t number) override { return offloaded_.cancel(number); }
  Recovery& begin_faults(FabricState& actual, FabricState& known, const RecoveryModel& model,
                         LinkLosses& losses) override
  {
    flows_.lose_packets(losses);
    Recovery& recovery = recovery_.emplace(agenda_, flows_, actual, known, model);
    if (packets_) {
      packets_->begin_faults(known, losses);
      recovery.include(*packets_);
    }
    recovery.on_convergence([this, &known] { flows_.update_capacities(zone_.traffic().change_routes(known)); });
    return recovery;
  }
  void transfer(VertexId from, VertexId to, Bytes bytes, int world, FlowEnd done) override
  {
    offloaded_.send(from, to, bytes, world, std::move(done));
  }
  void start_storage_flow(VertexId from, VertexId to, const std::vector<int>& storage, Bytes bytes,
                          BytesPerSecond limit, FlowEnd done) override
  {
    if (packets_) {
      refuse("files of MPI need flows; run without --network packets", {});
      return;
    }
    offloaded_.start_on_storage(*ways_, from, to, storage, bytes, limit, std::move(done));
  }
  bool has_foreground() const override
  {
    return flows_.carries_foreground() || (packets_ && packets_->carries_foreground()) ||
           agenda_.any_but([this](const Due& due) {
             return &due == static_cast<const Due*>(&flows_) ||
                    dynamic_cast<const BackgroundReceiver*>(&due) != nullptr;
           });
  }
  FlowNetwork::Work work() const override { return flows_.work(); }
  const PacketNetwork::Work* packet_work() const override { return packets_ ? &packets_->work() : nullptr; }
  double use_of(LinkId link) override
  {
    std::vector<int> resources;
    zone_.resources().append_numbers(link, resources);
    if (packets_ && packets_->is_sending(link, Seconds(sg::Engine::get_clock())))
      return fabric_.link(link).bandwidth.value();
    double most = 0;
    for (const int resource : resources) {
      const double load  = flows_.load(resource, Seconds(sg::Engine::get_clock()));
      const bool is_pool = fabric_.sprays() && resource != link;
      most               = std::max(most, is_pool ? load / fabric_.links_of_pool(link) : load);
    }
    return most;
  }
};

} // namespace

std::unique_ptr<HostNetwork> make_fabric_host_network(const Fabric& fabric, FabricZone& zone, MessageCosts costs,
                                                      bool folds, JobTraffic* traffic, const FabricState* known,
                                                      const LinkWeights& weights, const RecoveryModel* recovery)
{
  // Without contention SimGrid bounds a flow for several messages like a single message.
  return std::make_unique<FabricHostNetwork>(fabric, zone, std::move(costs), folds && settings().contention, traffic,
                                             known, weights, recovery);
}

} // namespace weft
