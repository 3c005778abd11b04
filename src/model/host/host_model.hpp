// SPDX-License-Identifier: LGPL-2.1-only
/* A host: its cores, caches and memories, and the messages between ranks on it. The [host] table of fabric files. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace weft {

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
/** Returns the keys of a [host] table and of presets/host/. */
const std::vector<Option<HostModel>>& host_options();
/** Reads a [host] table with its preset. Throws UserError. */
HostModel read_host(const OptionTable& table);

} // namespace weft
