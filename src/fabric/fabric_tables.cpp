// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_tables.hpp"

namespace weft {

const std::vector<Option<AboutFabric>>& about_options()
{
  static const std::vector<Option<AboutFabric>> ROWS{
      {"name", "short name for records and plots", &AboutFabric::name},
      {"description", "one line", &AboutFabric::description, Need::otherwise("none")},
  };
  return ROWS;
}

const std::vector<Option<LinkModel>>& link_options()
{
  using M = LinkModel;
  static const std::vector<Option<M>> ROWS{
      {"bandwidth", "bandwidth of each direction of a cable", &M::bandwidth},
      {"latency", "latency of each direction of a cable, including the host and NIC at its end", &M::latency,
       Need::required, Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<CablePort>>& cable_port_options()
{
  static const std::vector<Option<CablePort>> ROWS{
      {"port", "number of the cable's port at its upper switch, from 0", &CablePort::port,
       Need::otherwise("in the order of its cables"), Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<LinkTable>>& link_sharing_options()
{
  static const std::vector<Option<LinkTable>> ROWS{
      {"sharing", "who shares a full link: each flow, each source host, or each job by its weight", &LinkTable::sharing,
       Need::optional},
  };
  return ROWS;
}

const std::vector<Option<SharedMedium>>& shared_options()
{
  using M = SharedMedium;
  static const std::vector<Option<M>> ROWS{
      {"links", R"(names of links: a cable's, with ".up" or ".down")", &M::links},
      {"bandwidth", "total bandwidth of these links", &M::bandwidth},
  };
  return ROWS;
}

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

const std::vector<Option<PointToPointSegment>>& point_to_point_options()
{
  using M = PointToPointSegment;
  static const std::vector<Option<M>> ROWS{
      {"from", "smallest message that the factors apply to", &M::from, Need::required, Allowed::non_negative},
      {"latency_factor", "factor on the latency of the route", &M::latency_factor},
      {"bandwidth_factor", "factor on the bandwidth of the route", &M::bandwidth_factor},
  };
  return ROWS;
}

namespace {

TimeResolution automatic_resolution(BytesPerSecond bandwidth)
{
  return {SHORT_MESSAGE / bandwidth, true};
}

/** Returns the time resolution that a table requests. */
TimeResolution asked_resolution(const OptionTable& table, BytesPerSecond bandwidth)
{
  if (not table.has("resolution"))
    return automatic_resolution(bandwidth);
  if (table.found("resolution") == "0")
    return {};
  const std::string value =
      table.text("resolution", R"("automatic", "packet", 0, or a time in quotes, with its unit, as "300ns")").value();
  if (value == "automatic")
    return automatic_resolution(bandwidth);
  if (value == "packet")
    return {RESOLVED_PACKET / bandwidth, false};
  Seconds time;
  try {
    time = parse<Seconds>(value);
  } catch (const UnitError& error) {
    table.fail("resolution", std::string(error.what()) + R"(; or "automatic", or "packet")");
  }
  if (time < Seconds())
    table.fail("resolution", "found " + table.found("resolution") + "; allowed: zero or more");
  return {time, false};
}

} // namespace

std::string to_text(const TimeResolution& resolution)
{
  return resolution.automatic ? "automatic" : to_text(resolution.time);
}

const std::vector<Option<NetworkTable>>& network_options()
{
  using M = NetworkTable;
  static const std::vector<Option<M>> ROWS{
      {"resolution",
       R"(time within which starts, ends and rates of flows change in one event: a time such as "300ns"; "packet", that of 4 KiB on the fastest link; 0, none; or "automatic", none until more than 512 flows share links)",
       &M::resolution, Need::optional},
      {"coarse_resolution", R"(a resolution longer than the shortest latency of a link: "refused" or "allowed")",
       &M::coarse, Need::optional, Allowed::one_of({"refused", "allowed"})},
  };
  return ROWS;
}

TimeResolution read_network(const OptionTable& file, Seconds latency, BytesPerSecond bandwidth)
{
  if (not file.has("network"))
    return automatic_resolution(bandwidth);
  const OptionTable table = file.table("network");
  NetworkTable given;
  if (const auto coarse = table.text("coarse_resolution")) {
    check_name(table, "coarse_resolution", *coarse, std::vector<std::string>{"refused", "allowed"});
    given.coarse = *coarse;
  }
  const TimeResolution asked = asked_resolution(table, bandwidth);
  const bool by_packet       = table.has("resolution") && table.found("resolution") == "\"packet\"";
  if (asked.is_wefts() && not by_packet && asked.time > latency && given.coarse != "allowed")
    table.fail("resolution", "found " + table.found("resolution") +
                                 ", which is longer than the shortest latency of a link, " + to_text(latency) +
                                 ": each message may end up to " + to_text(asked.time) +
                                 " late; allowed: at most that latency; or add coarse_resolution = \"allowed\"");
  return asked;
}

} // namespace weft
