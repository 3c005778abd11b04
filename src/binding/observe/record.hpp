// SPDX-License-Identifier: LGPL-2.1-only
/* The record that a run leaves: what was called, offloaded or not and why, and what switches and links did.
 *
 * Written as one JSON object; docs/record.md describes every field.
 */
#pragma once

#include "binding/observe/record_part.hpp"
#include "binding/process/stacks.hpp"
#include "collective/decision.hpp"
#include "collective/host/engine/tally.hpp"
#include "fabric/fabric.hpp"
#include "fabric/forwarding_state.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/switch/aggregation.hpp"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
  std::string collective;
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

/** How the program ended, as far as the simulation can tell. */
struct Outcome {
  std::string kind = "completed"; ///< docs/record.md lists all
  std::string message;
};

class Record {
  struct Key {
    const CollectiveKind* kind;
    bool blocking;
    int communicator_size;
    const ElementType* type;
    const ReductionOperation* operation;
    const MechanismKind* mechanism;
    Fallback reason;
    std::string algorithm; // of weft's on the hosts; empty where they have none
    auto tie() const
    {
      return std::tuple{kind,
                        blocking,
                        communicator_size,
                        type ? type->handle : nullptr,
                        operation ? operation->handle : nullptr,
                        mechanism,
                        reason,
                        std::string_view(algorithm)};
    }
    bool operator<(const Key& other) const { return tie() < other.tie(); }
  };
  std::map<Key, CallStatistics> calls_;
  std::vector<SwitchEvent> events_;
  std::vector<HostedCall> host_calls_;

public:
  bool keep_events = false;
  bool host_stages = false; ///< whether ranks of a host combined what they gave to an offloaded call
  Outcome outcome;

  /** Counts one rank's call. @p algorithm: of weft's on the hosts; empty where it is not carried out by one. */
  void count(const CallDescriptor& call, Decision decision, const std::string& algorithm, double duration);
  void add_event(const SwitchEvent& event);
  /** Where events are kept. */
  void add_host_call(HostedCall call) { host_calls_.push_back(std::move(call)); }

  /** What the record needs to know of the run beside the calls. */
  struct Run {
    const Fabric& fabric;
    OffloadMode mode;
    int ranks             = 0;
    int hosts_used        = 0;
    double simulated_time = 0;
    const std::vector<Aggregation>& switches;
    std::vector<const RecordPart*> parts;                       ///< of mechanisms, in their order
    std::function<std::optional<double>(LinkId)> bytes_on_link; ///< nothing where they are not counted
    std::function<std::optional<LookupCounters>(int)> lookups;  ///< by switch; nothing where it has no cache
    std::map<std::string, std::string> algorithms;              ///< collective -> fallback algorithm
    std::optional<StacksMade> stacks;                           ///< nothing where SimGrid has made them
    std::optional<Seconds> poll_overhead;                       ///< nothing where SMPI's options say it
  };
  /** Write the record as JSON text. Deterministic. */
  void write_json(const Run& run, std::ostream& file) const;

private:
  Json calls_to_json(const Run& run) const;
  Json events_to_json(const Run& run) const;
  Json host_calls_to_json() const;
  void write_links(const Run& run, std::ostream& file) const;
};

} // namespace weft
