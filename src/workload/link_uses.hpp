// SPDX-License-Identifier: LGPL-2.1-only
/* Use of links by the communication of an iteration: bytes that each class of links carries, and the link that limits
 * each call and message.
 *
 * A traffic is a call of a group, or a message between two ranks. The bytes that it puts on each link do not depend on
 * time. They are therefore computed once, from the steps of NCCL's schedule and the routes between hosts, and counted
 * each time it begins, however it is executed. The *limiting link* of a traffic is the link that needs longest for the
 * traffic's own bytes; among equally slow links, the one that needs longest for the bytes of the whole iteration. The
 * time on the limiting link is the minimum time of a call on an otherwise empty network without latencies.
 *
 * A message that a fault cuts counts once, on its static route. */
#pragma once

#include "fabric/fabric.hpp"
#include "fabric/link_classes.hpp"
#include "network/fabric_routes.hpp"
#include "workload/group_call.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

/** Bytes from one rank of a call to another, summed over all steps. */
struct PairBytes {
  int from;
  int to;
  Bytes bytes;
};

/** Returns the bytes that the ranks of a call send each other, sorted by pair. */
std::vector<PairBytes> pair_bytes(const PlannedCall& call);

/** Use of the links of one class in an iteration. */
struct LinkClassUse {
  std::string name;
  std::size_t links = 0; ///< number of links that have carried traffic; a cable has two
  double bytes      = 0; ///< bytes carried by all of them
  double mean =
      0; ///< mean utilization of these links: bytes carried over bytes that they could have carried until the end
  double most         = 0; ///< utilization of the busiest link; 0, without a name, if each message chooses its route
  std::string busiest = {};
};

class LinkUses {
public:
  /** Limiting link of a traffic. */
  struct Limit {
    int link_class = -1; ///< index into classes(); -1: no link
    double seconds = 0;  ///< time in which the limiting link carries the traffic
  };
  /** Use of links up to a time, and the limits of each traffic. */
  struct Report {
    std::vector<LinkClassUse> classes; ///< classes that have carried traffic
    std::vector<Limit> limits;         ///< by traffic; link_class is an index into `classes`
  };

private:
  struct Traffic {
    std::shared_ptr<const PlannedCall> call; ///< null for a message
    int from;                                ///< hosts of a message
    int to;
    double bytes;
    std::size_t times;                                 ///< number of times that it has begun
    std::vector<std::pair<int, double>> on_links = {}; ///< for a multicast: bytes by link
  };
  struct Loads;

  const Fabric& fabric_;
  const std::vector<double>& capacities_; // by resource
  std::vector<Traffic> all_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<double, std::uint32_t>>>
      messages_; // index of a message's traffic by hosts and bytes

  void load(const Traffic& traffic, FabricRoutes& routes, std::map<const NcclPlan*, std::vector<PairBytes>>& pairs,
            Loads& into) const;
  std::vector<int> class_of_resources(const LinkClasses& classes) const;
  std::vector<int> add_classes(const LinkClasses& classes, const std::vector<double>& bytes, double end, bool any_route,
                               Report& report) const;

public:
  /** @p capacities by resource (FabricRoutes). Both must outlive the object. */
  LinkUses(const Fabric& fabric, const std::vector<double>& capacities) : fabric_(fabric), capacities_(capacities) {}
  /** Returns the number of the next traffic to be added. */
  std::uint32_t next() const { return static_cast<std::uint32_t>(all_.size()); }
  void add_call(std::shared_ptr<const PlannedCall> call) { all_.push_back({std::move(call), -1, -1, 0, 0}); }
  /** Adds a call with the given bytes on links, by link number. */
  void add_loads(std::vector<std::pair<int, double>> loads)
  {
    all_.push_back({nullptr, -1, -1, 0, 0, std::move(loads)});
  }
  /** Returns the number of the traffic of messages between two hosts. */
  std::uint32_t message(int from, int to, double bytes);
  /** Records that a call or message has begun. */
  void begin(std::uint32_t traffic) { ++all_[traffic].times; }
  /** Returns the use of links until @p end, in seconds. */
  Report report(double end) const;
};

} // namespace weft
