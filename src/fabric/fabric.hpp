// SPDX-License-Identifier: LGPL-2.1-only
/* A fabric: topology, hosts, NICs, links and switches, as a fabric file describes them.
 *
 * The file is TOML with the tables [fabric], [topology], [host], [nic], [link], [switch], [[point_to_point]], [mpi],
 * [progress_engine], [[policy]], [multicast] and [noise]; [[links]] and [[switches]] change single values of those
 * cables and switches whose names match a pattern, so that any part of a fabric can be faster, or smart.
 * fabric_schema.hpp has every key. Host, NIC and switch tables may name a preset. Nothing of a Fabric changes after it
 * has been read.
 */
#pragma once

#include "fabric/fabric_tables.hpp"
#include "fabric/policy.hpp"
#include "fabric/topology/topology.hpp"
#include "model/host/mpi_model.hpp"
#include "model/host/multicast_model.hpp"
#include "model/nic/nic_model.hpp"
#include "model/nic/progress_engine.hpp"
#include "model/noise/noise_model.hpp"
#include "model/switch/switch_model.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** All that a fabric is made of, from a file or from elsewhere. */
struct FabricParts {
  std::string name;
  std::string description;
  std::string file;                 ///< where the description came from
  std::vector<std::string> changes; ///< of its keys, TABLE.KEY=VALUE each
  std::string topology_kind;
  HostModel host;
  NicModel nic;
  std::vector<SwitchModel> switches;                         ///< models, whether or not a switch has them
  std::vector<std::shared_ptr<const ForwardingHash>> hashes; ///< by model; null where it has no forwarding cache
  std::vector<int> model_of;                                 ///< by switch: its model; empty: each has its own
  std::unique_ptr<const Topology> topology;
  std::vector<Link> links; ///< two a cable of the topology, in the order of their ids
  std::vector<SharedMedium> shared;
  std::vector<int> shared_of; ///< by link: position in `shared`, or -1; empty where nothing is shared
  std::vector<PointToPointSegment> segments{PointToPointSegment{}}; ///< by rising `from`, the first from 0 B
  std::optional<MpiModel> mpi;
  std::vector<ProgressEngine>
      progress_engines;       ///< models; the first is that of all hosts of which nothing else is said
  std::vector<int> engine_of; ///< by host: its model; empty: all have the first
  std::vector<PolicyRow> policy;
  MulticastModel multicast = default_multicast();
  std::optional<NoiseModel> noise;
};

class Fabric {
  FabricParts parts_; // which nothing changes

  std::size_t model_index(int index) const
  {
    return static_cast<std::size_t>(parts_.model_of[static_cast<std::size_t>(index)]);
  }

public:
  /** Put a fabric together. The parts are taken as they are. */
  explicit Fabric(FabricParts parts);

  /** Read a fabric by the path of its file, or by the name of one that ships with weft (fabric_file.cpp), with other
   *  values of some keys (OptionTable::changed). Throws UserError. */
  static Fabric load(const std::string& name_or_path, const std::vector<std::string>& changes = {});

  const std::string& name() const { return parts_.name; }
  const std::string& description() const { return parts_.description; }
  const std::string& file() const { return parts_.file; }
  /** What differs from the file: TABLE.KEY=VALUE each. */
  const std::vector<std::string>& changes() const { return parts_.changes; }
  const std::string& topology_kind() const { return parts_.topology_kind; }
  const Topology& topology() const { return *parts_.topology; }
  const HostModel& host() const { return parts_.host; }
  const NicModel& nic() const { return parts_.nic; }
  const SwitchModel& switch_model(int index) const { return parts_.switches[model_index(index)]; }
  /** The hash of a switch's forwarding cache; null where it has none. */
  const ForwardingHash* forwarding_hash(int index) const;
  /** Every model that a table of the file describes, whether or not a switch has it. */
  const std::vector<SwitchModel>& switch_models() const { return parts_.switches; }
  const std::vector<Link>& links() const { return parts_.links; }
  const std::vector<SharedMedium>& shared() const { return parts_.shared; }
  const std::vector<PointToPointSegment>& segments() const { return parts_.segments; }
  /** What the MPI library adds; nothing where the file does not say, and SMPI's own settings hold. */
  const std::optional<MpiModel>& mpi() const { return parts_.mpi; }
  /** Who does the multicast protocol's work at a host; null where the file does not say, and it is not limited. */
  const ProgressEngine* progress_engine(VertexId host) const
  {
    if (parts_.progress_engines.empty())
      return nullptr;
    return &parts_.progress_engines[parts_.engine_of.empty()
                                        ? 0
                                        : static_cast<std::size_t>(parts_.engine_of[static_cast<std::size_t>(host)])];
  }
  /** All that the file describes. */
  const std::vector<ProgressEngine>& progress_engines() const { return parts_.progress_engines; }
  const std::vector<PolicyRow>& policy() const { return parts_.policy; }
  const MulticastModel& multicast() const { return parts_.multicast; }
  /** What makes runs on it vary; nothing where they do not. */
  const std::optional<NoiseModel>& noise() const { return parts_.noise; }

  int host_count() const { return parts_.topology->host_count(); }
  int switch_count() const { return parts_.topology->switch_count(); }

  const SwitchModel& model_at(VertexId vertex) const { return switch_model(vertex - host_count()); }
  const Link& link(LinkId id) const { return parts_.links[static_cast<std::size_t>(id)]; }

  /** Which of shared() a link passes beside itself; nothing where it passes none. */
  std::optional<std::size_t> shared_by(LinkId id) const;

  /** The way between two different vertices, and its latency: links and the forwarding of the switches between. */
  void route(VertexId from, VertexId to, Route& into) const { parts_.topology->route(from, to, into); }
  Seconds latency(const Route& route) const;
  /** The segment that holds for a message of @p size. */
  const PointToPointSegment& segment(Bytes size) const;
  /** What the file's policy says of a call in which a rank contributes @p message; nothing where it is silent. */
  std::optional<OffloadMode> policy_for(const std::string& collective, Bytes message) const
  {
    return find_policy(parts_.policy, collective, message);
  }
};

} // namespace weft
