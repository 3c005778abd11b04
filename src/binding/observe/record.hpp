// SPDX-License-Identifier: LGPL-2.1-only
/* Record of a run: calls, whether and why they were offloaded, and the activity of switches and links.
 *
 * Written as one JSON object; docs/record.md describes every field.
 */
#pragma once

#include "base/histogram.hpp"
#include "binding/observe/json/call_durations.hpp"
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

/** Row of the record: all calls with the same key. */
struct CallStatistics {
  std::int64_t rank_calls = 0; ///< calls, counted once per rank
  double bytes            = 0; ///< messages, summed over ranks
  double total_time       = 0; ///< simulated seconds, summed over ranks
  double total_wait       = 0; ///< part of total_time before the last rank of each call entered
  double max_time         = 0; ///< longest time of one rank in one call

  void add(const CallStatistics& other);
};

/** Time of one rank in one call, in simulated seconds. */
struct CallTime {
  double duration; ///< from the rank's entry to its end
  double wait;     ///< part of it before the last rank entered
};

/** Offloaded calls of one job on one switch. */
struct SwitchWork {
  std::int64_t offloaded = 0;
  double bytes_reduced   = 0;
  double bytes_multicast = 0;
};

/** Offloaded collective on a switch's timeline. */
struct SwitchEvent {
  int switch_index;
  int communicator;
  std::string collective;
  int ranks;
  double bytes;
  double start;
  double end;
};

/** One rank's call that the hosts executed by a schedule. */
struct HostedCall {
  int rank; ///< number in the run
  std::string collective;
  std::string algorithm;
  double segment; ///< segment size in bytes; 0: messages are not segmented
  Tally tally;
  double start;
  double end;
};

/** Outcome of a run, or of one of its jobs, as far as the simulation can determine it. */
struct Outcome {
  std::string kind = "completed"; ///< docs/record.md lists all kinds
  std::string message;
  std::string signal      = {}; ///< name of the signal that killed a job's rank; empty if none did
  std::optional<int> rank = {}; ///< rank that the signal killed
};

Json outcome_to_json(const Outcome& outcome);

struct RecordRun; // record_run.hpp

class Record {
  struct Key {
    const CollectiveKind* kind;
    bool blocking;
    int communicator_size;
    const ElementType* type;
    const ReductionOperation* operation;
    const MechanismKind* mechanism;
    Fallback reason;
    std::string algorithm; // weft's algorithm on the hosts; empty if none
    int world;             // index of the job's MPI_COMM_WORLD
    auto tie() const
    {
      return std::tuple{kind,
                        blocking,
                        communicator_size,
                        type ? type->handle : nullptr,
                        operation ? operation->handle : nullptr,
                        mechanism,
                        reason,
                        std::string_view(algorithm),
                        world};
    }
    bool operator<(const Key& other) const { return tie() < other.tie(); }
  };
  std::map<Key, CallStatistics> calls_;
  std::map<Key, Histogram> durations_;                    // only if durations are recorded
  std::map<std::pair<int, int>, SwitchWork> on_switches_; // by world and index of the switch
  std::vector<SwitchEvent> events_;
  std::vector<HostedCall> host_calls_;

public:
  bool keep_events    = false;
  bool keep_durations = false;
  std::optional<CallDurations> durations; ///< of all calls, if they are listed
  bool host_stages     = false;           ///< true if ranks of a host combined their contributions to an offloaded call
  std::string messages = "smpi";          ///< transport of point-to-point messages
  std::string messages_reason;            ///< reason why the requested transport was not used
  Outcome outcome;

  /** Counts one rank's call. @p algorithm: weft's algorithm on the hosts; empty if none executed the call. @p world:
   * index of the job's MPI_COMM_WORLD. */
  void count(const CallDescriptor& call, Decision decision, const std::string& algorithm, int world, CallTime time);
  /** Counts an offloaded call of the job of @p world on a switch. */
  void count_on_switch(int world, int index, Bytes reduced, Bytes multicast);
  /** Returns the work of a switch for the job of @p world. */
  SwitchWork on_switch(int world, int index) const;
  void add_event(const SwitchEvent& event);
  /** Adds a call; called only if events are kept. */
  void add_host_call(HostedCall call) { host_calls_.push_back(std::move(call)); }

  /** Writes the record as JSON text. Deterministic. */
  void write_json(const RecordRun& run, std::ostream& file) const;
  /** Returns the rows of calls in the job of @p world, or in all jobs. @p algorithms: Run::algorithms. */
  Json calls_to_json(const std::map<std::string, std::string>& algorithms, std::optional<int> world = {}) const;
  /** Returns the distributions of call durations in the job of @p world, if they are recorded. */
  Json durations_to_json(int world) const;

private:
  Json events_to_json(const RecordRun& run) const;
  Json host_calls_to_json() const;
  void write_links(const RecordRun& run, std::ostream& file) const;
};

} // namespace weft
