// SPDX-License-Identifier: LGPL-2.1-only
/* The record that a run leaves: what was called, offloaded or not and why, and what switches and links did.
 *
 * Written as one JSON object; docs/record.md describes every field.
 */
#pragma once

#include "binding/process/stacks.hpp"
#include "collective/decision.hpp"
#include "collective/host/engine/tally.hpp"
#include "collective/multicast/protocol.hpp"
#include "fabric/fabric.hpp"
#include "fabric/forwarding_state.hpp"
#include "model/switch/aggregation.hpp"

#include <smpi/smpi.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace weft {

/** One line of the record: all calls that are alike. */
struct CallStatistics {
  std::int64_t rank_calls = 0; ///< calls, counted once per rank
  double bytes            = 0; ///< messages, summed over ranks
  double total_time       = 0; ///< simulated seconds, summed over ranks
  double max_time         = 0; ///< of one rank in one call

  void add(const CallStatistics& other);
};

/** An offloaded collective on a switch's time line. */
struct SwitchEvent {
  int switch_index;
  int communicator;
  CalledCollective called;
  int ranks;
  double bytes;
  double start;
  double end;
};

/** One rank's call that hosts carried out by a schedule. */
struct HostedCall {
  int rank; ///< of the run
  std::string collective;
  std::string algorithm;
  double segment; ///< bytes that messages are cut into; 0: they are not
  Tally tally;
  double start;
  double end;
};

/** How long a rank spends in the phases of multicast calls, in simulated seconds. */
struct MulticastTimes {
  double barrier   = 0;
  double multicast = 0;
  double recovery  = 0;
  double handshake = 0;
};

/** Chunks that did not reach a rank. */
struct MulticastDrops {
  std::int64_t all     = 0;
  std::int64_t staging = 0; ///< of those, for which a staging ring had no room
  std::int64_t port    = 0; ///< of those, for which a switch had no room
};

/** What a rank has seen of multicast calls. */
struct MulticastRank {
  MulticastDrops drops;
  MulticastCounts counts;
  MulticastTimes times;

  void add(const MulticastRank& other);
};

/** One rank's multicast call, whose phases follow one another. */
struct MulticastRankCall {
  int rank; ///< of the run
  int communicator;
  std::string collective;
  double start;
  MulticastRank seen;
};

/** The multicast calls of one collective on communicators of one size. */
struct MulticastStatistics {
  std::int64_t calls      = 0;
  std::int64_t multicasts = 0; ///< roots' blocks
  std::int64_t chunks     = 0; ///< of those, each counted once whatever the number of receivers
  double payload          = 0; ///< bytes of those
  double headers          = 0; ///< bytes of their packets' headers
  double fetched_bytes    = 0;
  std::map<int, MulticastRank> ranks; ///< of the run

  void add(const MulticastStatistics& other);
};

/** How the program ended, as far as the simulation can tell. */
struct Outcome {
  std::string kind = "completed"; ///< docs/record.md lists all
  std::string message;
};

class Record {
  struct Key {
    CalledCollective called;
    int communicator_size;
    MPI_Datatype datatype;
    MPI_Op operation;
    Path path;
    Fallback reason;
    std::string algorithm; // of weft's on the hosts; empty where they have none
    auto tie() const
    {
      return std::tie(called.kind, called.blocking, communicator_size, datatype, operation, path, reason, algorithm);
    }
    bool operator<(const Key& other) const { return tie() < other.tie(); }
  };
  std::map<Key, CallStatistics> calls_;
  std::vector<SwitchEvent> events_;
  std::vector<HostedCall> host_calls_;
  std::vector<MulticastRankCall> multicast_calls_;
  std::map<std::pair<std::string, int>, MulticastStatistics> multicast_; // by collective and communicator size
  std::map<LinkId, double> multicast_on_link_;                           // payload bytes

public:
  bool keep_events = false;
  bool host_stages = false; ///< whether ranks of a host combined what they gave to an offloaded call
  Outcome outcome;

  /** Count one rank's call. @p algorithm: of weft's on the hosts; empty where it is not carried out by one. */
  void count(CalledCollective called, int communicator_size, MPI_Datatype datatype, MPI_Op operation, Decision decision,
             const std::string& algorithm, double bytes, double duration);
  void add_event(const SwitchEvent& event);
  /** Where events are kept. */
  void add_host_call(HostedCall call) { host_calls_.push_back(std::move(call)); }
  void add_multicast_call(MulticastRankCall call) { multicast_calls_.push_back(std::move(call)); }
  /** Count a call of the multicast protocol. */
  void count_multicast(CalledCollective called, int communicator_size, const MulticastStatistics& call);
  /** Count what multicasts put on a link, without headers. */
  void count_multicast_on_link(LinkId link, Bytes payload) { multicast_on_link_[link] += payload.value(); }

  /** What the record needs to know of the run beside the calls. */
  struct Run {
    const Fabric& fabric;
    OffloadMode mode;
    int ranks             = 0;
    int hosts_used        = 0;
    double simulated_time = 0;
    const std::vector<Aggregation>& switches;
    std::function<std::optional<double>(LinkId)> bytes_on_link; ///< nothing where they are not counted
    std::function<std::optional<LookupCounters>(int)> lookups;  ///< by switch; nothing where it has no cache
    std::map<std::string, std::string> algorithms;              ///< collective -> fallback algorithm
    std::optional<StacksMade> stacks;                           ///< nothing where SimGrid has made them
    std::optional<Seconds> poll_overhead;                       ///< nothing where SMPI's options say it
  };
  /** Write the record as JSON text. Deterministic. */
  void write_json(const Run& run, std::ostream& file) const;

private:
  nlohmann::ordered_json calls_to_json(const Run& run) const;
  nlohmann::ordered_json multicast_to_json() const;
  nlohmann::ordered_json events_to_json(const Run& run) const;
  nlohmann::ordered_json host_calls_to_json() const;
  nlohmann::ordered_json multicast_calls_to_json() const;
  void write_links(const Run& run, std::ostream& file) const;
};

} // namespace weft
