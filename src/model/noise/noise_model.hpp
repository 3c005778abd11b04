// SPDX-License-Identifier: LGPL-2.1-only
/* Noise model: the [noise] table of a fabric file.
 *
 * Hosts: the operating system interrupts a core repeatedly, each time for a *detour* (T. Hoefler, T. Schneider, A.
 * Lumsdaine: Characterizing the influence of system noise on large-scale applications by simulation, SC '10). Detours
 * begin at fixed intervals, synchronized across cores or not, like timer interrupts and the noise that P. Beckman et
 * al. inject (Benchmarking the effects of operating system interference on extreme-scale parallel machines, Cluster
 * Computing 11(1), 2008); or at exponential intervals. Their lengths follow one of the distribution classes of S.
 * Agarwal, R. Garg, N. K. Vishnoi (The impact of noise on the scaling of collectives: a theoretical approach, HiPC
 * 2005): exponential, heavy-tailed (Pareto), or fixed.
 *
 * Links: each link adds jitter to the latency of a message (measured by D. De Sensi et al.: Noise in the clouds:
 * influence of network performance variability on application scalability, POMACS 6(3), 2022).
 *
 * One seed determines all random numbers. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/** Distribution of lengths of time. */
enum class Distribution : std::uint8_t { fixed, exponential, pareto };
template <> struct Names<Distribution> {
  static constexpr std::array ROWS{std::pair{Distribution::fixed, std::string_view("fixed")},
                                   std::pair{Distribution::exponential, std::string_view("exponential")},
                                   std::pair{Distribution::pareto, std::string_view("pareto")}};
};

/** Distribution of the intervals between detours. */
enum class Intervals : std::uint8_t { fixed, exponential };
template <> struct Names<Intervals> {
  static constexpr std::array ROWS{std::pair{Intervals::fixed, std::string_view("fixed")},
                                   std::pair{Intervals::exponential, std::string_view("exponential")}};
};

/** Phase of detours across cores. */
enum class Phases : std::uint8_t { independent, synchronized };
template <> struct Names<Phases> {
  static constexpr std::array ROWS{std::pair{Phases::independent, std::string_view("independent")},
                                   std::pair{Phases::synchronized, std::string_view("synchronized")}};
};

/** A [[noise.host]] table. */
struct HostNoise {
  std::string match = "*";
  Seconds interval; ///< mean time between the starts of two detours
  Intervals intervals = Intervals::exponential;
  Phases phases       = Phases::independent;
  Seconds detour; ///< mean length
  Distribution distribution = Distribution::fixed;
  double shape              = 0; ///< tail index of a Pareto distribution
  std::vector<bool> hosts{};     ///< by host: true if the table applies
};

/** A [[noise.link]] table. */
struct LinkNoise {
  std::string match = "*";
  Seconds jitter; ///< mean
  Distribution distribution = Distribution::fixed;
  double shape              = 0;
  std::vector<bool> links{}; ///< by link: true if the table applies
};

struct NoiseModel {
  int seed = 1;
  std::vector<HostNoise> hosts;
  std::vector<LinkNoise> links;
};

/** Return the keys of [noise], [[noise.host]] and [[noise.link]]. */
const std::vector<Option<NoiseModel>>& noise_options();
const std::vector<Option<HostNoise>>& host_noise_options();
const std::vector<Option<LinkNoise>>& link_noise_options();

/** Reads a [noise] table. @p hosts and @p links are names; a link is named after its cable. Throws UserError. */
NoiseModel read_noise(const OptionTable& table, const std::vector<std::string>& hosts,
                      const std::vector<std::string>& links);

/** Returns the quantile of a distribution at probability @p uniform in [0, 1). @p shape: see HostNoise. */
Seconds drawn(Distribution distribution, Seconds mean, double shape, double uniform);

/** Returns a readable description of a table: "a detour of 25us (fixed) each 1ms (exponential)". */
std::string to_text(const HostNoise& noise);
std::string to_text(const LinkNoise& noise);

} // namespace weft
