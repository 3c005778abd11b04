// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nccl/nccl_machine.hpp"

#include <algorithm>
#include <iterator>

namespace weft {

const NcclGraph* NcclMachine::graph(NcclAlgorithm algorithm, int gpus) const
{
  const auto with = [&](int its) {
    const auto found =
        std::ranges::find_if(graphs, [&](const NcclGraph& one) { return one.of == algorithm && one.gpus == its; });
    return found == graphs.end() ? nullptr : &*found;
  };
  const NcclGraph* const exact = with(gpus);
  return exact ? exact : with(0);
}

const NcclMessage* NcclMachine::message(Bytes bytes) const
{
  const auto next = std::ranges::find_if(messages, [bytes](const NcclMessage& one) { return one.from > bytes; });
  return next == messages.begin() ? nullptr : &*std::prev(next);
}

const std::vector<Option<NcclMachine>>& nccl_options()
{
  static const std::vector<Option<NcclMachine>> ROWS{
      {"architecture", "of the GPUs", &NcclMachine::architecture},
      {"cpu", "vendor of the hosts' CPUs; amd if they are of several vendors", &NcclMachine::cpu, Need::optional},
      {"gpus_per_node", "consecutive hosts of the fabric that are the GPUs of a node", &NcclMachine::gpus_per_node},
      {"ll128", "whether the protocol LL128 is allowed: NVLink in the node, and NICs near their GPUs",
       &NcclMachine::ll128, Need::optional},
      {"collnet", "whether a plug-in for reductions in the network is loaded", &NcclMachine::collnet, Need::optional},
      {"simple_tree", "whether trees within nodes have NCCL's pattern TREE (4), not SPLIT or BALANCED_TREE",
       &NcclMachine::simple_tree, Need::optional},
      {"peer_overhead", "time that an Alltoall takes for each other rank", &NcclMachine::peer_overhead, Need::optional,
       Allowed::non_negative},
      {"ring_copies", "copies of a ring's last chunk for which a call waits", &NcclMachine::ring_copies, Need::optional,
       Allowed::non_negative},
      {"nvls_stages", "stages of a chunk that a call of NVLS fills in addition", &NcclMachine::nvls_stages,
       Need::optional, Allowed::non_negative},
      {"ring_slices", "messages in which a ring sends a chunk", &NcclMachine::ring_slices, Need::optional},
      {"NCCL_ALGO", "algorithms to choose among, as in NCCL: ring,tree or ^nvls", &NcclMachine::algo,
       Need::otherwise("all")},
      {"NCCL_PROTO", "protocols to choose among, as in NCCL: LL,Simple or ^LL128", &NcclMachine::proto,
       Need::otherwise("all")},
      {"NCCL_MIN_NCHANNELS", "smallest number of channels", &NcclMachine::least_channels,
       Need::otherwise("that of the graph")},
      {"NCCL_MAX_NCHANNELS", "largest number of channels", &NcclMachine::most_channels,
       Need::otherwise("that of the graph")},
      {"NCCL_BUFFSIZE", "buffer of a connection of protocol Simple", &NcclMachine::buffer, Need::otherwise("4MiB")},
  };
  return ROWS;
}

const std::vector<Option<NcclGraph>>& nccl_graph_options()
{
  static const std::vector<Option<NcclGraph>> ROWS{
      {"of", "algorithm that uses the graph", &NcclGraph::of},
      {"gpus", "GPUs of a node that take part in a call", &NcclGraph::gpus, Need::otherwise("any number")},
      {"channels", "number of channels (nChannels in NCCL's log)", &NcclGraph::channels},
      {"copies", "channels that NCCL makes of each of them (\"4 coll channels\" of 2)", &NcclGraph::copies,
       Need::optional},
      {"intra", "speed of a channel within a node (bw, first number)", &NcclGraph::intra},
      {"inter", "speed of a channel between nodes (bw, second number)", &NcclGraph::inter},
      {"links", "links within a node (type: NVL or NVB, else PCIe)", &NcclGraph::links, Need::optional},
      {"same_channels", "whether all channels take the GPUs in the same order (sameChannels)",
       &NcclGraph::same_channels, Need::optional},
      {"network_latency", "added to NCCL's own latency of a message between nodes", &NcclGraph::network_latency,
       Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<NcclMessage>>& nccl_message_options()
{
  static const std::vector<Option<NcclMessage>> ROWS{
      {"from", "smallest message of a channel, with the flags of its protocol", &NcclMessage::from, Need::required,
       Allowed::non_negative},
      {"latency", "latency of a message between nodes, in place of NCCL's own", &NcclMessage::latency, Need::required,
       Allowed::non_negative},
      {"copy_rate", "rate of copies of the message on its way, which lengthen the latency", &NcclMessage::copy_rate,
       Need::otherwise("no copies")},
      {"overhead", "bytes by which each message is longer on the links: time that its NIC takes",
       &NcclMessage::overhead, Need::optional, Allowed::non_negative},
      {"late_overhead", "more such bytes for messages after the eight slots that a receiver posts in advance",
       &NcclMessage::late_overhead, Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

namespace {

void read_messages(const OptionTable& table, NcclMachine& machine)
{
  for (const OptionTable& row : table.tables("message")) {
    NcclMessage message;
    require_options(row, nccl_message_options(), read_options(row, nccl_message_options(), {}, message));
    if (machine.messages.empty() ? message.from > Bytes() : message.from <= machine.messages.back().from)
      row.fail("from", "found " + row.found("from") + "; allowed: 0B in the first [[nccl.message]], then larger ones");
    machine.messages.push_back(message);
  }
}

} // namespace

std::optional<NcclMachine> read_nccl(const OptionTable& file)
{
  if (not file.has("nccl"))
    return std::nullopt;
  const OptionTable table = file.table("nccl");
  NcclMachine machine;
  require_options(table, nccl_options(), read_options(table, nccl_options(), {"graph", "message"}, machine));
  for (const OptionTable& row : table.tables("graph")) {
    NcclGraph graph;
    require_options(row, nccl_graph_options(), read_options(row, nccl_graph_options(), {}, graph));
    if (const NcclGraph* const other = machine.graph(graph.of, graph.gpus); other && other->gpus == graph.gpus)
      row.fail("of", "found " + row.found("of") +
                         " twice; allowed: one [[nccl.graph]] for each algorithm and number of GPUs");
    machine.graphs.push_back(graph);
  }
  read_messages(table, machine);
  if (not machine.graph(NcclAlgorithm::ring, 0))
    table.fail("graph",
               "there is none of \"ring\" for any number of GPUs, which NCCL always has; add a [[nccl.graph]]");
  if (machine.least_channels > machine.most_channels && machine.most_channels > 0)
    table.fail("NCCL_MIN_NCHANNELS", "found " + table.found("NCCL_MIN_NCHANNELS") +
                                         "; allowed: at most NCCL_MAX_NCHANNELS, which is " +
                                         std::to_string(machine.most_channels));
  return machine;
}

} // namespace weft
