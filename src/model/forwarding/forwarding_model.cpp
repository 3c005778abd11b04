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
      {"kind", R"(what finds a packet's output port: "tcam", or "cache" at each input port before it)", &M::kind,
       Need::required, Allowed::one_of({"tcam", "cache"})},
      {"tcam_latency", "of a search in the TCAM: of every packet, or of those that the cache does not know",
       &M::tcam_latency, Need::required, Allowed::non_negative},
      {"hit_latency", "cache: of a look into it, which every packet takes", &M::hit_latency,
       Need::otherwise("required for a cache"), Allowed::non_negative},
      {"interval", "from one lookup of an input port to its next", &M::interval, Need::otherwise("unlimited")},
      {"tcam_interval", "cache: the same of one that searches the TCAM", &M::tcam_interval,
       Need::otherwise("as `interval`")},
      {"frame", "largest frame of messages from host to host, each of which is looked up", &M::frame, Need::optional},
      {"flush_at", "cache: instant of a run at which routes change, so that all entries are flushed", &M::flush_at,
       Need::otherwise("never")},
      {"entries", "cache: of an input port", &M::entries, Need::optional},
      {"ways", "cache: entries that a tag may be in", &M::ways, Need::optional},
      {"replacement", "cache: the entry that makes room", &M::replacement, Need::optional},
      {"hash", "cache: what makes tags of destinations", &M::hash, Need::optional,
       Allowed::one_of(forwarding_hashes())},
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
