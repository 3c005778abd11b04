// SPDX-License-Identifier: LGPL-2.1-only
/* Messages between hosts as flows: each takes the latency of its way, and then shares the links on it with whoever else
 * uses them. The model is SimGrid's (flow-level, max-min); the flows of a collective are many and alike, which SimGrid
 * cannot know:
 *
 *   - Equal messages that start at one instant between the same two hosts are one flow of so many copies.
 *   - Flows with the same resources, bound and penalty have the same rate: they are one group, and the solver sees
 *     groups. A group counts what each of its flows has been served, so that only its next end is an event.
 *   - A flow that is alone on its links needs no solver.
 *   - Rates are recomputed once an instant, and only those that change (incremental_fair_share.hpp); what is due within
 * a rounding of an instant is due at it.
 *   - Ends of groups that share links wait in a heap, of which the agenda knows the earliest.
 *
 * Links may have users that this network does not know of (Others). Flows whose links have such are handed over. */
#pragma once

#include "base/units.hpp"
#include "network/agenda.hpp"
#include "network/event_heap.hpp"
#include "network/incremental_fair_share.hpp"
#include "network/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weft {

/** What a message between two hosts is to the network. */
struct FlowWay {
  std::vector<int> resources; ///< that it shares with others, with repetitions; none: it is alone in any case
  double latency         = 0; ///< seconds until it uses them
  double volume          = 0; ///< bytes that it puts on them
  double bound           = 0; ///< bytes per second that it never exceeds
  double penalty         = 1; ///< its share of a full resource goes by one over this; SimGrid: the way's own latency
  std::uint64_t known_as = 0; ///< to its Ways
};

/** The ways of messages. */
class Ways {
public:
  Ways()                       = default;
  Ways(const Ways&)            = delete;
  Ways& operator=(const Ways&) = delete;
  virtual ~Ways()              = default;
  /** A message leaves host @p from for host @p to, which do not have a part @p missed of it in their caches. */
  virtual void find(int from, int to, Bytes bytes, double missed, FlowWay& into) = 0;
  /** Another one leaves with it, which is as long and goes the same way. */
  virtual void repeat(const FlowWay& /*way*/, int /*from*/, int /*to*/, Bytes /*bytes*/) {}
  /** Whether equal messages of the same instant and hosts have equal ways. */
  virtual bool repeats() const { return true; }
  /** Whether resources take more or less by who uses them; if so, left() and capacity() are called. */
  virtual bool vary() const { return false; }
  /** The flow of a way has ended. */
  virtual void left(const FlowWay& /*way*/) {}
  /** What a resource takes now, of which @p fixed is the most. */
  virtual double capacity(int /*resource*/, double fixed) { return fixed; }
};

using FlowNumber = std::size_t;

/** The users of links that a FlowNetwork does not know of. */
class Others {
public:
  Others()                         = default;
  Others(const Others&)            = delete;
  Others& operator=(const Others&) = delete;
  virtual ~Others()                = default;
  /** Whether somebody else uses a resource, or may before this network is told. */
  virtual bool use(int resource) = 0;
  /** Carry out the rest of a flow: @p copies of it, each with @p left bytes to go. FlowNetwork::ends_elsewhere or
   *  fails_elsewhere is to be called at its end. */
  virtual void take(FlowNumber flow, const FlowWay& way, double left, std::size_t copies) = 0;
};

class FlowNetwork : public Messages, public Due, public Settling {
public:
  /** What it has done so far. */
  struct Work {
    std::size_t messages = 0;
    std::size_t flows    = 0; ///< that they were
    std::size_t solved   = 0; ///< updates that have changed rates of flows that share links
    std::size_t rates    = 0; ///< changed by these
  };

private:
  static constexpr FlowNumber NONE = std::numeric_limits<FlowNumber>::max();
  static constexpr double NEVER    = std::numeric_limits<double>::infinity();
  enum class State : std::uint8_t { idle, starting, flowing, elsewhere };
  struct Message {
    Receiving* receiver;
    std::uint64_t number;
  };
  using GroupNumber                     = IncrementalFairShare::FlowNumber;
  static constexpr GroupNumber NO_GROUP = std::numeric_limits<GroupNumber>::max();
  struct Flow {
    FlowWay way;
    State state           = State::idle;
    int from              = -1;
    int to                = -1;
    double bytes          = 0;
    double missed         = 0;
    double since          = 0;    // when it was sent
    GroupNumber group     = 0;    // while it flows
    std::uint32_t version = 0;    // of its expected end
    FlowNumber next_idle  = NONE; // of the same host
    std::vector<Message> messages;
  };
  struct Member {
    double until;         // it ends when its group has served so much
    std::uint64_t joined; // its place among all
    FlowNumber flow;
    static bool later(const Member& one, const Member& other)
    {
      return one.until > other.until || (one.until == other.until && one.joined > other.joined);
    }
  };
  struct Group {               // one flow of fair_share_, with as many copies as its members are messages
    double rate           = 0; // of each copy
    double served         = 0; // bytes of each copy, at `since`
    double since          = 0;
    double ends           = 0; // the next member, at this rate
    std::uint32_t version = 0; // of that
    std::uint64_t visited = 0;
    std::vector<Member> members; // a heap, the next to end in front
  };
  struct Ending { // a group of which a member ends now
    std::uint64_t joined;
    GroupNumber group;
    std::uint32_t version;
  };
  static constexpr std::size_t REMEMBERED = 4;
  struct Recent {                        // flows that have started from a host last
    FlowNumber idle              = NONE; // that had started from it
    double time                  = -1;
    std::size_t next             = 0;
    std::size_t count            = 0;
    FlowNumber flows[REMEMBERED] = {}; // NOLINT(modernize-avoid-c-arrays)
  };

  Agenda& agenda_;
  Ways& ways_;
  Others* others_;
  bool folds_;
  bool vary_;                            // the ways' resources
  std::vector<double> fixed_capacities_; // where they do
  IncrementalFairShare fair_share_;      // its flows are the groups
  std::vector<Flow> flows_;
  std::vector<Group> groups_;
  EventHeap ends_;          // of groups that share links
  double next_end_ = NEVER; // in the agenda, of those
  std::vector<Ending> ending_;
  std::vector<Recent> recent_;         // by host
  std::vector<std::uint64_t> visited_; // by resource: the visit
  Work work_;
  std::uint64_t visit_  = 0;
  std::uint64_t joined_ = 0; // flows
  std::vector<GroupNumber> component_;
  std::vector<Message> spare_; // memory

  FlowNumber borrow(int from);
  Flow* same(int from, int to, double bytes, double missed);
  void join(FlowNumber number);
  GroupNumber group_of(const FlowWay& way) const;
  GroupNumber open_group(const FlowWay& way, double copies);
  void leave(FlowNumber number);
  void end_members(GroupNumber number, std::uint32_t version);
  void end_groups();
  std::vector<Message> release(FlowNumber number);
  void end(FlowNumber number);
  void ask_capacities(const std::vector<int>& resources);
  void advance(Group& group) const;
  void set_rate(Group& group, double rate) const;
  void collect(int resource);
  void hand_over(FlowNumber number, double left);

public:
  /** @p capacities in bytes per second, by resource. @p agenda, @p ways and @p others must outlive it. @p folds:
   * whether equal messages are one flow, which changes no time. */
  FlowNetwork(Agenda& agenda, Ways& ways, const std::vector<double>& capacities, int hosts, Others* others = nullptr,
              bool folds = true);

  /** Equal messages may be one flow. */
  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override;
  /** Somebody else uses @p resource from now on: whoever flows there is handed over, with all who share with them. */
  void yield(int resource);
  const Work& work() const { return work_; }
  bool flows_over(int resource) const { return not fair_share_.users(resource).empty(); }
  /** A flow that has been handed over has ended at @p time, which may be now. */
  void ends_elsewhere(FlowNumber flow, Seconds time);
  /** It has failed. @p why is for people. */
  void fails_elsewhere(FlowNumber flow, const std::string& why);

  void due(std::uint64_t what) override;
  void settle() override;
};

} // namespace weft
