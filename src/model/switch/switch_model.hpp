// SPDX-License-Identifier: LGPL-2.1-only
/* What a switch is: ports, latencies, and, where it is smart, what it can add up and how much of it at once.
 *
 * A smart switch aggregates packets in slots: register blocks that hold one packet's payload each. A channel is a
 * communicator's share of the slots; its slots x payload is the window, how much of a message can be in flight in the
 * tree. A slot can be used again one turnaround after its packet came in (the partial sums of all children, the
 * result's way to the hosts and their next packet's way back). The values of a preset name their source in its file.
 */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"
#include "model/forwarding/forwarding_model.hpp"
#include "model/switch/capability.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct SwitchModel {
  std::string preset;
  int max_ports = 0;
  Seconds forwarding_latency; ///< added to every packet that is only forwarded, port to port
  ForwardingModel forwarding; ///< what finding the port adds to that
  Seconds processing_latency; ///< from the last contribution's arrival to the result's departure
  Seconds turnaround;         ///< from a slot's use by one packet to its use by the next, in a tree of one switch
  int channels    = 0;        ///< communicators that can be offloaded at the same time
  int slots       = 0;        ///< slots of a channel
  int total_slots = 0;        ///< slots of the switch; 0: no limit is known
  Bytes payload;              ///< payload of a packet, one slot's size
  Bytes packet_overhead;      ///< headers, preamble and gap of an offload packet on the wire
  /// At which it combines, all contributions together.
  BytesPerSecond aggregation_rate{std::numeric_limits<double>::infinity()};
  /// Reductions of at least so many bytes are combined as they stream through, without slots, at the rate of the links.
  Bytes streaming_from{std::numeric_limits<double>::infinity()};
  std::vector<Capability> capabilities;

  /** Of a packet that is only forwarded, and that a forwarding cache knows. */
  Seconds hop_latency() const { return forwarding_latency + forwarding.latency(); }
  bool smart() const { return not capabilities.empty(); }
  Bytes window() const { return payload * slots; }
  /** The first thing about a call that the capabilities lack, by the one that comes nearest. */
  Unsupported lacks(const std::string& collective, const std::string& datatype, const std::string& operation) const;
  /** The first capability that serves a call; null where none does. */
  const Capability* serving(const std::string& collective, const std::string& datatype,
                            const std::string& operation) const;
};

/** The keys of a [switch] table and of presets/switch/. */
const std::vector<Option<SwitchModel>>& switch_options();
/** Read a [switch] table with its preset; a smart switch must give all of its aggregation values. */
SwitchModel read_switch(const OptionTable& table);
/** Read a table of exceptions from @p standard: a preset replaces all of it, single values change single ones.
 *  @p others are keys of the table that the caller reads. */
SwitchModel read_switch(const OptionTable& table, const SwitchModel& standard, std::vector<std::string> others);

/** What a smart switch lacks: what is wrong, and what to do; empty where nothing is. */
std::string lacking(const SwitchModel& model);

/** The switch preset of that name, where there is one. Throws UserError where its file is wrong. */
std::optional<SwitchModel> find_switch_preset(const std::string& name);

} // namespace weft
