// SPDX-License-Identifier: LGPL-2.1-only
#include "model/host/host_model.hpp"

namespace weft {

const std::vector<Option<HostModel>>& host_options()
{
  using M = HostModel;
  static const std::vector<Option<M>> ROWS{
      {"speed", "speed of one core; timed computation is scaled to it", &M::speed},
      {"cores", "maximum number of ranks on a host", &M::cores},
      {"sockets",
       "sockets of a host, or NUMA domains, to which its ranks are dealt out; with it, sums and copies share "
       "memory_bandwidth too",
       &M::sockets, Need::otherwise("not modelled")},
      {"loopback_bandwidth", "bandwidth of messages between ranks of one host", &M::loopback_bandwidth},
      {"loopback_latency", "latency of messages between ranks of one host", &M::loopback_latency, Need::required,
       Allowed::non_negative},
      {"intersocket_latency", "additional latency of messages between sockets of one host", &M::intersocket_latency,
       Need::optional, Allowed::non_negative},
      {"intersocket_rate", "additional rate limit of messages between sockets of one host", &M::intersocket_rate,
       Need::otherwise("unlimited")},
      {"memory_bandwidth", "total rate at which the ranks of a socket copy data in memory (without sockets: of a host)",
       &M::memory_bandwidth, Need::otherwise("unlimited")},
      {"shared_cache_bandwidth",
       "total rate at which the ranks of a socket copy data in its shared caches; requires sockets and "
       "memory_bandwidth",
       &M::shared_cache_bandwidth, Need::otherwise("unlimited")},
      {"single_copy_threshold",
       "size from which messages between ranks of one host are copied once; shorter ones are copied twice",
       &M::single_copy_threshold, Need::otherwise("all are copied twice"), Allowed::non_negative},
      {"cache_size",
       "total size of a socket's caches (without sockets: the host's); host collectives whose buffers fit do not "
       "access memory",
       &M::cache_size, Need::optional, Allowed::non_negative},
      {"message_overhead", "core time for sending a message within the host, and again for receiving it",
       &M::message_overhead, Need::optional, Allowed::non_negative},
      {"copy_rate", "rate at which a core copies a message to or from a rank of its host; see single_copy_threshold",
       &M::copy_rate, Need::otherwise("unlimited")},
      {"piece_overhead", "core time per contiguous piece of a non-contiguous message, in host collectives",
       &M::piece_overhead, Need::optional, Allowed::non_negative},
      {"reduction_rate",
       "rate at which a core reduces two vectors in a host collective, or copies one within a rank's memory",
       &M::reduction_rate, Need::otherwise("unlimited")},
      {"core_cache_size",
       "size of a core's private caches; up to this total of a rank's buffers, host collectives run at copy_rate and "
       "reduction_rate",
       &M::core_cache_size, Need::optional, Allowed::non_negative},
      {"shared_cache_rate", "additional rate limit of copies and reductions for data in the host's shared caches",
       &M::shared_cache_rate, Need::otherwise("unlimited")},
      {"core_memory_rate", "additional rate limit of copies and reductions for data in memory (see cache_size)",
       &M::core_memory_rate, Need::otherwise("unlimited")},
      {"unmeasured",
       "keys of this table that were not measured on such hosts; runs with several ranks per host report them",
       &M::unmeasured, Need::otherwise("none")},
  };
  return ROWS;
}

namespace {

/** Removes keys from `unmeasured` that the fabric file itself sets. */
void check_unmeasured(const OptionTable& table, HostModel& model)
{
  if (not table.has("unmeasured")) {
    std::erase_if(model.unmeasured, [&](const std::string& key) { return table.has(key); });
    return;
  }
  std::vector<std::string> known;
  for (const Option<HostModel>& row : host_options())
    known.push_back(row.key);
  for (const std::string& key : model.unmeasured)
    check_name(table, "unmeasured", key, known);
}

/** Refuses socket keys whose prerequisites are missing, and checks `unmeasured`. */
void check_host(const OptionTable& table, HostModel& model)
{
  check_unmeasured(table, model);
  const bool limited = model.shared_cache_bandwidth.value() < std::numeric_limits<double>::infinity();
  if (limited && (not model.has_sockets() || not model.shares_memory()))
    table.fail("shared_cache_bandwidth", "it needs sockets and memory_bandwidth beside it");
  const bool crosses =
      model.intersocket_latency > Seconds() || model.intersocket_rate.value() < std::numeric_limits<double>::infinity();
  if (crosses && model.sockets < 2)
    table.fail(model.intersocket_latency > Seconds() ? "intersocket_latency" : "intersocket_rate",
               "messages between sockets need at least 2; write sockets = 2");
}

} // namespace

HostModel read_host(const OptionTable& table)
{
  return read_device<HostModel>(table, "host", host_options(), {}, check_host);
}

} // namespace weft
