// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_tables.hpp"

namespace weft {

const std::vector<Option<AboutFabric>>& about_options()
{
  static const std::vector<Option<AboutFabric>> ROWS{
      {"name", "short name, shown in records and plots", &AboutFabric::name},
      {"description", "one line", &AboutFabric::description, Need::otherwise("none")},
  };
  return ROWS;
}

const std::vector<Option<LinkModel>>& link_options()
{
  using M = LinkModel;
  static const std::vector<Option<M>> ROWS{
      {"bandwidth", "of each direction of a cable", &M::bandwidth},
      {"latency", "of each direction of a cable, with the host's or NIC's part where it ends at a host", &M::latency,
       Need::required, Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<SharedMedium>>& shared_options()
{
  using M = SharedMedium;
  static const std::vector<Option<M>> ROWS{
      {"links", R"(names of links: a cable's, with ".up" or ".down")", &M::links},
      {"bandwidth", "of all of them together", &M::bandwidth},
  };
  return ROWS;
}

const std::vector<Option<HostModel>>& host_options()
{
  using M = HostModel;
  static const std::vector<Option<M>> ROWS{
      {"speed", "of one core; computation that is timed is scaled to it", &M::speed},
      {"cores", "ranks that fit on a host", &M::cores},
      {"loopback_bandwidth", "of messages between ranks of one host", &M::loopback_bandwidth},
      {"loopback_latency", "of messages between ranks of one host", &M::loopback_latency, Need::required,
       Allowed::non_negative},
      {"memory_bandwidth", "at which all ranks of a host together copy messages between them", &M::memory_bandwidth,
       Need::otherwise("unlimited")},
      {"single_copy_threshold",
       "messages between ranks of one host of at least so many bytes are copied once, shorter ones twice",
       &M::single_copy_threshold, Need::otherwise("all are copied twice"), Allowed::non_negative},
      {"cache_size",
       "of all its caches: collectives on the hosts whose buffers on a host are no larger do not pass its memory",
       &M::cache_size, Need::optional, Allowed::non_negative},
      {"message_overhead", "what a core spends on sending a message within its host, and again on receiving one",
       &M::message_overhead, Need::optional, Allowed::non_negative},
      {"copy_rate",
       "at which a core copies a message for a rank of its host, and one from it, where both are cores' work: see "
       "single_copy_threshold",
       &M::copy_rate, Need::otherwise("unlimited")},
      {"piece_overhead",
       "what a core spends on each piece of a message that does not lie in one piece in memory, in collectives on the "
       "hosts",
       &M::piece_overhead, Need::optional, Allowed::non_negative},
      {"reduction_rate",
       "at which a core combines two vectors in a collective on the hosts, or copies one within a rank's memory",
       &M::reduction_rate, Need::otherwise("unlimited")},
      {"core_cache_size",
       "of a core's own caches, for the buffers that a rank gives and gets: up to so many bytes collectives on the "
       "hosts "
       "work at copy_rate and reduction_rate alone",
       &M::core_cache_size, Need::optional, Allowed::non_negative},
      {"shared_cache_rate",
       "at which a core that copies or combines moves what is in the host's caches but not in its own, in addition",
       &M::shared_cache_rate, Need::otherwise("unlimited")},
      {"core_memory_rate",
       "at which a core that copies or combines moves what is in no cache (see cache_size), in addition",
       &M::core_memory_rate, Need::otherwise("unlimited")},
      {"unmeasured",
       "keys of this table whose values nobody measured on such hosts: runs with several ranks per host name them",
       &M::unmeasured, Need::otherwise("none")},
  };
  return ROWS;
}

const std::vector<Option<PointToPointSegment>>& point_to_point_options()
{
  using M = PointToPointSegment;
  static const std::vector<Option<M>> ROWS{
      {"from", "smallest message that the factors hold for", &M::from, Need::required, Allowed::non_negative},
      {"latency_factor", "on the route's latency", &M::latency_factor},
      {"bandwidth_factor", "on the route's bandwidth", &M::bandwidth_factor},
  };
  return ROWS;
}

} // namespace weft
