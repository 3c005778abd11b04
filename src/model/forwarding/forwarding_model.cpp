// SPDX-License-Identifier: LGPL-2.1-only
#include "model/forwarding/forwarding_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weft {
namespace {

/** Refuses cache keys for a TCAM. */
void check_tcam(const OptionTable& table)
{
  for (const std::string key : {"hit_latency", "tcam_interval", "flush_at", "entries", "ways", "replacement", "hash"})
    if (table.has(key))
      table.fail(key, "found " + table.found(key) + R"(; allowed only with kind = "cache"; leave it out)");
}

void check_cache(const OptionTable& table, const ForwardingModel& model)
{
  if (model.entries % model.ways != 0)
    table.fail("ways", "found " + std::to_string(model.ways) + " ways of " + std::to_string(model.entries) +
                           " entries; allowed: ways that divide the entries");
}

} // namespace

CacheShape ForwardingModel::shape() const
{
  return {entries, ways, replacement};
}

const std::vector<Option<ForwardingModel>>& forwarding_options()
{
  using M = ForwardingModel;
  static const std::vector<Option<M>> ROWS{
      {"kind", R"(lookup of a packet's output port: "tcam", or "cache" at each input port before it)", &M::kind,
       Need::required, Allowed::one_of({"tcam", "cache"})},
      {"tcam_latency", "latency of a TCAM search: for every packet, or for cache misses", &M::tcam_latency,
       Need::required, Allowed::non_negative},
      {"hit_latency", "cache: latency of the cache lookup that every packet takes", &M::hit_latency,
       Need::otherwise("required for a cache"), Allowed::non_negative},
      {"interval", "minimum time between two lookups of an input port", &M::interval, Need::otherwise("unlimited")},
      {"tcam_interval", "cache: minimum time after a lookup that misses", &M::tcam_interval,
       Need::otherwise("as `interval`")},
      {"frame", "largest frame of point-to-point messages; every frame is looked up", &M::frame, Need::optional},
      {"flush_at", "cache: simulated time at which routes change and all entries are flushed", &M::flush_at,
       Need::otherwise("never")},
      {"entries", "cache: entries per input port", &M::entries, Need::optional},
      {"ways", "cache: associativity (entries per set)", &M::ways, Need::optional},
      {"replacement", "cache: replacement policy", &M::replacement, Need::optional},
      {"hash", "cache: hash from destinations to tags", &M::hash, Need::optional, Allowed::one_of(forwarding_hashes())},
  };
  return ROWS;
}

const std::vector<std::string>& forwarding_hashes()
{
  static const std::vector<std::string> NAMES{"auto", "crc", "cube", "fat_tree", "dragonfly"};
  return NAMES;
}

ForwardingModel read_forwarding(const OptionTable& table, const ForwardingModel& standard)
{
  const bool anew                   = table.has("kind") || standard.kind.empty();
  ForwardingModel model             = anew ? ForwardingModel() : standard;
  const std::set<std::string> given = read_options(table, forwarding_options(), {}, model);
  if (anew)
    require_options(table, forwarding_options(), given);
  if (not model.cached())
    check_tcam(table);
  else if (anew && not given.contains("hit_latency"))
    table.fail("hit_latency", R"(is missing; kind = "cache" needs it)");
  else
    check_cache(table, model);
  return model;
}

std::string to_text(const ForwardingModel& model)
{
  if (not model.cached())
    return "TCAM " + to_text(model.tcam_latency);
  return "cache of " + std::to_string(model.entries) + " entries, " + std::to_string(model.ways) +
         (model.ways == 1 ? " way, " : " ways, ") + std::string(to_text(model.replacement)) + ", hash " + model.hash +
         ", hit " + to_text(model.hit_latency) + ", miss " + to_text(model.hit_latency + model.tcam_latency);
}

Seconds lookup_interval(Seconds latency, int stages)
{
  if (stages < 1)
    throw std::logic_error("a lookup has a stage");
  return latency / stages;
}

BytesPerSecond line_rate(Seconds interval, Bytes frame)
{
  return frame / interval;
}

double packets_of(const ForwardingModel& model, Bytes message)
{
  return std::max(1.0, std::ceil(message / model.frame));
}

} // namespace weft
