// SPDX-License-Identifier: LGPL-2.1-only
/* Switch model: ports, latencies and, for smart switches, capabilities and aggregation memory.
 *
 * A smart switch aggregates packets in slots, register blocks that hold the payload of one packet. A channel is a
 * communicator's share of the slots. The window, slots x payload, is the amount of a message that can be in flight in
 * the tree. A slot is reused one turnaround after its packet arrived: the time for the partial sums of all children,
 * the way of the result down to the hosts, and the way of their next packets back up. Preset files name the source of
 * each value.
 */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"
#include "model/forwarding/forwarding_model.hpp"
#include "model/switch/capability.hpp"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** Policy by which jobs share the channels of a switch. */
enum class ChannelSharing {
  first_come,  ///< a communicator gets any free channel
  quota,       ///< a job holds at most SwitchModel::job_channels
  exclusive,   ///< one job at a time: while it holds a channel, other jobs get none
  reserved,    ///< a job owns SwitchModel::job_channels from its first channel until it ends
  best_effort, ///< no channels: packets of all jobs hash to one pool of slots; a packet whose slot is taken goes on to
               ///< a host
};
template <> struct Names<ChannelSharing> {
  static constexpr std::array ROWS{std::pair{ChannelSharing::first_come, std::string_view("first-come")},
                                   std::pair{ChannelSharing::quota, std::string_view("quota")},
                                   std::pair{ChannelSharing::exclusive, std::string_view("exclusive")},
                                   std::pair{ChannelSharing::reserved, std::string_view("reserved")},
                                   std::pair{ChannelSharing::best_effort, std::string_view("best-effort")}};
};

/** Policy for sharing links among jobs that stream through a switch without slots. */
enum class StreamSharing {
  all,    ///< any number of jobs
  locked, ///< a job owns the links on which it has streamed until it ends; other jobs use slots there
};
template <> struct Names<StreamSharing> {
  static constexpr std::array ROWS{std::pair{StreamSharing::all, std::string_view("all")},
                                   std::pair{StreamSharing::locked, std::string_view("locked")}};
};

struct SwitchModel {
  std::string preset;
  int max_ports = 0;
  Seconds forwarding_latency; ///< port to port, for packets that are only forwarded
  ForwardingModel forwarding; ///< table lookup, added to forwarding_latency
  Seconds processing_latency; ///< from arrival of the last contribution to departure of the result
  int pipe_ports = 0;         ///< ports per pipeline: 0 to pipe_ports - 1 belong to the first; 0: a single pipeline
  Seconds pipe_latency;       ///< added to results whose contributions enter by several pipelines
  Seconds turnaround;         ///< time between two uses of a slot, in a single-switch tree
  int channels                   = 0; ///< communicators that can be offloaded at the same time
  int slots                      = 0; ///< per channel
  ChannelSharing channel_sharing = ChannelSharing::first_come;
  int job_channels               = 1; ///< channels that a job may hold or reserve, by channel_sharing
  int total_slots                = 0; ///< slots of the whole switch; 0: no known limit
  Bytes payload;                      ///< payload of a packet: the size of a slot
  Bytes packet_overhead;              ///< headers, preamble and gap of an offload packet on the wire
  /// Aggregation rate, summed over all contributions.
  BytesPerSecond aggregation_rate{std::numeric_limits<double>::infinity()};
  /// Size from which reductions stream through the switch at link rate, without slots.
  Bytes streaming_from{std::numeric_limits<double>::infinity()};
  StreamSharing stream_sharing = StreamSharing::all;
  std::vector<Capability> capabilities;

  /** Returns the latency of a packet that is only forwarded; with a forwarding cache, of a cache hit. */
  Seconds hop_latency() const { return forwarding_latency + forwarding.latency(); }
  /** Returns the time from the last contribution to the result. @p several_pipes: contributions enter by several
   * pipelines. */
  Seconds combining_latency(bool several_pipes) const
  {
    return several_pipes ? processing_latency + pipe_latency : processing_latency;
  }
  /** Returns the pipeline of a port. */
  int pipe_of(int port) const { return pipe_ports > 0 ? port / pipe_ports : 0; }
  bool smart() const { return not capabilities.empty(); }
  Bytes window() const { return payload * slots; }
  /** Returns the size of the slot pool that all jobs share packet by packet. */
  double pool() const { return total_slots > 0 ? total_slots : static_cast<double>(channels) * slots; }
  /** Returns the first unsupported property of a call, according to the capability that comes closest. */
  Unsupported lacks(const std::string& collective, const std::string& datatype, const std::string& operation) const;
  /** Returns the first capability that supports a call, or null. */
  const Capability* serving(const std::string& collective, const std::string& datatype,
                            const std::string& operation) const;
};

/** Returns the keys of a [switch] table and of presets/switch/. */
const std::vector<Option<SwitchModel>>& switch_options();
/** Returns the keys that switches of SimGrid platforms have too, as properties: all but those of pipelines, since
 *  platforms have no ports, and of what several jobs share, since jobs run on fabrics. */
std::vector<Option<SwitchModel>> switch_properties();
/** Reads a [switch] table with its preset. A smart switch needs all aggregation values. */
SwitchModel read_switch(const OptionTable& table);
/** Reads a table of exceptions to @p standard: a preset replaces it, keys override single values. @p others: keys of
 * the table that the caller reads itself. */
SwitchModel read_switch(const OptionTable& table, const SwitchModel& standard, std::vector<std::string> others);

/** Returns the values that a smart switch lacks and how to supply them, as text; empty if it is complete. */
std::string lacking(const SwitchModel& model);

/** Returns the switch preset called @p name, if there is one. Throws UserError if its file is invalid. */
std::optional<SwitchModel> find_switch_preset(const std::string& name);

} // namespace weft
