// SPDX-License-Identifier: LGPL-2.1-only
/* Switch model: ports, latencies and, for smart switches, capabilities and aggregation memory.
 *
 * A smart switch aggregates packets in slots, register blocks that hold the payload of one packet. A channel is a
 * communicator's share of the slots. Slots x payload is the window, the part of a message that can be in flight in the
 * tree. A slot is reused one turnaround after its packet arrived: the time for the partial sums of all children, the
 * result's way to the hosts, and the way of their next packets back. Presets name the source of each value in their
 * file.
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
  exclusive,   ///< one job at a time: while it holds a channel, others get none
  reserved,    ///< a job has SwitchModel::job_channels for itself from its first one to its end
  best_effort, ///< no channels: packets of all jobs hash to one pool of slots, and go on to a host if theirs is taken
};
template <> struct Names<ChannelSharing> {
  static constexpr std::array ROWS{std::pair{ChannelSharing::first_come, std::string_view("first-come")},
                                   std::pair{ChannelSharing::quota, std::string_view("quota")},
                                   std::pair{ChannelSharing::exclusive, std::string_view("exclusive")},
                                   std::pair{ChannelSharing::reserved, std::string_view("reserved")},
                                   std::pair{ChannelSharing::best_effort, std::string_view("best-effort")}};
};

/** Policy by which jobs share what streams through a switch without slots. */
enum class StreamSharing {
  all,    ///< any number of jobs
  locked, ///< links on which a job has streamed are its own until it ends; other jobs use slots there
};
template <> struct Names<StreamSharing> {
  static constexpr std::array ROWS{std::pair{StreamSharing::all, std::string_view("all")},
                                   std::pair{StreamSharing::locked, std::string_view("locked")}};
};

struct SwitchModel {
  std::string preset;
  int max_ports = 0;
  Seconds forwarding_latency;         ///< port to port, of packets that are only forwarded
  ForwardingModel forwarding;         ///< table lookup, in addition
  Seconds processing_latency;         ///< from the last contribution's arrival to the result's departure
  int pipe_ports = 0;                 ///< ports of a pipeline: 0 to pipe_ports - 1 are the first's; 0: it has one
  Seconds pipe_latency;               ///< of a result whose contributions enter by several pipelines, in addition
  Seconds turnaround;                 ///< time between two uses of a slot, in a tree of one switch
  int channels                   = 0; ///< communicators that can be offloaded at the same time
  int slots                      = 0; ///< per channel
  ChannelSharing channel_sharing = ChannelSharing::first_come;
  int job_channels               = 1; ///< channels that a job may hold, with a quota or reserved
  int total_slots                = 0; ///< all slots of the switch; 0: no known limit
  Bytes payload;                      ///< payload of a packet: the size of a slot
  Bytes packet_overhead;              ///< headers, preamble and gap of an offload packet on the wire
  /// Rate of aggregation, over all contributions.
  BytesPerSecond aggregation_rate{std::numeric_limits<double>::infinity()};
  /// Size from which reductions stream through the switch at link rate, without slots.
  Bytes streaming_from{std::numeric_limits<double>::infinity()};
  StreamSharing stream_sharing = StreamSharing::all;
  std::vector<Capability> capabilities;

  /** Returns the latency of a packet that is only forwarded, with a hit if there is a forwarding cache. */
  Seconds hop_latency() const { return forwarding_latency + forwarding.latency(); }
  /** Returns the time from a last contribution to its result, if they enter by several pipelines or by one. */
  Seconds combining_latency(bool several_pipes) const
  {
    return several_pipes ? processing_latency + pipe_latency : processing_latency;
  }
  /** Returns the pipeline of a port. */
  int pipe_of(int port) const { return pipe_ports > 0 ? port / pipe_ports : 0; }
  bool smart() const { return not capabilities.empty(); }
  Bytes window() const { return payload * slots; }
  /** Returns the slots that all jobs share, if they do so packet by packet. */
  double pool() const { return total_slots > 0 ? total_slots : static_cast<double>(channels) * slots; }
  /** Returns the first unsupported property of a call, according to the capability that comes closest. */
  Unsupported lacks(const std::string& collective, const std::string& datatype, const std::string& operation) const;
  /** Returns the first capability that supports a call, or null. */
  const Capability* serving(const std::string& collective, const std::string& datatype,
                            const std::string& operation) const;
};

/** Returns the keys of a [switch] table and of presets/switch/. */
const std::vector<Option<SwitchModel>>& switch_options();
/** Reads a [switch] table with its preset. A smart switch needs all aggregation values. */
SwitchModel read_switch(const OptionTable& table);
/** Reads a table of exceptions from @p standard: a preset replaces it, keys override single values. @p others are keys
 *  of the table that the caller reads. */
SwitchModel read_switch(const OptionTable& table, const SwitchModel& standard, std::vector<std::string> others);

/** Returns what a smart switch lacks and what to do about it, as text; empty if it is complete. */
std::string lacking(const SwitchModel& model);

/** Returns the switch preset called @p name, if there is one. Throws UserError if its file is wrong. */
std::optional<SwitchModel> find_switch_preset(const std::string& name);

} // namespace weft
