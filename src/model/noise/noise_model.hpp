// SPDX-License-Identifier: LGPL-2.1-only
/* What makes runs vary: the [noise] table of a fabric file.
 *
 * Hosts: a core is taken away from its program again and again, for a *detour* each time, as by an operating system
 * (T. Hoefler, T. Schneider, A. Lumsdaine: Characterizing the influence of system noise on large-scale applications by
 * simulation, SC '10). Detours begin at fixed intervals, as those of timers do and as P. Beckman et al. inject them
 * (Benchmarking the effects of operating system interference on extreme-scale parallel machines, Cluster Computing
 * 11(1), 2008), on all cores at once or not; or at any time (exponential intervals). Their durations have one of the
 * classes of distributions of S. Agarwal, R. Garg, N. K. Vishnoi (The impact of noise on the scaling of collectives: a
 * theoretical approach, HiPC 2005): exponential, heavy-tailed (Pareto), or fixed.
 *
 * Links: a message is later by a jitter on each of its links (D. De Sensi et al.: Noise in the clouds: influence of
 * network performance variability on application scalability, POMACS 6(3), 2022, measure how much).
 *
 * All of it comes from one seed. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/** How durations are distributed around their mean. */
enum class Distribution : std::uint8_t { fixed, exponential, pareto };
template <> struct Names<Distribution> {
  static constexpr std::array ROWS{std::pair{Distribution::fixed, std::string_view("fixed")},
                                   std::pair{Distribution::exponential, std::string_view("exponential")},
                                   std::pair{Distribution::pareto, std::string_view("pareto")}};
};

/** How the starts of detours follow one another. */
enum class Intervals : std::uint8_t { fixed, exponential };
template <> struct Names<Intervals> {
  static constexpr std::array ROWS{std::pair{Intervals::fixed, std::string_view("fixed")},
                                   std::pair{Intervals::exponential, std::string_view("exponential")}};
};

/** Whether detours begin on all cores at the same time. */
enum class Phases : std::uint8_t { independent, synchronized };
template <> struct Names<Phases> {
  static constexpr std::array ROWS{std::pair{Phases::independent, std::string_view("independent")},
                                   std::pair{Phases::synchronized, std::string_view("synchronized")}};
};

/** A [[noise.host]] table. */
struct HostNoise {
  std::string match = "*";
  Seconds interval; ///< mean, from the start of one detour to that of the next
  Intervals intervals = Intervals::exponential;
  Phases phases       = Phases::independent;
  Seconds detour; ///< mean duration
  Distribution distribution = Distribution::fixed;
  double shape              = 0; ///< of a Pareto distribution: its tail index
  std::vector<bool> hosts{};     ///< by host: whether it has them
};

/** A [[noise.link]] table. */
struct LinkNoise {
  std::string match = "*";
  Seconds jitter; ///< mean
  Distribution distribution = Distribution::fixed;
  double shape              = 0;
  std::vector<bool> links{}; ///< by link: whether it has it
};

struct NoiseModel {
  int seed = 1;
  std::vector<HostNoise> hosts;
  std::vector<LinkNoise> links;
};

/** The keys of [noise], [[noise.host]] and [[noise.link]]. */
const std::vector<Option<NoiseModel>>& noise_options();
const std::vector<Option<HostNoise>>& host_noise_options();
const std::vector<Option<LinkNoise>>& link_noise_options();

/** Read a [noise] table. @p hosts and @p links have names; of a link that of its cable. Throws UserError. */
NoiseModel read_noise(const OptionTable& table, const std::vector<std::string>& hosts,
                      const std::vector<std::string>& links);

/** The value that a number from 0 to less than 1 stands for. @p shape: see HostNoise. */
Seconds drawn(Distribution distribution, Seconds mean, double shape, double uniform);

/** A table in words: "a detour of 25us (fixed) each 1ms (exponential)". */
std::string to_text(const HostNoise& noise);
std::string to_text(const LinkNoise& noise);

} // namespace weft
