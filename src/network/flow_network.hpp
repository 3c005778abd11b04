// SPDX-License-Identifier: LGPL-2.1-only
/* Flows over links: messages between hosts, and flows over any set of links, such as the links of a multicast tree. A
 * flow waits for the latency of its route, and then shares the links of the route with other flows. The model is
 * SimGrid's (flow-level, max-min). The flows of a collective are many and similar, which SimGrid cannot exploit:
 *
 *   - Equal messages that start at the same instant between the same two hosts are coalesced into one flow with copies.
 *   - Flows with the same resources, bound and penalty have the same rate: they form one group, and the solver sees
 *     groups. A group counts the bytes served to each of its flows, so that only its next end is an event.
 *   - A flow that is alone on its links needs no solver.
 *   - Rates are recomputed once per instant, and only those that change (sharing/incremental_fair_share.hpp); events
 *     within rounding of an instant belong to it.
 *   - A heap holds the ends of groups that share links; the agenda holds only the earliest.
 *
 * While a crowd of flows shares links, updates of their rates are a resolution apart (UpdateSchedule). Changes in
 * between are deferred: a flow that joins has a provisional rate, an equal share of its links, and existing flows keep
 * their rates. The next update applies the new rates as of the mean time of the changes. Its error is thus unbiased:
 * flows that ended before that time are as much too late as flows that ended after it are too early.
 *
 * Short messages queue at links that many short messages, but no long flows, share (LinkQueues).
 *
 * Links may be shared by class instead (sharing/class_fair_share.hpp); all flows of a group are then of one class. */
#pragma once

#include "base/units.hpp"
#include "fabric/fabric_tables.hpp"
#include "network/agenda.hpp"
#include "network/event_heap.hpp"
#include "network/link_losses.hpp"
#include "network/link_queues.hpp"
#include "network/messages.hpp"
#include "network/sharing/class_fair_share.hpp"
#include "network/sharing/incremental_fair_share.hpp"
#include "network/update_schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Route of a flow, as the network sees it. */
struct FlowRoute {
  static constexpr double LEAST_PENALTY = 1e-9; ///< of a way without latency

  std::vector<int> resources; ///< shared resources, with repetitions; empty: the flow is always alone
  double latency = 0;         ///< seconds until the flow uses its resources
  double volume  = 0;         ///< bytes that the flow puts on its resources
  double bound   = 0;         ///< upper bound on its rate in bytes per second
  double penalty = 1; ///< inversely proportional to its share of a full resource, at least LEAST_PENALTY; in SimGrid,
                      ///< the route's own latency
  std::uint64_t known_as = 0; ///< identifier assigned by MessageRoutes
  int share_class        = 0; ///< class of the flow if links are shared by class (ClassFairShare)
};

/** Source of the routes of messages. */
class MessageRoutes {
public:
  MessageRoutes()                                = default;
  MessageRoutes(const MessageRoutes&)            = delete;
  MessageRoutes& operator=(const MessageRoutes&) = delete;
  virtual ~MessageRoutes()                       = default;
  /** Finds the route of a message from vertex @p from to vertex @p to. @p missed is the fraction of it that misses the
   * hosts' caches. */
  virtual void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) = 0;
  /** Finds the route of a message between ranks whose sockets are known. */
  virtual void find_on_sockets(const SocketMessage& message, FlowRoute& into)
  {
    find(message.from, message.to, message.bytes, message.missed, into);
  }
  /** Finds the resources that a core's work uses. */
  virtual void find_work(const SocketWork& /*work*/, FlowRoute& /*into*/)
  {
    throw std::logic_error("these routes have no sockets");
  }
  /** Counts another message with the same start, size and route. */
  virtual void repeat(const FlowRoute& /*way*/, int /*from*/, int /*to*/, Bytes /*bytes*/) {}
  /** Returns whether equal messages between the same hosts at the same instant have equal routes. */
  virtual bool repeats() const { return true; }
  /** Returns whether capacities depend on a resource's users; if so, the network calls left() and capacity(). */
  virtual bool vary() const { return false; }
  /** Returns whether routes depend on a resource's users; if so, the network calls entered() and left(). */
  virtual bool follows() const { return false; }
  /** Called when a flow starts whose route was not found here. */
  virtual void entered(const FlowRoute& /*way*/) {}
  /** Called when the flow of a route ends. */
  virtual void left(const FlowRoute& /*way*/) {}
  /** Returns the current capacity of a resource, at most @p fixed. */
  virtual double capacity(int /*resource*/, double fixed) { return fixed; }
  /** Returns the resources on the route between two vertices; null if routing knows of none. Does not count a
   * message. */
  virtual const std::vector<int>* known_route(int from, int to) = 0;
  /** Finds the route of a message's remainder, the fraction @p part of it that has not arrived. The volume is that of
   * the whole message. */
  virtual void find_rest(int from, int to, Bytes bytes, double missed, double /*part*/, FlowRoute& into)
  {
    find(from, to, bytes, missed, into);
  }
};

using FlowNumber = std::size_t;

/** Message of a flow, or the flow itself if start() began it. */
struct InFlight {
  Receiving* receiver  = nullptr;
  std::uint64_t number = 0;
};

/** Remainder of a flow that was cut because a resource went off. */
struct CutFlow {
  int from = -1; ///< vertex of a message; -1: a flow of start()
  int to   = -1;
  Bytes bytes;                         ///< of the whole message
  double missed = 0;                   ///< as in Messages::send()
  double part   = 1;                   ///< fraction of the message, or of the flow's volume, that has not arrived
  bool lost     = false;               ///< true if the flow was not cut: a link has lost the last packet
  Seconds since;                       ///< time since which the sender has had no acknowledgement
  FlowRoute way                  = {}; ///< route of a flow of start()
  std::vector<InFlight> messages = {};
};

/** Receiver of the remainders of flows that are cut. */
class CutFlows {
public:
  CutFlows()                           = default;
  CutFlows(const CutFlows&)            = delete;
  CutFlows& operator=(const CutFlows&) = delete;
  virtual ~CutFlows()                  = default;
  virtual void cut(CutFlow rest)       = 0;
};

class FlowNetwork : public Messages, public Due, public Settling {
public:
  /** Counters of the work done so far. */
  struct Work {
    std::size_t messages = 0;
    std::size_t flows    = 0; ///< flows after coalescing
    std::size_t solved   = 0; ///< updates that changed rates of flows that share links
    std::size_t rates    = 0; ///< rates changed by these updates
    std::size_t merged   = 0; ///< updates that were deferred to merge changes
    std::size_t crowd    = 0; ///< most flows that an update solved together before such a delay
    double longest       = 0; ///< longest time in seconds between such updates
    std::size_t queued   = 0; ///< messages that queued at links
  };

private:
  static constexpr FlowNumber NONE = std::numeric_limits<FlowNumber>::max();
  static constexpr double NEVER    = std::numeric_limits<double>::infinity();
  enum class State : std::uint8_t { idle, starting, flowing, queued, ended };
  using GroupNumber                     = IncrementalFairShare::FlowNumber;
  static constexpr GroupNumber NO_GROUP = std::numeric_limits<GroupNumber>::max();
  struct Flow {
    [[no_unique_address]] FlowRoute
        way; // the next members use its tail padding, which makes a flow's address cheaper to compute
    State state           = State::idle;
    bool counted          = false; // true if the queues of its links count the flow as long
    int from              = -1;
    int to                = -1;
    double bytes          = 0; // negative for a remainder or a message between sockets, so that no message equals it
    double missed         = 0;
    double since          = 0;    // time of sending
    double part           = 1;    // fraction of the message that it carries
    GroupNumber group     = 0;    // valid while it flows
    std::uint32_t version = 0;    // version of its expected end
    FlowNumber next_idle  = NONE; // next idle flow that started from the same vertex
    std::vector<InFlight> messages;
  };
  struct Member {
    double until;         // bytes served to the group at which this member ends
    std::uint64_t joined; // position in the order of joining, over all groups
    FlowNumber flow;
    static bool later(const Member& one, const Member& other)
    {
      return one.until > other.until || (one.until == other.until && one.joined > other.joined);
    }
  };
  struct Group {               // flow of fair_share_, with one copy per message of its members
    double rate           = 0; // rate of each copy
    double served         = 0; // bytes of each copy, at time `since`
    double since          = 0;
    double ends           = 0;   // time at which the next member ends at this rate
    double opened         = 0;   // time at which the group's first member joined
    double volume         = 0;   // volume of the member that joined last
    std::uint32_t version = 0;   // version of `ends`
    std::vector<Member> members; // heap by end; the next member to end is in front
  };
  struct Ending { // group with a member that ends now
    std::uint64_t joined;
    GroupNumber group;
    std::uint32_t version;
  };
  static constexpr std::size_t REMEMBERED = 4;
  struct Recent {                        // flows started most recently from a vertex
    FlowNumber idle              = NONE; // list of idle flows that last started from the vertex
    double time                  = -1;
    std::size_t next             = 0;
    std::size_t count            = 0;
    FlowNumber flows[REMEMBERED] = {}; // NOLINT(modernize-avoid-c-arrays)
  };

  Agenda& agenda_;
  MessageRoutes& ways_;
  bool folds_;
  bool vary_;                            // true if capacities depend on users
  bool special_;                         // true if capacities depend on users, or links are shared by class
  bool follows_;                         // true if routes depend on flows
  bool reports_ends_;                    // true if capacities or routes depend on flows
  std::vector<double> fixed_capacities_; // only if capacities depend on users
  IncrementalFairShare fair_share_;      // its flows are the groups
  std::vector<std::uint32_t> hashes_;    // of the resources of groups
  std::optional<ClassFairShare> classes_;
  bool class_of_source_ = false; // true if the class of a message is the vertex from which it was sent
  std::vector<Flow> flows_;
  std::vector<Group> groups_;
  EventHeap ends_;          // ends of groups that share links
  double next_end_ = NEVER; // the earliest of these ends, which is on the agenda
  std::vector<Ending> ending_;
  std::vector<Recent> recent_; // by vertex
  FlowNumber idle_ = NONE;     // list of idle flows that did not start from a vertex
  std::size_t resources_;      // number of them
  Work work_;
  UpdateSchedule updates_;
  std::optional<LinkQueues> queues_;
  std::uint64_t joined_ = 0;    // number of flows that have joined
  std::vector<InFlight> spare_; // reused to avoid allocations
  std::vector<bool> off_;       // by resource; empty until one goes off
  CutFlows* cutting_  = nullptr;
  LinkLosses* losses_ = nullptr;

  FlowNumber& idle_of(int from) { return from < 0 ? idle_ : recent_[static_cast<std::size_t>(from)].idle; }
  FlowNumber borrow(int from);
  Flow* same(int from, int to, double bytes, double missed, double since);
  void send_since(double since, int from, int to, Bytes bytes, double missed, Receiving& receiver,
                  std::uint64_t message);
  void begin_latency(FlowNumber number);
  bool may_join(FlowNumber number);
  bool has_turn(const Flow& flow) const;
  double unsent(int resource) const;
  void queue(FlowNumber number);
  void count_long_flow(Flow& flow);
  void uncount_long_flow(Flow& flow);
  void join(FlowNumber number);
  GroupNumber group_of(const FlowRoute& way, std::uint32_t hash) const;
  GroupNumber open_group(const FlowRoute& way, double copies);
  GroupNumber enter_group(const FlowRoute& way, double copies);
  GroupNumber enter_group_of_class(int share_class, const FlowRoute& way, double copies);
  GroupNumber enter_specially(const Flow& flow, double copies);
  void leave(FlowNumber number);
  void end_members(GroupNumber number, std::uint32_t version);
  void end_groups();
  std::vector<InFlight> release(FlowNumber number);
  void end(FlowNumber number);
  void ask_capacities(const std::vector<int>& resources);
  void advance(Group& group) const;
  double served(const Group& group) const { return group.served + group.rate * (agenda_.now().value() - group.since); }
  void advance(Group& group, double time) const;
  void set_rate(Group& group, double rate) const;
  void set_rates(const std::vector<GroupNumber>& changed);
  void note_change(GroupNumber number);
  double provisional_rate(GroupNumber number) const;
  bool wait_for_changes();
  double duration(const std::vector<GroupNumber>& changed) const;
  void update_specially();
  bool is_off(const std::vector<int>& resources) const;
  CutFlow take_rest(FlowNumber number, double left, double since);
  std::vector<Member> dissolve(GroupNumber number);
  void cut_group(GroupNumber number, std::vector<CutFlow>& rests);
  void end_now(FlowNumber number);
  bool loses() const { return losses_ && losses_->any(); }
  void lose_last_packets(FlowNumber number);
  void enlarge(FlowNumber number, double factor);
  FlowNumber find_started(const Receiving& receiver, std::uint64_t message) const;
  double part_left(FlowNumber number) const;

public:
  /** @p capacities are in bytes per second, by resource. Messages are between @p vertices vertices, the first of which
   * are hosts. @p agenda and @p ways must outlive the network. @p folds: coalesces equal messages, which does not
   * change times. */
  FlowNetwork(Agenda& agenda, MessageRoutes& ways, const std::vector<double>& capacities, int vertices,
              bool folds = true);

  /** Shares resources by class; call it before any flow starts. @p tails: see ClassFairShare. @p of_source: the class
   * of a message is the vertex that it leaves, not its FlowRoute::share_class. */
  void share_by_class(std::vector<int> tails, bool of_source);
  void set_class_weight(int share_class, double weight) { classes_.value().set_weight(share_class, weight); }

  /** Merges changes within @p resolution; call it before any flow starts. */
  void set_resolution(TimeResolution resolution);

  /** Sends a message, which may be coalesced with equal ones. */
  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override
  {
    send_since(agenda_.now().value(), from, to, bytes, missed, receiver, message);
  }
  /** Sends a message that is not coalesced, unless its sockets are unknown. */
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override;
  void work(const SocketWork& work, Receiving& receiver, std::uint64_t number) override;
  /** Starts a flow over @p way at @p time, which may be later than the agenda's time. @p receiver, which must outlive
   * the flow, is notified of its end or failure. */
  void start(const FlowRoute& way, Seconds time, Receiving& receiver, std::uint64_t message);
  const Work& work() const { return work_; }
  /** Returns the sum of the rates on a resource in bytes per second, without flows that have joined at @p now. */
  double load(int resource, Seconds now) const;
  bool flows_over(int resource) const { return not fair_share_.users(resource).empty(); }
  /** Returns whether a message other than background traffic is in flight. Scans all flows. */
  bool carries_foreground() const;
  /** Sets the receiver of the flows that turn_off() cuts, which must outlive the network. */
  void cut_into(CutFlows& cutting) { cutting_ = &cutting; }
  /** Takes resources out of use. Flows on them are cut now; flows that start over them later are cut at their start. */
  void turn_off(const std::vector<int>& resources);
  void turn_on(const std::vector<int>& resources);
  /** Sets the capacity of a resource in bytes per second. */
  void set_capacity(int resource, double capacity);
  /** Sets the losses of links, which must outlive the network. Only messages lose packets. */
  void lose_packets(LinkLosses& losses) { losses_ = &losses; }
  /** Sets the probability that a link or pool of links loses a packet, also for the unsent part of messages in
   * flight. */
  void set_loss(int resource, double probability);
  /** Updates the capacities of resources that depend on more than their users. */
  void update_capacities(const std::vector<int>& resources);
  /** Clears cached routes, since routing has changed. */
  void forget_routes();
  /** Sends the remainder of a cut flow again now: a message on its current route, a flow of start() on its old one,
   * with its latency. Returns false, and does nothing, if that route is off. */
  bool resume(CutFlow& rest);
  /** Returns the fraction of the volume of a flow of start() that has not arrived; nothing if there is no such
   * flow. */
  std::optional<double> left(const Receiving& receiver, std::uint64_t message) const;
  /** Ends a flow of start() without notifying its receiver. Returns the result of left(). */
  std::optional<double> cancel(const Receiving& receiver, std::uint64_t message);

  void due(std::uint64_t what) override;
  void settle() override;
  void cleared() override
  {
    next_end_ = NEVER;
    updates_.clear();
  }
};

} // namespace weft
