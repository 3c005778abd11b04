// SPDX-License-Identifier: LGPL-2.1-only
/* A fabric: topology, hosts, NICs, links and switches, as a fabric file describes them.
 *
 * The file is TOML with the tables [fabric], [topology], [routing], [host], [nic], [link], [switch],
 * [[point_to_point]], [mpi], [progress_engine], [[policy]], [multicast], [nccl], [noise], [disk] and [storage].
 * [[links]] and
 * [[switches]] override values of the cables and switches whose names match a pattern, so that single cables can be
 * faster and single switches smart. file/fabric_schema.hpp lists every key. Host, NIC and switch tables may name a
 * preset. A Fabric is immutable.
 */
#pragma once

#include "fabric/fabric_tables.hpp"
#include "fabric/policy.hpp"
#include "fabric/routing/routing.hpp"
#include "fabric/topology/topology.hpp"
#include "model/host/host_model.hpp"
#include "model/host/mpi_model.hpp"
#include "model/host/multicast_model.hpp"
#include "model/link/link_model.hpp"
#include "model/nccl/nccl_machine.hpp"
#include "model/nic/nic_model.hpp"
#include "model/nic/progress_engine.hpp"
#include "model/noise/noise_model.hpp"
#include "model/packets/packet_model.hpp"
#include "model/storage/storage_model.hpp"
#include "model/switch/switch_model.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Parts of a fabric, from a file or from another source. */
struct FabricParts {
  std::string name;
  std::string description;
  std::string file;                 ///< origin of the description, such as a path
  std::vector<std::string> changes; ///< overridden keys, TABLE.KEY=VALUE each
  std::string topology_kind;
  HostModel host;
  NicModel nic;
  std::vector<SwitchModel> switches;                         ///< switch models; some may be unused
  std::vector<std::shared_ptr<const ForwardingHash>> hashes; ///< by model; null without forwarding cache
  std::vector<int> model_of;                                 ///< by switch: its model; empty: one model per switch
  std::unique_ptr<const Topology> topology;
  RoutingModel routing;
  std::vector<Link> links; ///< two per cable of the topology, by id
  LinkSharing sharing = LinkSharing::flow;
  TimeResolution resolution;
  PacketModel packets;
  std::vector<SharedMedium> shared;
  std::vector<int> shared_of; ///< by link: index in `shared`, or -1; empty if nothing is shared
  std::vector<PointToPointSegment> segments{PointToPointSegment{}}; ///< by increasing `from`; the first has 0 B
  std::optional<MpiModel> mpi;
  std::vector<ProgressEngine> progress_engines; ///< models; the first is the default
  std::vector<int> engine_of;                   ///< by host: its model; empty: all have the default
  std::vector<PolicyRow> policy;
  MulticastModel multicast = default_multicast();
  std::optional<NcclMachine> nccl;
  std::optional<NoiseModel> noise;
  std::optional<DiskModel> disk;
  std::optional<Storage> storage;
};

class Fabric {
  FabricParts parts_; // immutable
  bool sprays_;
  int most_ways_ = 1; // cables of a host, or rails

  std::size_t model_index(int index) const
  {
    return static_cast<std::size_t>(parts_.model_of[static_cast<std::size_t>(index)]);
  }

public:
  /** Creates a fabric from parts, which are not checked. */
  explicit Fabric(FabricParts parts);

  /** Reads a fabric from a file, given by its path or the name of a shipped one (fabric_file.cpp), and overrides some
   * keys (OptionTable::changed). Throws UserError. */
  static Fabric load(const std::string& name_or_path, const std::vector<std::string>& changes = {});

  const std::string& name() const { return parts_.name; }
  const std::string& description() const { return parts_.description; }
  const std::string& file() const { return parts_.file; }
  /** Returns the overridden keys: TABLE.KEY=VALUE each. */
  const std::vector<std::string>& changes() const { return parts_.changes; }
  const std::string& topology_kind() const { return parts_.topology_kind; }
  const Topology& topology() const { return *parts_.topology; }
  /** Returns how messages between hosts are routed. route() and in-network trees do not depend on it. */
  const RoutingModel& routing() const { return parts_.routing; }
  const HostModel& host() const { return parts_.host; }
  const NicModel& nic() const { return parts_.nic; }
  const SwitchModel& switch_model(int index) const { return parts_.switches[model_index(index)]; }
  /** Returns the hash of a switch's forwarding cache, or null. */
  const ForwardingHash* forwarding_hash(int index) const;
  /** Returns all switch models in the file, used or not. */
  const std::vector<SwitchModel>& switch_models() const { return parts_.switches; }
  const std::vector<Link>& links() const { return parts_.links; }
  /** Returns the owners (flows, hosts or jobs) among which a full link is shared equally. */
  LinkSharing sharing() const { return parts_.sharing; }
  /** Returns the time within which changes of flows are merged into one event. */
  const TimeResolution& resolution() const { return parts_.resolution; }
  /** Returns the representation of messages on the network (flows or packets), and the parameters of packets. */
  const PacketModel& packets() const { return parts_.packets; }
  const std::vector<SharedMedium>& shared() const { return parts_.shared; }
  const std::vector<PointToPointSegment>& segments() const { return parts_.segments; }
  /** Returns the costs of the MPI library; without them, SMPI's own settings apply. */
  const std::optional<MpiModel>& mpi() const { return parts_.mpi; }
  /** Returns the progress engine of a host, or null: the multicast protocol then takes no time at the host. */
  const ProgressEngine* progress_engine(VertexId host) const
  {
    if (parts_.progress_engines.empty())
      return nullptr;
    return &parts_.progress_engines[parts_.engine_of.empty()
                                        ? 0
                                        : static_cast<std::size_t>(parts_.engine_of[static_cast<std::size_t>(host)])];
  }
  /** Returns all progress engines in the file. */
  const std::vector<ProgressEngine>& progress_engines() const { return parts_.progress_engines; }
  const std::vector<PolicyRow>& policy() const { return parts_.policy; }
  const MulticastModel& multicast() const { return parts_.multicast; }
  /** Returns the GPUs and graphs that NCCL detects, if the hosts are GPUs. */
  const std::optional<NcclMachine>& nccl() const { return parts_.nccl; }
  /** Returns the noise model, if there is one. */
  const std::optional<NoiseModel>& noise() const { return parts_.noise; }
  /** Returns the disk of each host, if they have one. */
  const std::optional<DiskModel>& disk() const { return parts_.disk; }
  /** Returns the parallel file system, if there is one. */
  const std::optional<Storage>& storage() const { return parts_.storage; }

  int host_count() const { return parts_.topology->host_count(); }
  /** Returns the largest number of a host's cables, or of a node's rails, over which messages and offloaded calls are
   * striped. */
  int stripes() const { return parts_.nic.stripes > 0 ? std::min(parts_.nic.stripes, most_ways_) : most_ways_; }
  int switch_count() const { return parts_.topology->switch_count(); }

  const SwitchModel& model_at(VertexId vertex) const { return switch_model(vertex - host_count()); }
  const Link& link(LinkId id) const { return parts_.links[static_cast<std::size_t>(id)]; }

  /** Returns the index in shared() of the medium that a link uses, if any. */
  std::optional<std::size_t> shared_by(LinkId id) const;

  /** Returns whether the packets of messages between hosts are sprayed. Such messages use the media, which are then
   * pools of links, instead of links. */
  bool sprays() const { return sprays_; }
  /** Returns the counter index for bytes on a link: links().size() + the medium, if packets of messages between these
   * vertices are sprayed over the link's pool. */
  int counted_as(LinkId id, VertexId from, VertexId to) const;
  /** Returns the number of counter indices. */
  std::size_t counted() const { return parts_.links.size() + (sprays_ ? parts_.shared.size() : 0); }
  /** Returns whether bytes are counted under the index of a resource on a message's route, see FabricRoutes. */
  bool counts(int resource, VertexId from, VertexId to) const;
  /** Returns the bytes on a link, including its share of the bytes on its pool. @p counted returns the bytes of a
   * counter. */
  template <class Counted> double bytes_on_link(LinkId id, Counted&& counted) const
  {
    const double own                        = counted(id);
    const std::optional<std::size_t> medium = sprays_ ? shared_by(id) : std::nullopt;
    return medium ? own + counted(static_cast<int>(parts_.links.size() + *medium)) / links_of_pool(id) : own;
  }
  /** Returns the number of links in a link's pool, or of links that share its medium. */
  double links_of_pool(LinkId id) const
  {
    const std::optional<std::size_t> medium = shared_by(id);
    return medium ? static_cast<double>(parts_.shared[*medium].links.size()) : 1;
  }

  /** Find the static route between two different vertices, and the latency of a route, summed over its links and the
   * switches between them. */
  void route(VertexId from, VertexId to, Route& into) const { parts_.topology->route(from, to, into); }
  Seconds latency(const Route& route) const;
  /** Returns the segment that applies to a message of @p size. */
  const PointToPointSegment& segment(Bytes size) const;
  /** Returns the mode that the file's policy sets for a collective call with @p message bytes per rank, if any. */
  std::optional<OffloadMode> policy_for(const std::string& collective, Bytes message) const
  {
    return find_policy(parts_.policy, collective, message);
  }
};

} // namespace weft
