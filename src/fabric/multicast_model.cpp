#include "fabric/multicast_model.hpp"

#include <cmath>

namespace weft {
namespace {

/** Headers of a UD packet with immediate data on InfiniBand, in bytes: LRH 8, GRH 40 (multicast has it), BTH 12, DETH
 * 8, ImmDt 4, ICRC 4, VCRC 2 (InfiniBand Architecture Specification, volume 1, release 1.3, chapters 5, 7, 8 and 9). */
constexpr Bytes UD_HEADERS{78};
/** Of a UC packet of an RDMA Write with immediate data: RETH 16 instead of DETH. Only first packets have it, and only
 *  last ones ImmDt: both are taken for all. */
constexpr Bytes UC_HEADERS{86};
/** What a timer leaves to synchronisation and noise. The source gives no value; the simulated network has no noise. */
constexpr Seconds SLACK{100e-6};

const std::vector<Option<MulticastModel>>& multicast_options()
{
  using M = MulticastModel;
  static const std::vector<Option<M>> ROWS{
      {"mtu", "largest payload of a packet; 4 KiB where absent", &M::mtu, Need::optional},
      {"chunk", "what one request sends or receives; the mtu where absent", &M::chunk, Need::optional},
      {"packet_overhead", "headers of a packet; InfiniBand's where absent", &M::packet_overhead, Need::optional,
       Bound::non_negative},
      {"chains", "roots of an Allgather that multicast at the same time; 1 where absent", &M::chains, Need::optional},
      {"chain_map", R"(who is in one: "ranks", neighbours (where absent), or "racks" or "pods", the hosts of each)",
       &M::chain_map, Need::optional},
      {"trees", "multicast trees among which the data is divided; 1 where absent", &M::trees, Need::optional},
      {"cutoff_slack",
       "what the cutoff timer adds to the data's time on the cable or in the engine; 100us where absent",
       &M::cutoff_slack, Need::optional, Bound::non_negative},
      {"drop_seed", "of the random drops; 0 where absent", &M::drop_seed, Need::optional, Bound::non_negative},
  };
  return ROWS;
}

DropRule read_drop(const OptionTable& table)
{
  DropRule rule;
  read_options(table, drop_options(), {}, rule);
  if (rule.probability > 1)
    table.fail("probability", "found " + table.found("probability") + "; allowed: 0 to 1");
  return rule;
}

Transport read_transport(const OptionTable& table)
{
  const std::string text = table.text("transport").value_or("ud");
  if (const std::optional<Transport> transport = parse_transport(text))
    return *transport;
  table.fail("transport", "found \"" + text + "\"; allowed: ud, uc");
}

void check_chunk(const OptionTable& table, const MulticastModel& model)
{
  if (model.transport == Transport::ud && model.chunk > model.mtu)
    table.fail("chunk", "found " + table.found("chunk") + "; allowed with transport \"ud\": at most the mtu, " +
                            to_text(model.mtu) + "; transport \"uc\" has longer messages");
}

} // namespace

const std::vector<Option<DropRule>>& drop_options()
{
  using M = DropRule;
  static const std::vector<Option<M>> ROWS{
      {"probability", "that a chunk gets lost: for each receiver, or on the link for all behind it; 1 where absent",
       &M::probability, Need::optional, Bound::non_negative},
      {"link", "where: a link's name, or a pattern with * and ?; at the receivers where absent", &M::link,
       Need::optional},
      {"call", "number of the multicast call on its communicator, from 0; any where absent", &M::call, Need::optional,
       Bound::non_negative},
      {"root", "rank that multicasts; any where absent", &M::root, Need::optional, Bound::non_negative},
      {"receiver", "rank that misses it; any where absent", &M::receiver, Need::optional, Bound::non_negative},
      {"chunks", "sequence numbers in the root's data; any where absent", &M::chunks, Need::optional,
       Bound::non_negative},
  };
  return ROWS;
}

std::vector<OptionHelp> multicast_help()
{
  std::vector<OptionHelp> help = describe_options(multicast_options());
  help.insert(help.begin(),
              {"transport", "text",
               R"("ud" (datagrams of at most an mtu, staged), where absent, or "uc" (messages of any length))"});
  return help;
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
  model.cutoff_slack    = SLACK;
  return model;
}

MulticastModel read_multicast(const OptionTable& file)
{
  const OptionTable table         = file.table("multicast");
  MulticastModel model            = default_multicast();
  const std::set<std::string> set = read_options(table, multicast_options(), {"drops", "transport"}, model);
  model.transport                 = read_transport(table);
  if (model.chain_map != "ranks" && model.chain_map != "racks" && model.chain_map != "pods")
    table.fail("chain_map", "found \"" + model.chain_map + "\"; allowed: ranks, racks, pods");
  if (set.contains("chains") && model.chain_map != "ranks")
    table.fail("chains", "does not go with chain_map \"" + model.chain_map + "\", which makes as many as there are");
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
