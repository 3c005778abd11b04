// SPDX-License-Identifier: LGPL-2.1-only
#include "model/host/multicast_model.hpp"

#include <cmath>
#include <fnmatch.h>

namespace weft {
namespace {

/** Headers of a UD packet with immediate data on InfiniBand, in bytes: LRH 8, GRH 40 (multicast has it), BTH 12, DETH
 * 8, ImmDt 4, ICRC 4, VCRC 2 (InfiniBand Architecture Specification, volume 1, release 1.3, chapters 5, 7, 8 and 9). */
constexpr Bytes UD_HEADERS{78};
/** Headers of a UC packet of an RDMA Write with immediate data: RETH 16 instead of DETH. First packets alone have a
 * RETH and last ones ImmDt; here all packets have both. */
constexpr Bytes UC_HEADERS{86};

DropRule read_drop(const OptionTable& table)
{
  DropRule rule;
  read_options(table, drop_options(), {}, rule);
  return rule;
}

void check_chunk(const OptionTable& table, const MulticastModel& model)
{
  if (model.transport == Transport::ud && model.chunk > model.mtu)
    table.fail("chunk", "found " + table.found("chunk") + "; allowed with transport \"ud\": at most the mtu, " +
                            to_text(model.mtu) + "; transport \"uc\" allows longer messages");
}

} // namespace

const std::vector<Option<DropRule>>& drop_options()
{
  using M               = DropRule;
  static const Need ANY = Need::otherwise("any");
  static const std::vector<Option<M>> ROWS{
      {"probability", "probability that a chunk is lost: at each receiver, or on the link for all receivers behind it",
       &M::probability, Need::optional, Allowed::up_to(1)},
      {"link", "place of the loss: a link, a cable for both directions, or a pattern with * and ?", &M::link,
       Need::otherwise("at the receivers")},
      {"call", "number of the multicast call on its communicator, from 0", &M::call, ANY, Allowed::non_negative},
      {"root", "root rank of the multicast", &M::root, ANY, Allowed::non_negative},
      {"receiver", "receiving rank that loses the chunk", &M::receiver, ANY, Allowed::non_negative},
      {"chunks", "sequence numbers in the root's data", &M::chunks, ANY, Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<MulticastModel>>& multicast_options()
{
  using M = MulticastModel;
  static const std::vector<Option<M>> ROWS{
      {"transport", R"("ud", datagrams of at most an mtu, staged, or "uc", messages of any length)", &M::transport,
       Need::optional},
      {"mtu", "largest payload of a packet", &M::mtu, Need::optional},
      {"chunk", "size of one send or receive request", &M::chunk, Need::otherwise("the mtu")},
      {"packet_overhead", "headers per packet", &M::packet_overhead,
       Need::otherwise("InfiniBand's, " + to_text(UD_HEADERS) + ", with \"uc\" " + to_text(UC_HEADERS)),
       Allowed::non_negative},
      {"chains", "roots of an Allgather that multicast concurrently", &M::chains, Need::optional},
      {"chain_map", R"(ranks of a chain: "ranks", neighbours, or "racks" or "pods", the hosts of each)", &M::chain_map,
       Need::optional, Allowed::one_of({"ranks", "racks", "pods"})},
      {"trees", "multicast trees that share the data", &M::trees,
       Need::otherwise("1, in a cluster of GPUs one a rail")},
      {"cutoff_slack", "time that the cutoff timer adds to the transfer time of the data", &M::cutoff_slack,
       Need::optional, Allowed::non_negative},
      {"port_buffer", "buffer of a switch port to a host; packets beyond it are lost", &M::port_buffer,
       Need::otherwise("unlimited, as links are lossless")},
      {"slow_branch",
       R"(what lossless switches do when one branch of a tree is slower than the others: "buffer", they store what it )"
       R"(has not forwarded, or "pause", they pause the roots)",
       &M::slow_branch, Need::optional, Allowed::one_of({"buffer", "pause"})},
      {"drop_seed", "seed of the random drops", &M::drop_seed, Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

bool DropRule::hits(const std::string& link_name) const
{
  const auto is_for = [&](const std::string& name) { return fnmatch(link.c_str(), name.c_str(), 0) == 0; };
  return is_for(link_name) || is_for(link_name.substr(0, link_name.rfind('.')));
}

double MulticastModel::packets(Bytes block) const
{
  const double full = std::floor(block / chunk);
  return full * std::ceil(chunk / mtu) + std::ceil((block - chunk * full) / mtu);
}

MulticastModel default_multicast()
{
  MulticastModel model;
  model.chunk           = model.mtu;
  model.packet_overhead = UD_HEADERS;
  return model;
}

MulticastModel read_multicast(const OptionTable& file)
{
  const OptionTable table         = file.table("multicast");
  MulticastModel model            = default_multicast();
  const std::set<std::string> set = read_options(table, multicast_options(), {"drops"}, model);
  if (set.contains("chains") && model.chain_map != "ranks")
    table.fail("chains",
               "cannot be combined with chain_map \"" + model.chain_map + "\", which makes as many as there are");
  if (set.contains("port_buffer") && model.pauses())
    table.fail("port_buffer", "cannot be combined with slow_branch \"pause\": full ports drop packets, or pause roots");
  if (not set.contains("chunk"))
    model.chunk = model.mtu;
  if (not set.contains("packet_overhead") && model.transport == Transport::uc)
    model.packet_overhead = UC_HEADERS;
  check_chunk(table, model);
  for (const OptionTable& row : table.tables("drops"))
    model.drops.push_back(read_drop(row));
  return model;
}

} // namespace weft
