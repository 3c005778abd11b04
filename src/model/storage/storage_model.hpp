// SPDX-License-Identifier: LGPL-2.1-only
/* Storage of a fabric: the tables [disk], a disk at each host, and [storage], a parallel file system whose targets are
 * behind the network.
 *
 * A request reaches its target after the latency of the route, queues behind earlier requests (request_overhead each),
 * then waits for the latency of the target. Its bytes are a flow over the links and the target. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <string>
#include <vector>

namespace weft {

/** [disk] table. */
struct DiskModel {
  BytesPerSecond read_bandwidth;
  BytesPerSecond write_bandwidth;
  Seconds latency;
  Seconds request_overhead;
  std::string mount; ///< prefix of file names on the disks, needed if there is a [storage] table too
};
const std::vector<Option<DiskModel>>& disk_options();

/** [storage] table. Striping defaults to Lustre's: one stripe of 1 MiB (Lustre Software Release 2.x Operations Manual,
 * section 19.3, "Setting the File Layout/Striping Configuration (lfs setstripe)"). */
struct StorageModel {
  std::vector<std::string> hosts; ///< names or patterns
  int targets = 1;                ///< per host
  BytesPerSecond read_bandwidth;  ///< of each target
  BytesPerSecond write_bandwidth;
  Seconds latency;
  Seconds request_overhead;
  Bytes stripe_size{1024.0 * 1024};
  int stripe_count = 1;
  std::string metadata_host; ///< empty: the first of the hosts
  Seconds open_latency;
  Seconds close_latency;
  Seconds metadata_overhead;
};
const std::vector<Option<StorageModel>>& storage_options();

/** Parallel file system and the vertices of its servers in a fabric. */
struct Storage {
  StorageModel model;
  std::vector<int> host_of; ///< vertex of each target
  int metadata = 0;         ///< vertex of the metadata server

  int targets() const { return static_cast<int>(host_of.size()); }
};

/** Reads the [disk] table. */
DiskModel read_disk(const OptionTable& table);
/** Reads the [storage] table of a fabric with these hosts, at vertices 0, 1, …. */
Storage read_storage(const OptionTable& table, const std::vector<std::string>& hosts);

} // namespace weft
