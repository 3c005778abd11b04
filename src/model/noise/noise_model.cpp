// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/noise_model.hpp"

#include <algorithm>
#include <cmath>
#include <fnmatch.h>
#include <functional>
#include <optional>
#include <set>

namespace weft {
namespace {

/** Returns the key `match`, which [[noise.host]] and [[noise.link]] tables share. */
template <class M> Option<M> match_option(const char* names)
{
  return {"match", std::string(names) + " that it applies to: a name, or a pattern with * and ?", &M::match,
          Need::otherwise("all")};
}

template <class M> Option<M> distribution_option(const char* of_what)
{
  return {"distribution", std::string("of ") + of_what + " around the mean", &M::distribution};
}

template <class M> Option<M> shape_option()
{
  return {"shape",
          R"(with "pareto", which must have it: the tail index, more than 1; the smaller, the heavier the tail)",
          &M::shape, Need::otherwise("none")};
}

/** Throws UserError unless `shape` is given for Pareto distributions, and only for them. */
template <class M> void check_shape(const OptionTable& table, const M& noise)
{
  if (noise.distribution != Distribution::pareto && table.has("shape"))
    table.fail("shape", "found " + table.found("shape") + " with distribution \"" +
                            std::string(to_text(noise.distribution)) + R"("; allowed: only with "pareto")");
  if (noise.distribution == Distribution::pareto && not table.has("shape"))
    table.fail("shape", R"(is missing; allowed with distribution "pareto": a number, more than 1)");
  if (noise.distribution == Distribution::pareto && not(noise.shape > 1))
    table.fail("shape", "found " + table.found("shape") +
                            "; allowed: more than 1, because a Pareto distribution has no mean otherwise");
}

/** Returns one flag per name: whether it matches the table's pattern. */
std::vector<bool> matching(const OptionTable& table, const std::string& pattern, const std::vector<std::string>& names,
                           const std::string& what)
{
  std::vector<bool> found;
  found.reserve(names.size());
  for (const std::string& name : names)
    found.push_back(fnmatch(pattern.c_str(), name.c_str(), 0) == 0);
  if (std::ranges::find(found, true) == found.end())
    table.fail("match", "found \"" + pattern + "\", which matches no " + what + "; the first is \"" + names.front() +
                            "\", the last \"" + names.back() + "\"");
  return found;
}

template <class M> M read_row(const OptionTable& table, const std::vector<Option<M>>& rows)
{
  M noise;
  require_options(table, rows, read_options(table, rows, {}, noise));
  check_shape(table, noise);
  return noise;
}

/** Throws UserError if detours leave a core no time for its program. */
void check_load(const OptionTable& table, const std::vector<HostNoise>& all)
{
  for (std::size_t host = 0; host < all.front().hosts.size(); ++host) {
    double load = 0;
    for (const HostNoise& one : all)
      load += one.hosts[host] ? one.detour / one.interval : 0;
    if (load >= 1)
      table.fail("detour", "found " + table.found("detour") + " each " + table.found("interval") +
                               "; allowed: detours of a host that take less than its total time, but they take " +
                               std::to_string(std::lround(load * 100)) + " % of it");
  }
}

std::string distribution_text(Distribution distribution, double shape)
{
  std::string text(to_text(distribution));
  if (distribution == Distribution::pareto)
    text += " with shape " + option_value::text(shape);
  return text;
}

} // namespace

const std::vector<Option<NoiseModel>>& noise_options()
{
  static const std::vector<Option<NoiseModel>> ROWS{
      {"seed", "seed of all random numbers; equal seeds give equal runs", &NoiseModel::seed, Need::optional,
       Allowed::non_negative},
  };
  return ROWS;
}

const std::vector<Option<HostNoise>>& host_noise_options()
{
  using M = HostNoise;
  static const std::vector<Option<M>> ROWS{
      match_option<M>("hosts"),
      {"interval", "mean time between the starts of two detours of a core", &M::interval},
      {"intervals", R"("fixed", as a timer's, or "exponential": at any time, independent of those before)",
       &M::intervals},
      {"phases", "start of detours: independent on each core, or simultaneous on all", &M::phases, Need::optional},
      {"detour", "mean duration of a detour", &M::detour},
      distribution_option<M>("distribution of the durations"),
      shape_option<M>(),
  };
  return ROWS;
}

const std::vector<Option<LinkNoise>>& link_noise_options()
{
  using M = LinkNoise;
  static const std::vector<Option<M>> ROWS{
      match_option<M>("cables"),
      {"jitter", "mean additional latency of a message on each link of its route", &M::jitter},
      distribution_option<M>("the jitter"),
      shape_option<M>(),
  };
  return ROWS;
}

NoiseModel read_noise(const OptionTable& table, const std::vector<std::string>& hosts,
                      const std::vector<std::string>& links)
{
  NoiseModel model;
  read_options(table, noise_options(), {"host", "link"}, model);
  for (const OptionTable& row : table.tables("host")) {
    model.hosts.push_back(read_row(row, host_noise_options()));
    model.hosts.back().hosts = matching(row, model.hosts.back().match, hosts, "host");
    check_load(row, model.hosts);
  }
  for (const OptionTable& row : table.tables("link")) {
    model.links.push_back(read_row(row, link_noise_options()));
    model.links.back().links = matching(row, model.links.back().match, links, "cable");
  }
  if (model.hosts.empty() && model.links.empty() && table.has("seed"))
    table.fail("seed",
               "found " + table.found("seed") +
                   ", but no random numbers need it; add a [[noise.host]] or [[noise.link]], or remove the seed");
  if (model.hosts.empty() && model.links.empty())
    table.fail("host", "is missing, and so is link; a [noise] table needs a [[noise.host]] or a [[noise.link]]");
  return model;
}

Seconds drawn(Distribution distribution, Seconds mean, double shape, double uniform)
{
  switch (distribution) {
    case Distribution::fixed:
      break;
    case Distribution::exponential:
      return mean * -std::log1p(-uniform);
    case Distribution::pareto:
      return mean * ((shape - 1) / shape * std::pow(1 - uniform, -1 / shape));
  }
  return mean;
}

std::string to_text(const HostNoise& noise)
{
  std::string text = "detours of " + to_text(noise.detour) + " (" + distribution_text(noise.distribution, noise.shape) +
                     ") each " + to_text(noise.interval) + " (" + std::string(to_text(noise.intervals));
  if (noise.phases == Phases::synchronized)
    text += ", synchronized";
  return text + ")" + (noise.match == "*" ? "" : " on " + noise.match);
}

std::string to_text(const LinkNoise& noise)
{
  return "jitter of " + to_text(noise.jitter) + " (" + distribution_text(noise.distribution, noise.shape) +
         ") on each link" + (noise.match == "*" ? "" : " of " + noise.match);
}

} // namespace weft
