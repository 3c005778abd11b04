// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/storage_model.hpp"

#include <algorithm>
#include <fnmatch.h>

namespace weft {
namespace {

constexpr const char* READ_BANDWIDTH  = "bandwidth of reads; reads and writes together get the larger of both";
constexpr const char* WRITE_BANDWIDTH = "bandwidth of writes";
constexpr const char* LATENCY = "time from the start of a request until its first byte moves; requests overlap in it";
constexpr const char* REQUEST_OVERHEAD = "time that each request occupies the device before its latency, one after "
                                         "the other";

/** Returns the vertices of the hosts that a pattern matches. */
std::vector<int> storage_hosts_matching(const OptionTable& table, const std::string& key, const std::string& pattern,
                                        const std::vector<std::string>& hosts)
{
  std::vector<int> found;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    if (fnmatch(pattern.c_str(), hosts[host].c_str(), 0) == 0)
      found.push_back(static_cast<int>(host));
  if (found.empty())
    table.fail(key, "found \"" + pattern + "\", which matches no host; the first is \"" + hosts.front() +
                        "\", the last \"" + hosts.back() + "\"");
  return found;
}

} // namespace

const std::vector<Option<DiskModel>>& disk_options()
{
  using M = DiskModel;
  static const std::vector<Option<M>> ROWS{
      {"read_bandwidth", READ_BANDWIDTH, &M::read_bandwidth},
      {"write_bandwidth", WRITE_BANDWIDTH, &M::write_bandwidth},
      {"latency", LATENCY, &M::latency, Need::optional, Allowed::non_negative},
      {"request_overhead", REQUEST_OVERHEAD, &M::request_overhead, Need::optional, Allowed::non_negative},
      {"mount", "directory of the files on the disks, such as \"/local\"; required if there is [storage]", &M::mount,
       Need::otherwise("all files")},
  };
  return ROWS;
}

const std::vector<Option<StorageModel>>& storage_options()
{
  using M = StorageModel;
  static const std::vector<Option<M>> ROWS{
      {"hosts", "hosts that serve as storage: names, or patterns with * and ?; `weft run` places no ranks on them",
       &M::hosts},
      {"targets", "targets of each host", &M::targets, Need::optional},
      {"read_bandwidth", std::string(READ_BANDWIDTH) + "; of each target", &M::read_bandwidth},
      {"write_bandwidth", std::string(WRITE_BANDWIDTH) + "; of each target", &M::write_bandwidth},
      {"latency", LATENCY, &M::latency, Need::optional, Allowed::non_negative},
      {"request_overhead", REQUEST_OVERHEAD, &M::request_overhead, Need::optional, Allowed::non_negative},
      {"stripe_size", "bytes of a file on one target before the next; hint `striping_unit`", &M::stripe_size,
       Need::otherwise("Lustre's, 1MiB")},
      {"stripe_count", "targets of a file; hint `striping_factor`", &M::stripe_count, Need::otherwise("Lustre's, 1")},
      {"metadata_host", "host that opens and closes files", &M::metadata_host, Need::otherwise("the first of hosts")},
      {"open_latency", "time that the metadata host takes to open a file", &M::open_latency, Need::optional,
       Allowed::non_negative},
      {"close_latency", "time that it takes to close one", &M::close_latency, Need::optional, Allowed::non_negative},
      {"metadata_overhead", "time that each such operation occupies the metadata host, one after the other",
       &M::metadata_overhead, Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

DiskModel read_disk(const OptionTable& table)
{
  DiskModel disk;
  require_options(table, disk_options(), read_options(table, disk_options(), {}, disk));
  if (not disk.mount.empty() && not disk.mount.starts_with('/'))
    table.fail("mount", "found " + table.found("mount") + "; allowed: an absolute path, such as \"/local\"");
  while (disk.mount.ends_with('/'))
    disk.mount.pop_back();
  return disk;
}

Storage read_storage(const OptionTable& table, const std::vector<std::string>& hosts)
{
  Storage storage;
  StorageModel& model = storage.model;
  require_options(table, storage_options(), read_options(table, storage_options(), {}, model));
  if (model.hosts.empty())
    table.fail("hosts", "found []; allowed: at least one name of a host");
  std::vector<int> servers;
  for (const std::string& pattern : model.hosts)
    for (const int host : storage_hosts_matching(table, "hosts", pattern, hosts)) {
      if (std::ranges::find(servers, host) != servers.end())
        table.fail("hosts", "found \"" + hosts[static_cast<std::size_t>(host)] + "\" twice; allowed: each host once");
      servers.push_back(host);
    }
  if (servers.size() == hosts.size())
    table.fail("hosts", "names all hosts of the fabric; allowed: to leave at least one for ranks");
  for (const int host : servers)
    storage.host_of.insert(storage.host_of.end(), static_cast<std::size_t>(model.targets), host);
  if (model.stripe_count > storage.targets())
    table.fail("stripe_count", "found " + std::to_string(model.stripe_count) + "; allowed: 1 to " +
                                   std::to_string(storage.targets()) + ", the number of targets");
  storage.metadata = model.metadata_host.empty()
                         ? servers.front()
                         : storage_hosts_matching(table, "metadata_host", model.metadata_host, hosts).front();
  return storage;
}

} // namespace weft
