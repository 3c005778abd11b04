// SPDX-License-Identifier: LGPL-2.1-only
/* Packets, buffers, flow control and congestion control of a fabric: keys of [network] that apply if messages are
 * packets. docs/packets.md lists the source of each default. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** Kind of network that carries messages between hosts. */
enum class NetworkKind : std::uint8_t { flows, packets };
template <> struct Names<NetworkKind> {
  static constexpr std::array ROWS{std::pair{NetworkKind::flows, std::string_view("flows")},
                                   std::pair{NetworkKind::packets, std::string_view("packets")}};
};

/** Reaction of a link to a full buffer behind it. */
enum class FlowControl : std::uint8_t {
  credits, ///< a packet starts once the next switch has room for it (InfiniBand)
  pfc,     ///< the next switch pauses the link (IEEE 802.1Qbb)
  none,    ///< full output queues drop packets
};
template <> struct Names<FlowControl> {
  static constexpr std::array ROWS{std::pair{FlowControl::credits, std::string_view("credits")},
                                   std::pair{FlowControl::pfc, std::string_view("pfc")},
                                   std::pair{FlowControl::none, std::string_view("none")}};
};

/** Time at which a switch forwards a packet: once its head, or all of it, has arrived. */
enum class Switching : std::uint8_t { cut_through, store_and_forward };
template <> struct Names<Switching> {
  static constexpr std::array ROWS{std::pair{Switching::cut_through, std::string_view("cut-through")},
                                   std::pair{Switching::store_and_forward, std::string_view("store-and-forward")}};
};

/** Treatment of a packet that finds its output queue full, without flow control. */
enum class Overflow : std::uint8_t {
  drop,
  trim, ///< its headers go on, ahead of data, so that the receiver can ask for it at once
};
template <> struct Names<Overflow> {
  static constexpr std::array ROWS{std::pair{Overflow::drop, std::string_view("drop")},
                                   std::pair{Overflow::trim, std::string_view("trim")}};
};

enum class CongestionControl : std::uint8_t { none, dcqcn, infiniband, nscc, swift, timely };
template <> struct Names<CongestionControl> {
  static constexpr std::array ROWS{std::pair{CongestionControl::none, std::string_view("none")},
                                   std::pair{CongestionControl::dcqcn, std::string_view("dcqcn")},
                                   std::pair{CongestionControl::infiniband, std::string_view("infiniband")},
                                   std::pair{CongestionControl::nscc, std::string_view("nscc")},
                                   std::pair{CongestionControl::swift, std::string_view("swift")},
                                   std::pair{CongestionControl::timely, std::string_view("timely")}};
};

/** Choice of the path of a packet among equal-cost ones. */
enum class LoadBalancing : std::uint8_t {
  route,          ///< routing, for the whole message
  spray,          ///< each switch: next hops in turn
  random,         ///< each switch: a random next hop
  shortest_queue, ///< each switch: the next hop that would send it first
};
template <> struct Names<LoadBalancing> {
  static constexpr std::array ROWS{std::pair{LoadBalancing::route, std::string_view("route")},
                                   std::pair{LoadBalancing::spray, std::string_view("spray")},
                                   std::pair{LoadBalancing::random, std::string_view("random")},
                                   std::pair{LoadBalancing::shortest_queue, std::string_view("shortest-queue")}};
};

/** Packets that a sender sends again after a loss. */
enum class Retransmission : std::uint8_t {
  in_order,  ///< the lost one and all behind it: receivers take packets in order
  selective, ///< the lost one
};
template <> struct Names<Retransmission> {
  static constexpr std::array ROWS{std::pair{Retransmission::in_order, std::string_view("go-back-n")},
                                   std::pair{Retransmission::selective, std::string_view("selective")}};
};

/** Ports of switches that mark packets although they lack credits, with InfiniBand's congestion control. */
enum class VictimMask : std::uint8_t { none, all };
template <> struct Names<VictimMask> {
  static constexpr std::array ROWS{std::pair{VictimMask::none, std::string_view("none")},
                                   std::pair{VictimMask::all, std::string_view("all")}};
};

/** Notifications at which DCQCN's target rate becomes the current one; NICs call the choice clamp_tgt_rate. */
enum class ClampTarget : std::uint8_t {
  always,
  after_increase, ///< only if the rate has increased since the last notification
};
template <> struct Names<ClampTarget> {
  static constexpr std::array ROWS{std::pair{ClampTarget::always, std::string_view("always")},
                                   std::pair{ClampTarget::after_increase, std::string_view("after-increase")}};
};

/** [network.dcqcn] table. The state machine and its defaults are those of the authors' simulator (bobzhuyb/ns3-rdma),
 * with the g of 1/256 that all later configurations share. */
struct DcqcnModel {
  double g               = 1.0 / 256;
  double initial_alpha   = 1;
  Seconds alpha_interval = Seconds(55e-6);
  Seconds increase_timer = Seconds(60e-6);
  Bytes byte_counter{300e6};
  int fast_recovery = 5;
  BytesPerSecond additive_increase{40e6 / 8};
  BytesPerSecond hyper_increase{200e6 / 8};
  BytesPerSecond minimum_rate{100e6 / 8};
  ClampTarget clamp_target = ClampTarget::always;
  Seconds decrease_interval{}; ///< zero: notifications cut at once
  Seconds cnp_interval = Seconds(50e-6);
};
const std::vector<Option<DcqcnModel>>& dcqcn_options();

/** [network.infiniband] table: InfiniBand's SwitchCongestionSetting, CACongestionSetting and CongestionControlTable.
 * Defaults are those of Mellanox's congestion control manager; the victim mask is OpenSM's. */
struct InfinibandModel {
  int threshold    = 15;
  int marking_rate = 10;
  Bytes packet_size{512};
  VictimMask victim_mask = VictimMask::none;
  int ccti_increase      = 1;
  int ccti_min           = 0;
  int ccti_limit         = 0; ///< 0: the last entry of the table
  Seconds ccti_timer;         ///< zero: none is given
  std::string cct;
  std::vector<double> delays; ///< entries of cct, in times of a packet; empty: the standard table

  /** Returns the delay after a packet at index @p ccti of the table, in times of the packet. */
  double delay(int ccti) const;
  /** Returns the largest index that senders use. */
  int limit() const;
};
const std::vector<Option<InfinibandModel>>& infiniband_options();

/** [network.swift] table. Defaults are those of csg-htsim's sim/swift.cpp. */
struct SwiftModel {
  Seconds base_target      = Seconds(20e-6);
  Seconds hop_target       = Seconds(20e-6 / 6.55);
  double additive_increase = 1;
  double beta              = 0.8;
  double largest_cut       = 0.5;
  double initial_window    = 12;
  double least_window      = 0.01;
  double most_window       = 1000;
  double scaling_from      = 0.1;
  double scaling_to        = 100;
  Seconds scaling_range    = Seconds(5 * 20e-6);
};
const std::vector<Option<SwiftModel>>& swift_options();

/** [network.nscc] table. Defaults are those of uet-htsim's sim/uec.cpp. Times and windows of zero are derived. */
struct NsccModel {
  Seconds base_round_trip;
  Seconds target_delay;
  double initial_window        = 0;
  double most_window           = 1.5;
  double proportional_increase = 4;
  double fair_increase         = 5;
  double fast_increase         = 0.25;
  double eta                   = 0.15;
  double gamma                 = 0.8;
  double largest_cut           = 0.5;
  double delay_weight          = 0.0125;
  double quick_adapt           = 0.125;
};
const std::vector<Option<NsccModel>>& nscc_options();

/** [network.timely] table. Defaults are those of HPCC's authors (rdma-hw.cc, run.py). Rates of zero are derived. */
struct TimelyModel {
  Seconds low              = Seconds(50e-6);
  Seconds high             = Seconds(500e-6);
  Seconds least_round_trip = Seconds(20e-6);
  double weight            = 0.875;
  double beta              = 0.8;
  int hyper_after          = 5;
  BytesPerSecond additive_increase;
  BytesPerSecond hyper_increase;
  BytesPerSecond minimum_rate{100e6 / 8};
};
const std::vector<Option<TimelyModel>>& timely_options();

/** [network] keys of packets. Sizes of zero are derived from the links. */
struct PacketModel {
  NetworkKind network = NetworkKind::flows;
  Bytes packet{4096};
  Switching switching      = Switching::cut_through;
  FlowControl flow_control = FlowControl::credits;
  int lanes                = 1; ///< virtual lanes of lossless links
  Bytes buffer;
  Bytes xoff;
  Bytes xon;
  Bytes headroom;
  LoadBalancing load_balancing         = LoadBalancing::route;
  Retransmission retransmission        = Retransmission::in_order;
  Overflow overflow                    = Overflow::drop;
  CongestionControl congestion_control = CongestionControl::none;
  Bytes ecn_min;
  Bytes ecn_max;
  double ecn_probability         = 0.2;
  Seconds retransmission_timeout = Seconds(5e-3);
  Bytes control_packet{64};
  DcqcnModel dcqcn;
  InfinibandModel infiniband;
  SwiftModel swift;
  NsccModel nscc;
  TimelyModel timely;

  /** Returns the number of virtual lanes; links that drop packets need only one. */
  int lanes_in_use() const { return flow_control == FlowControl::none ? 1 : lanes; }
  bool carries() const { return network == NetworkKind::packets; }
  /** Returns whether switches choose the path of each packet. */
  bool balances() const { return load_balancing != LoadBalancing::route; }
  /** Returns whether switches mark packets that leave a queue (ECN). */
  bool marks() const { return notifies() || congestion_control == CongestionControl::nscc; }
  /** Returns whether switches mark packets that leave a port which is a root of congestion. */
  bool marks_roots() const { return congestion_control == CongestionControl::infiniband; }
  /** Returns whether receivers notify senders of marks with packets of their own. */
  bool notifies() const { return congestion_control == CongestionControl::dcqcn || marks_roots(); }
  /** Returns the least interval between two notifications to a connection. */
  Seconds notification_interval() const { return marks_roots() ? Seconds() : dcqcn.cnp_interval; }
  bool trims() const { return overflow == Overflow::trim; }
  /** Returns whether receivers acknowledge packets. */
  bool acknowledges() const
  {
    return flow_control == FlowControl::none || congestion_control == CongestionControl::swift ||
           congestion_control == CongestionControl::timely;
  }
};
const std::vector<Option<PacketModel>>& packet_options();

/** Reads the keys of packets in [network], whose other keys are @p others, and its tables of congestion control. Throws
 * UserError. */
PacketModel read_packets(const OptionTable& network, std::vector<std::string> others);

} // namespace weft
