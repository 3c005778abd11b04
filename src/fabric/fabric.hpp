/* A fabric: topology, hosts, NICs, links and switches, as a fabric file describes them.
 *
 * The file is TOML with the tables [fabric], [topology], [host], [nic], [link], [switch], [[point_to_point]], [mpi],
 * [progress_engine], [[policy]] and [multicast]; [[links]] and [[switches]] change single values of those cables and
 * switches whose names match a pattern, so that any part of a fabric can be faster, or smart. fabric_schema() lists
 * every key. Host, NIC and switch tables may name a preset. Nothing of a Fabric changes after it has been read.
 */
#pragma once

#include "fabric/mpi_model.hpp"
#include "fabric/multicast_model.hpp"
#include "fabric/policy.hpp"
#include "fabric/topology.hpp"
#include "nic/nic_model.hpp"
#include "nic/progress_engine.hpp"
#include "smart_switch/switch_model.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** What a cable is like, each direction. */
struct LinkModel {
  BytesPerSecond bandwidth;
  Seconds latency;
};

const std::vector<Option<LinkModel>>& link_options();

/** Something that frames of several links pass, such as a port where a switch recirculates: one bandwidth for all. */
struct SharedMedium {
  std::vector<std::string> links; ///< by their names
  BytesPerSecond bandwidth;
};
const std::vector<Option<SharedMedium>>& shared_options();

struct HostModel {
  std::string preset;
  FlopsPerSecond speed;
  int cores = 0;
  /// Messages between ranks of one host.
  BytesPerSecond loopback_bandwidth;
  Seconds loopback_latency;
};

const std::vector<Option<HostModel>>& host_options();

/** Factors on latency and bandwidth of point-to-point messages of at least `from` bytes: SMPI's piecewise-linear model
 *  (Clauss et al., IPDPS 2011, section 4.1). */
struct PointToPointSegment {
  Bytes from;
  double latency_factor   = 1;
  double bandwidth_factor = 1;
};

const std::vector<Option<PointToPointSegment>>& point_to_point_options();

/** The parts of a fabric that something else than a file describes. */
struct FabricParts {
  std::string name;
  std::string description;
  std::string file; ///< where the description came from
  std::string topology_kind;
  HostModel host;
  NicModel nic;
  std::vector<SwitchModel> switches; ///< one a switch of the topology
  std::unique_ptr<const Topology> topology;
  std::vector<Link> links; ///< two a cable of the topology, in the order of their ids
  std::vector<PointToPointSegment> segments{PointToPointSegment{}}; ///< by rising `from`, the first from 0 B
};

class Fabric {
  std::string name_;
  std::string description_;
  std::string file_;
  std::string topology_kind_;
  HostModel host_;
  NicModel nic_;
  std::vector<SwitchModel> switch_models_;                    // that of [switch], then one a [[switches]] table
  std::vector<std::shared_ptr<const ForwardingHash>> hashes_; // by model; null where it has no forwarding cache
  std::vector<int> model_of_;                                 // by switch: position in switch_models_
  std::vector<PointToPointSegment> segments_;                 // by rising `from`; never empty
  std::optional<MpiModel> mpi_;
  std::optional<ProgressEngine> progress_engine_;
  std::vector<PolicyRow> policy_;
  MulticastModel multicast_;
  std::unique_ptr<const Topology> topology_;
  std::vector<Link> links_;
  std::vector<SharedMedium> shared_;
  std::vector<int> shared_of_; // by link: position in shared_, or -1; empty where nothing is shared

  Fabric() = default;
  void check_hosts_have_ports(const OptionTable& table) const;
  void read_links(const OptionTable& file);
  void read_shared(const OptionTable& file);
  void read_switches(const OptionTable& file);
  void add_hash(const OptionTable& table);

public:
  /** Read a fabric by the path of its file, or by the name of one that ships with weft. Throws UserError. */
  static Fabric load(const std::string& name_or_path);

  /** Put a fabric together. The parts are taken as they are. */
  static Fabric assemble(FabricParts parts);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  const std::string& file() const { return file_; }
  const std::string& topology_kind() const { return topology_kind_; }
  const Topology& topology() const { return *topology_; }
  const HostModel& host() const { return host_; }
  const NicModel& nic() const { return nic_; }
  const SwitchModel& switch_model(int index) const
  {
    return switch_models_[static_cast<std::size_t>(model_of_[static_cast<std::size_t>(index)])];
  }
  /** The hash of a switch's forwarding cache; null where it has none. */
  const ForwardingHash* forwarding_hash(int index) const
  {
    return hashes_.empty() ? nullptr
                           : hashes_[static_cast<std::size_t>(model_of_[static_cast<std::size_t>(index)])].get();
  }
  /** Every model that a table of the file describes, whether or not a switch has it. */
  const std::vector<SwitchModel>& switch_models() const { return switch_models_; }
  const std::vector<Link>& links() const { return links_; }
  const std::vector<SharedMedium>& shared() const { return shared_; }
  const std::vector<PointToPointSegment>& segments() const { return segments_; }
  /** What the MPI library adds; nothing where the file does not say, and SMPI's own settings hold. */
  const std::optional<MpiModel>& mpi() const { return mpi_; }
  /** Who does the multicast protocol's work at every host; nothing where the file does not say, and it is not limited.
   */
  const std::optional<ProgressEngine>& progress_engine() const { return progress_engine_; }
  const std::vector<PolicyRow>& policy() const { return policy_; }
  const MulticastModel& multicast() const { return multicast_; }

  int host_count() const { return topology_->host_count(); }
  int switch_count() const { return topology_->switch_count(); }

  const SwitchModel& model_at(VertexId vertex) const { return switch_model(vertex - host_count()); }
  const Link& link(LinkId id) const { return links_[static_cast<std::size_t>(id)]; }

  /** Which of shared() a link passes beside itself; nothing where it passes none. */
  std::optional<std::size_t> shared_by(LinkId id) const;

  /** The way between two different vertices, and its latency: links and the forwarding of the switches between. */
  void route(VertexId from, VertexId to, Route& into) const { topology_->route(from, to, into); }
  Seconds latency(const Route& route) const;
  /** The segment that holds for a message of @p size. */
  const PointToPointSegment& segment(Bytes size) const;
  /** What the file's policy says of a call in which a rank contributes @p message; nothing where it is silent. */
  std::optional<OffloadMode> policy_for(const std::string& collective, Bytes message) const
  {
    return find_policy(policy_, collective, message);
  }
};

/** Every table of a fabric file with its keys, for help and documentation. */
struct TableHelp {
  std::string table;
  std::string meaning;
  std::vector<OptionHelp> options;
};
std::vector<TableHelp> fabric_schema();

/** What a fabric is, in some lines of text. */
std::string describe(const Fabric& fabric);

/** Prove the routes (Belbeisi et al., section 5, rule 3): each way exists, joins end to end over cables that there are,
 *  visits nothing twice, crosses a switch and is no longer than the topology's diameter. All pairs of up to 1,024
 *  hosts, else a seeded sample; always every switch from and to some host. Returns what was proven; throws UserError
 *  with the first pair for which it does not hold. */
std::string check(const Fabric& fabric);

} // namespace weft
