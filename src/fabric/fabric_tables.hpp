// SPDX-License-Identifier: LGPL-2.1-only
/* Simple tables of a fabric file: one struct each, with the rows of its keys. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** [fabric] table. */
struct AboutFabric {
  std::string name;
  std::string description;
};
const std::vector<Option<AboutFabric>>& about_options();

/** Properties of one direction of a cable. */
struct LinkModel {
  BytesPerSecond bandwidth;
  Seconds latency;
};
const std::vector<Option<LinkModel>>& link_options();

/** Keys of [[links]] that are not in [link]. */
struct CablePort {
  int port = -1; ///< at the cable's upper switch; -1: in the order of the cables
};
const std::vector<Option<CablePort>>& cable_port_options();

/** Entities among which a full link is shared equally, or by weight. */
enum class LinkSharing : std::uint8_t {
  flow, ///< each flow
  host, ///< each source host, however many flows it has
  job,  ///< each job, and each table of background traffic
};
template <> struct Names<LinkSharing> {
  static constexpr std::array ROWS{std::pair{LinkSharing::flow, std::string_view("flow")},
                                   std::pair{LinkSharing::host, std::string_view("host")},
                                   std::pair{LinkSharing::job, std::string_view("job")}};
};

/** [link] table. */
struct LinkTable {
  LinkModel model; ///< for cables that no [[links]] table matches
  LinkSharing sharing = LinkSharing::flow;
};
/** Rows of the keys of [link] that are not in [[links]]. */
const std::vector<Option<LinkTable>>& link_sharing_options();

/** Bandwidth shared by several links, such as the port through which a switch recirculates packets. */
struct SharedMedium {
  std::vector<std::string> links; ///< names
  BytesPerSecond bandwidth;
};
const std::vector<Option<SharedMedium>>& shared_options();

struct HostModel {
  std::string preset;
  FlopsPerSecond speed;
  int cores = 0;
  /// Sockets, or NUMA domains, over which the ranks of a host are distributed; 0: cores share only the bandwidth that
  /// their messages use.
  int sockets = 0;
  /// Bandwidth of messages between ranks of one host.
  BytesPerSecond loopback_bandwidth;
  Seconds loopback_latency;
  /// Additional cost of messages between sockets.
  Seconds intersocket_latency;
  BytesPerSecond intersocket_rate{std::numeric_limits<double>::infinity()};
  /// Memory bandwidth shared by the ranks of a socket. Each copy of a message between them uses it once; if sockets are
  /// modelled, so do reductions and copies of vectors.
  BytesPerSecond memory_bandwidth{std::numeric_limits<double>::infinity()};
  /// Size from which messages are copied once (from the sender's memory to the receiver's); smaller ones are copied
  /// twice (through shared memory).
  Bytes single_copy_threshold{std::numeric_limits<double>::infinity()};
  /// As memory_bandwidth, for data in the shared caches of a socket.
  BytesPerSecond shared_cache_bandwidth{std::numeric_limits<double>::infinity()};
  /// Size of all caches of a socket. A call whose buffers fit does not use memory bandwidth.
  Bytes cache_size;
  Seconds message_overhead; ///< CPU time of sending a message within the host, and again of receiving it
  /// Rate at which a core copies a message within the host into shared memory, and out of it.
  BytesPerSecond copy_rate{std::numeric_limits<double>::infinity()};
  Seconds piece_overhead; ///< CPU time per contiguous piece of a non-contiguous message
  BytesPerSecond reduction_rate{
      std::numeric_limits<double>::infinity()}; ///< rate at which a core combines or copies vectors
  /// Buffers of a rank up to this size stay in its core's caches; at twice this size, none of their data does.
  Bytes core_cache_size;
  /// Additional cost of results that a core combines or copies through the host's shared caches, as a rate.
  BytesPerSecond shared_cache_rate{std::numeric_limits<double>::infinity()};
  /// Additional cost of results through the memory, as a rate.
  BytesPerSecond core_memory_rate{std::numeric_limits<double>::infinity()};

  std::vector<std::string> unmeasured; ///< keys whose values are guesses or come from another device

  bool shares_memory() const { return memory_bandwidth.value() < std::numeric_limits<double>::infinity(); }
  bool has_sockets() const { return sockets > 0; }
  /** Returns the number of memories of a host whose bandwidth is limited. */
  int memories() const { return shares_memory() ? std::max(1, sockets) : 0; }
  /** Returns the socket of the rank of a host with this index. Ranks are distributed cyclically over the sockets, as by
   * mpirun of Open MPI 1.8 to 4.1 for more than two ranks (--map-by socket) and by Slurm's srun for any number
   * (block:cyclic). */
  int socket(int index) const { return has_sockets() ? index % sockets : 0; }
  /** Returns the load of @p bytes on a socket, in bytes of its memory_bandwidth. @p in_shared_caches and @p in_memory
   * are the fractions of the bytes there. */
  double load(Bytes bytes, double in_shared_caches, double in_memory) const
  {
    return bytes.value() * (in_memory + in_shared_caches * (memory_bandwidth / shared_cache_bandwidth));
  }
  /** Returns the number of times that a message within the host is copied. */
  int copies(Bytes size) const { return size < single_copy_threshold ? 2 : 1; }
  /** Returns the CPU time of sending a message within the host, or of receiving one. */
  Seconds message_time(Bytes size) const
  {
    return copies(size) == 2 ? message_overhead + size / copy_rate : message_overhead;
  }
  /** Returns the time per byte on top of the core's own work. @p left_core is the fraction of the data that misses the
   * core's caches, @p left_host the fraction that misses all caches of the host. */
  double seconds_a_byte(double left_core, double left_host) const
  {
    return left_core / shared_cache_rate.value() + left_host / core_memory_rate.value();
  }
  /** Returns the fraction of a rank's buffers that does not fit into its core's caches. */
  double leaves_core(Bytes buffers) const
  {
    return core_cache_size > Bytes() ? std::clamp(buffers / core_cache_size - 1, 0.0, 1.0) : 1;
  }
  /** Returns the fraction of the buffers of @p ranks ranks that does not fit into the caches of their socket. */
  double leaves_socket(Bytes buffers, std::size_t ranks) const
  {
    return std::max(0.0, 1 - cache_size / std::max(Bytes(1), buffers * static_cast<double>(ranks)));
  }
  bool cores_copy() const { return copy_rate.value() < std::numeric_limits<double>::infinity(); }
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

/** Time within which changes of a network's flows may be merged into one event. */
struct TimeResolution {
  Seconds time;           ///< between rate updates; minimum, if automatic. Zero: exact
  bool automatic = false; ///< only while many flows share links, and longer where flows are long
  bool is_exact() const { return time <= Seconds(); }
  /** Returns whether SimGrid's network model can use this resolution. */
  bool is_wefts() const { return not automatic && not is_exact(); }
};

/** Returns the resolution as a fabric file names it. */
std::string to_text(const TimeResolution& resolution);

/** Largest packet payload of InfiniBand, the unit in which resolutions are given. */
inline constexpr Bytes RESOLVED_PACKET(4096);
/** Length below which messages of a crowd queue instead of sharing links (LinkQueues). Its transmission time on a link
 * is also the shortest automatic resolution: for longer messages, errors of that size are small. */
inline constexpr Bytes SHORT_MESSAGE(512);

struct NetworkTable {
  std::string resolution = "automatic";
  std::string coarse     = "refused";
};
const std::vector<Option<NetworkTable>>& network_options();

/** Reads the resolution in the [network] table of a fabric file, whose links have a latency of at least @p latency and
 * a bandwidth of at most @p bandwidth. Throws UserError. */
TimeResolution read_network(const OptionTable& file, Seconds latency, BytesPerSecond bandwidth);

} // namespace weft
