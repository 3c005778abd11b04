// SPDX-License-Identifier: LGPL-2.1-only
#include "model/packets/packet_model.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <set>
#include <sstream>
#include <system_error>

namespace weft {

const std::vector<Option<DcqcnModel>>& dcqcn_options()
{
  using M = DcqcnModel;
  static const std::vector<Option<M>> ROWS{
      {"g", "weight of a notification in the estimate of congestion, alpha", &M::g, Need::otherwise("1/256"),
       Allowed::up_to(1)},
      {"initial_alpha", "alpha before the first notification", &M::initial_alpha, Need::optional, Allowed::up_to(1)},
      {"alpha_interval", "time without notification after which alpha decreases", &M::alpha_interval, Need::optional},
      {"increase_timer", "interval between increases of the rate", &M::increase_timer, Need::optional},
      {"byte_counter", "bytes sent between further increases of the rate", &M::byte_counter, Need::optional},
      {"fast_recovery", "increases that halve the distance to the earlier rate, before that rate increases too",
       &M::fast_recovery, Need::optional},
      {"additive_increase", "increase of the target rate after fast recovery", &M::additive_increase, Need::optional},
      {"hyper_increase", "increase of the target rate once timer and byte counter have passed fast recovery",
       &M::hyper_increase, Need::optional},
      {"minimum_rate", "least rate of a connection", &M::minimum_rate, Need::optional},
      {"clamp_target",
       "notifications at which the target rate becomes the current rate: all, or those after an increase, as HPCC's "
       "simulator has it",
       &M::clamp_target, Need::optional},
      {"decrease_interval",
       "intervals from the first notification on, as NICs have them: the rate decreases at the end of those in which "
       "notifications came; 0: at once, with each notification",
       &M::decrease_interval, Need::optional, Allowed::non_negative},
      {"cnp_interval", "least interval between two notifications to a connection", &M::cnp_interval, Need::optional},
  };
  return ROWS;
}

namespace {

constexpr int STANDARD_CCTI = 127; // the last of 128 entries

/** Reads "shift:multiplier" into a delay in times of a packet; returns whether it is valid. */
bool read_cct_entry(const std::string& entry, double& delay)
{
  constexpr int MOST_SHIFT      = 3;     // 2 bits
  constexpr int MOST_MULTIPLIER = 16383; // 14 bits
  int shift                     = 0;
  int multiplier                = 0;
  const char* const last        = entry.data() + entry.size();
  const auto [colon, no_shift]  = std::from_chars(entry.data(), last, shift);
  if (no_shift != std::errc() || shift < 0 || shift > MOST_SHIFT || colon == last || *colon != ':')
    return false;
  const auto [end, no_multiplier] = std::from_chars(colon + 1, last, multiplier);
  delay                           = std::ldexp(multiplier, -shift);
  return no_multiplier == std::errc() && end == last && multiplier >= 0 && multiplier <= MOST_MULTIPLIER;
}

/** Reads the entries of a congestion control table. Throws UserError. */
std::vector<double> read_cct(const OptionTable& table, const std::string& cct)
{
  std::vector<double> delays;
  std::istringstream entries(cct);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (not read_cct_entry(entry, delays.emplace_back()))
      table.fail("cct", "found \"" + entry + "\" in entry " + std::to_string(delays.size() - 1) +
                            "; allowed: shift:multiplier, a shift of 0 to 3 and a multiplier of 0 to 16383");
  }
  if (delays.size() < 2)
    table.fail("cct", "found " + table.found("cct") + ", which has fewer than two entries; allowed: two or more");
  return delays;
}

} // namespace

// The table that LLNL's tools for InfiniBand's congestion control call Mellanox's default (perryh/ib-cc-tools-llnl,
// opensm-cc-conf-gen.rb): 7 us at entry 95, where a unit is 0.218 us.
double InfinibandModel::delay(int ccti) const
{
  if (not delays.empty())
    return delays[static_cast<std::size_t>(ccti)];
  constexpr double SCALE = 7 / (95.0 * 95) / 0.218;
  return std::floor(SCALE * ccti * ccti);
}

int InfinibandModel::limit() const
{
  if (ccti_limit > 0)
    return ccti_limit;
  return delays.empty() ? STANDARD_CCTI : static_cast<int>(delays.size()) - 1;
}

const std::vector<Option<InfinibandModel>>& infiniband_options()
{
  using M = InfinibandModel;
  static const std::vector<Option<M>> ROWS{
      {"threshold",
       "Threshold: packets may be marked while more than (16 - threshold) / 16 of a buffer waits behind them; 0: never",
       &M::threshold, Need::optional, Allowed::up_to(15)},
      {"marking_rate", "Marking_Rate: mean number of packets between two that are marked", &M::marking_rate,
       Need::optional, Allowed::up_to(65535)},
      {"packet_size", "Packet_Size: smaller packets are not marked", &M::packet_size, Need::optional,
       Allowed::non_negative},
      {"victim_mask", "Victim_Mask: ports that mark packets although they lacked credits", &M::victim_mask,
       Need::optional},
      {"ccti_increase", "CCTI_Increase: increase of the index of the table with each notification", &M::ccti_increase,
       Need::optional, Allowed::up_to(255)},
      {"ccti_min", "CCTI_Min: least index", &M::ccti_min, Need::optional, Allowed::up_to(255)},
      {"ccti_limit", "CCTI_Limit: largest index", &M::ccti_limit, Need::otherwise("the last entry of cct")},
      {"ccti_timer", "CCTI_Timer: time after which the index decreases by one", &M::ccti_timer,
       Need::otherwise("none; required for this congestion control")},
      {"cct",
       "delays after a packet, as OpenSM's cc_cct: shift:multiplier for each index, with commas between them; a delay "
       "is multiplier / 2^shift times that of the packet",
       &M::cct, Need::otherwise("128 entries, 0:7 i^2 / 95^2 / 0.218 rounded down for index i")},
  };
  return ROWS;
}

const std::vector<Option<SwiftModel>>& swift_options()
{
  using M = SwiftModel;
  static const std::vector<Option<M>> ROWS{
      {"base_target", "target delay of a round trip without hops and without flow scaling", &M::base_target,
       Need::optional},
      {"hop_target", "increase of the target delay for each link of the route", &M::hop_target, Need::optional,
       Allowed::non_negative},
      {"additive_increase", "packets by which the window increases in a round trip below the target",
       &M::additive_increase, Need::optional},
      {"beta", "decrease of the window, times the relative excess over the target", &M::beta, Need::optional,
       Allowed::up_to(1)},
      {"largest_cut", "largest part of the window that a decrease takes", &M::largest_cut, Need::optional,
       Allowed::up_to(1)},
      {"initial_window", "packets in flight at first", &M::initial_window, Need::optional},
      {"least_window", "least window in packets; below one, packets are paced", &M::least_window, Need::optional},
      {"most_window", "largest window in packets", &M::most_window, Need::optional},
      {"scaling_from", "window in packets below which flow scaling is largest", &M::scaling_from, Need::optional},
      {"scaling_to", "window in packets above which the target is not scaled", &M::scaling_to, Need::optional},
      {"scaling_range", "largest increase of the target by flow scaling", &M::scaling_range, Need::optional,
       Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<NsccModel>>& nscc_options()
{
  using M = NsccModel;
  static const std::vector<Option<M>> ROWS{
      {"base_round_trip",
       "round trip of a packet and its acknowledgement on an idle fabric, which scales windows, queues and increases",
       &M::base_round_trip, Need::otherwise("that of the longest route from the first host")},
      {"target_delay", "queueing delay that senders aim at", &M::target_delay,
       Need::otherwise("0.75 of base_round_trip")},
      {"initial_window", "packets in flight at first", &M::initial_window, Need::otherwise("the largest window")},
      {"most_window", "largest window, in bandwidth-delay products of the connection", &M::most_window, Need::optional},
      {"proportional_increase",
       "packets by which the window increases in a round trip without delay, in a network of 100 Gb/s and 12 us",
       &M::proportional_increase, Need::optional, Allowed::non_negative},
      {"fair_increase", "packets by which it increases in a round trip above the target without marks",
       &M::fair_increase, Need::optional, Allowed::non_negative},
      {"fast_increase", "fraction of the acknowledged bytes by which it increases after a window without delay",
       &M::fast_increase, Need::optional, Allowed::non_negative},
      {"eta", "packets by which it increases in each round trip", &M::eta, Need::optional, Allowed::non_negative},
      {"gamma", "decrease of the window, times the relative excess of the average delay over the target", &M::gamma,
       Need::optional, Allowed::up_to(1)},
      {"largest_cut", "largest fraction of the window that a decrease takes", &M::largest_cut, Need::optional,
       Allowed::up_to(1)},
      {"delay_weight", "weight of a delay in the average", &M::delay_weight, Need::optional, Allowed::up_to(1)},
      {"quick_adapt",
       "fraction of the largest window; if less arrives in a round trip with losses, the window becomes what has "
       "arrived",
       &M::quick_adapt, Need::optional, Allowed::up_to(1)},
  };
  return ROWS;
}

const std::vector<Option<TimelyModel>>& timely_options()
{
  using M = TimelyModel;
  static const std::vector<Option<M>> ROWS{
      {"low", "round trip below which the rate increases whatever the gradient", &M::low, Need::optional},
      {"high", "round trip above which the rate decreases whatever the gradient", &M::high, Need::optional},
      {"least_round_trip", "round trip to which the gradient is relative", &M::least_round_trip, Need::optional},
      {"weight", "weight of the last difference of round trips in the gradient", &M::weight, Need::optional,
       Allowed::up_to(1)},
      {"beta", "decrease of the rate, times the gradient or the relative excess over high", &M::beta, Need::optional,
       Allowed::up_to(1)},
      {"hyper_after", "increases in a row after which they are larger", &M::hyper_after, Need::optional},
      {"additive_increase", "increase of the rate in a round trip", &M::additive_increase,
       Need::otherwise("0.001 of the host's rate")},
      {"hyper_increase", "increase after hyper_after increases in a row", &M::hyper_increase,
       Need::otherwise("0.005 of the host's rate")},
      {"minimum_rate", "least rate of a connection", &M::minimum_rate, Need::optional},
  };
  return ROWS;
}

const std::vector<Option<PacketModel>>& packet_options()
{
  using M = PacketModel;
  static const std::vector<Option<M>> ROWS{
      {"model", "what messages between hosts are on the network: flows that share links, or packets that queue",
       &M::network, Need::optional},
      {"packet", "packets: bytes of a packet on a link; larger segments are faster to simulate", &M::packet,
       Need::otherwise("InfiniBand's largest, 4KiB")},
      {"switching", "packets: when a switch forwards a packet", &M::switching, Need::optional},
      {"flow_control",
       "packets: how links avoid full buffers; with none, full output queues drop packets, which are sent again",
       &M::flow_control, Need::optional},
      {"lanes",
       "packets, credits and pfc: virtual lanes of each link, which keep routes with cycles from deadlock; credits: "
       "they divide the buffer",
       &M::lanes, Need::optional},
      {"buffer", "packets: buffer of an input port (credits), or of an output port (flow_control = \"none\")",
       &M::buffer,
       Need::otherwise("credits: 64,000B, or what a round trip of the cable fills if that is more; none: 200 packets; "
                       "nscc: what base_round_trip fills")},
      {"xoff", "packets, pfc: bytes of an input port above which it pauses its link", &M::xoff,
       Need::otherwise("15 packets")},
      {"xon", "packets, pfc: bytes at or below which it lets the link resume", &M::xon, Need::otherwise("12 packets")},
      {"headroom", "packets, pfc: buffer above xoff for what arrives until the link has paused", &M::headroom,
       Need::otherwise("as much as can arrive")},
      {"load_balancing",
       "packets: path of a packet among equal-cost ones: that of its message, or at each switch the next hops in turn, "
       "a random one, or the one with the shortest queue",
       &M::load_balancing, Need::optional},
      {"retransmission", "packets: what is sent again after a loss: all packets from the lost one on, or that one only",
       &M::retransmission, Need::otherwise("go-back-n; selective if switches balance loads or trim packets")},
      {"overflow",
       "packets, flow_control = \"none\": what a full output queue does with a packet: drops it, or trims it to its "
       "headers, with which the receiver asks for it again",
       &M::overflow, Need::optional},
      {"congestion_control", "packets: how senders react to congestion", &M::congestion_control, Need::optional},
      {"ecn_min", "packets, dcqcn and nscc: bytes in an output queue above which packets may be marked", &M::ecn_min,
       Need::otherwise("100kB for each 25 Gb/s of the link; nscc: 0.2 of what base_round_trip fills")},
      {"ecn_max", "packets, dcqcn and nscc: bytes above which all packets are marked", &M::ecn_max,
       Need::otherwise("400kB for each 25 Gb/s of the link; nscc: 0.8 of what base_round_trip fills")},
      {"ecn_probability", "packets, dcqcn and nscc: probability of a mark just below ecn_max", &M::ecn_probability,
       Need::otherwise("0.2; nscc: 1"), Allowed::up_to(1)},
      {"retransmission_timeout", "packets: time without acknowledgement after which a sender goes back",
       &M::retransmission_timeout, Need::optional},
      {"control_packet",
       "packets: bytes of an acknowledgement, a notification of congestion, a pause frame or a trimmed packet",
       &M::control_packet, Need::optional},
  };
  return ROWS;
}

namespace {

/** Refuses trimming without what it needs, and congestion control without trimming. */
void check_trimming(const OptionTable& table, const PacketModel& model, const std::set<std::string>& given)
{
  if (model.trims() && model.flow_control != FlowControl::none)
    table.fail("overflow", "found " + table.found("overflow") + " with flow_control = \"" +
                               std::string(to_text(model.flow_control)) +
                               R"(", with which queues do not overflow; allowed: "drop", or flow_control = "none")");
  if (model.trims() && given.contains("retransmission") && model.retransmission == Retransmission::in_order)
    table.fail("retransmission", "found " + table.found("retransmission") +
                                     R"( with overflow = "trim", whose receivers ask for single packets; allowed: )" +
                                     R"("selective", or overflow = "drop")");
  if (model.congestion_control != CongestionControl::nscc)
    return;
  if (not model.trims())
    table.fail("congestion_control", "found " + table.found("congestion_control") + R"( with overflow = "drop"; )" +
                                         R"(allowed: overflow = "trim" and flow_control = "none", or another )" +
                                         "congestion control");
  if (given.contains("buffer") && given.contains("ecn_min") && model.ecn_min >= model.buffer)
    table.fail("ecn_min", "found " + table.found("ecn_min") + ", above which no queue gets with buffer = " +
                              table.found("buffer") + "; allowed: less than that");
  if (model.ecn_probability <= 0)
    table.fail("ecn_probability",
               "found " + table.found("ecn_probability") +
                   R"( with congestion_control = "nscc", which needs marks; allowed: more than zero)");
}

/** Reads [network.infiniband], and refuses what contradicts InfiniBand's congestion control if it is in use. */
void read_infiniband(const OptionTable& network, PacketModel& model)
{
  const OptionTable table = network.table("infiniband");
  InfinibandModel& its    = model.infiniband;
  if (read_options(table, infiniband_options(), {}, its).contains("cct"))
    its.delays = read_cct(table, its.cct);
  const int entries = its.delays.empty() ? STANDARD_CCTI + 1 : static_cast<int>(its.delays.size());
  if (its.limit() >= entries)
    table.fail("ccti_limit", "found " + table.found("ccti_limit") + ", but the last entry of cct is " +
                                 std::to_string(entries - 1) + "; allowed: at most that");
  if (its.ccti_min > its.limit())
    table.fail("ccti_min", "found " + table.found("ccti_min") + ", which is more than ccti_limit (" +
                               std::to_string(its.limit()) + "); allowed: at most that");
  if (model.congestion_control != CongestionControl::infiniband)
    return;
  if (model.flow_control != FlowControl::credits)
    network.fail("congestion_control", "found " + network.found("congestion_control") + " with flow_control = \"" +
                                           std::string(to_text(model.flow_control)) +
                                           R"("; allowed: flow_control = "credits", or another congestion control)");
  if (its.ccti_timer == Seconds())
    table.fail("ccti_timer", "is missing, which congestion_control = \"infiniband\" needs; allowed: a time such as "
                             "\"153.6us\", 150 of the standard's units of 1.024 us");
}

/** Refuses sizes that contradict each other. Keys of a flow control or congestion control that is not in use are
 * allowed, so that a run can choose another one. */
void check_packet_sizes(const OptionTable& table, const PacketModel& model, const std::set<std::string>& given)
{
  const auto at_least_a_packet = [&](const char* key, Bytes value) {
    if (given.contains(key) && value < model.packet)
      table.fail(key, "found " + table.found(key) + ", which is less than a packet (" + to_text(model.packet) +
                          "); allowed: at least that");
  };
  at_least_a_packet("buffer", model.buffer);
  constexpr int MOST_LANES = 15; // data lanes of InfiniBand
  if (model.lanes > MOST_LANES)
    table.fail("lanes", "found " + table.found("lanes") + "; allowed: at most " + std::to_string(MOST_LANES));
  if (model.flow_control == FlowControl::credits && given.contains("buffer") && model.lanes > 1 &&
      model.buffer / model.lanes < model.packet)
    table.fail("buffer", "found " + table.found("buffer") + ", of which each of the " + std::to_string(model.lanes) +
                             " lanes gets less than a packet (" + to_text(model.packet) +
                             "); allowed: at least one for each lane");
  at_least_a_packet("xoff", model.xoff);
  if (given.contains("xon") != given.contains("xoff"))
    table.fail(given.contains("xon") ? "xon" : "xoff",
               "found without " + std::string(given.contains("xon") ? "xoff" : "xon") + "; allowed: both or neither");
  if (model.xon > model.xoff)
    table.fail("xon", "found " + table.found("xon") + ", which is more than xoff (" + to_text(model.xoff) +
                          "); allowed: at most that");
  if (model.balances() && given.contains("retransmission") && model.retransmission == Retransmission::in_order)
    table.fail("retransmission", "found " + table.found("retransmission") +
                                     ", which rejects packets that overtake "
                                     "others, as load_balancing = " +
                                     std::string(to_text(model.load_balancing)) +
                                     R"( lets them; allowed: "selective", or load_balancing = "route")");
  if (given.contains("ecn_min") != given.contains("ecn_max"))
    table.fail(given.contains("ecn_min") ? "ecn_min" : "ecn_max", "found alone; allowed: ecn_min and ecn_max, or "
                                                                  "neither");
  if (model.ecn_min > model.ecn_max)
    table.fail("ecn_min", "found " + table.found("ecn_min") + ", which is more than ecn_max (" +
                              to_text(model.ecn_max) + "); allowed: at most that");
}

} // namespace

PacketModel read_packets(const OptionTable& network, std::vector<std::string> others)
{
  others.insert(others.end(), {"dcqcn", "infiniband", "nscc", "swift", "timely"});
  PacketModel model;
  const std::set<std::string> given = read_options(network, packet_options(), std::move(others), model);
  check_packet_sizes(network, model, given);
  if (model.congestion_control == CongestionControl::nscc && not given.contains("ecn_probability"))
    model.ecn_probability = 1;
  check_trimming(network, model, given);
  if (model.balances() || model.trims())
    model.retransmission = Retransmission::selective;
  read_options(network.table("dcqcn"), dcqcn_options(), {}, model.dcqcn);
  read_infiniband(network, model);
  read_options(network.table("nscc"), nscc_options(), {}, model.nscc);
  read_options(network.table("swift"), swift_options(), {}, model.swift);
  const OptionTable timely = network.table("timely");
  read_options(timely, timely_options(), {}, model.timely);
  if (model.timely.low > model.timely.high)
    timely.fail("low", "found " + timely.found("low") + ", which is more than high (" + to_text(model.timely.high) +
                           "); allowed: at most that");
  return model;
}

} // namespace weft
