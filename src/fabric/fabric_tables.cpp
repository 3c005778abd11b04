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

const std::vector<Option<SharedMedium>>& shared_options()
{
  using M = SharedMedium;
  static const std::vector<Option<M>> ROWS{
      {"links", R"(names of links: a cable's, with ".up" or ".down")", &M::links},
      {"bandwidth", "total bandwidth of these links", &M::bandwidth},
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
