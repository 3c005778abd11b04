// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/detours.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace weft {
namespace {

NoiseModel noise(double interval, Intervals intervals, double detour, Distribution distribution, double shape = 0)
{
  NoiseModel model;
  HostNoise host;
  host.interval     = Seconds(interval);
  host.intervals    = intervals;
  host.detour       = Seconds(detour);
  host.distribution = distribution;
  host.shape        = shape;
  host.hosts        = {true};
  model.hosts.push_back(host);
  return model;
}

double end_of(Detours& core, double start, double work)
{
  return core.end_of(Seconds(start), Seconds(start), Seconds(work)).value();
}

/** Returns the start of a core's first detour; detours take 1 ms every 10 ms. */
double first_start(const NoiseModel& model, std::uint32_t core)
{
  // Work of zero length lasts until the end of the detour.
  double begun = 0;
  Detours detours(model, 0, core);
  for (double time = 0; begun == 0; time += 1e-4)
    if (const double end = end_of(detours, time, 0); end > time)
      begun = end - 1e-3;
  return begun;
}

TEST(Detours, SuspendAndDelayWork)
{
  const NoiseModel model = noise(10e-3, Intervals::fixed, 1e-3, Distribution::fixed);
  const double start     = first_start(model, 3);
  ASSERT_GT(start, 0);
  ASSERT_LT(start, 10e-3);
  const auto at = [&](double time, double work) {
    Detours core(model, 0, 3);
    return end_of(core, time, work) - time;
  };
  EXPECT_NEAR(at(0, start / 2), start / 2, 1e-12);           // ends before the detour
  EXPECT_NEAR(at(0, start), start, 1e-12);                   // ends just as the detour begins
  EXPECT_NEAR(at(start / 2, start), start + 1e-3, 1e-12);    // suspended
  EXPECT_NEAR(at(start + 0.25e-3, 0), 0.75e-3, 1e-12);       // begins during the detour
  EXPECT_NEAR(at(start + 0.25e-3, 2e-3), 2.75e-3, 1e-12);    // begins during the detour and continues after it
  EXPECT_NEAR(at(start + 1e-3, 9e-3), 9e-3, 1e-12);          // between two detours
  EXPECT_NEAR(at(start + 1e-3, 89e-3), 89e-3 + 9e-3, 1e-12); // 9 ms of work every 10 ms
}

TEST(Detours, DoNotDependOnTheOrderOfQueries)
{
  const NoiseModel model = noise(1e-4, Intervals::exponential, 3e-5, Distribution::exponential);
  Detours asked(model, 0, 1);
  for (int step = 0; step < 500; ++step)
    end_of(asked, step * 1e-3, 2e-4);
  Detours fresh(model, 0, 1);
  EXPECT_EQ(end_of(asked, 0.5, 0.1), end_of(fresh, 0.5, 0.1));
  // Later work may be queried before earlier work.
  Detours ahead(model, 0, 1);
  ahead.end_of(Seconds(0), Seconds(0.4), Seconds(0.1));
  Detours behind(model, 0, 1);
  EXPECT_EQ(end_of(ahead, 0.1, 0.1), end_of(behind, 0.1, 0.1));
}

TEST(Detours, DifferByCoreAndSeedUnlessTheyAreSynchronized)
{
  NoiseModel model    = noise(10e-3, Intervals::fixed, 1e-3, Distribution::fixed);
  const double before = first_start(model, 0);
  EXPECT_NE(first_start(model, 1), before);
  model.seed = 2;
  EXPECT_NE(first_start(model, 0), before);
  model.hosts[0].phases = Phases::synchronized;
  EXPECT_NEAR(first_start(model, 0), first_start(model, 1), 1e-12);
}

TEST(Detours, AffectOnlyMatchingHosts)
{
  NoiseModel model     = noise(1e-3, Intervals::fixed, 0.5e-3, Distribution::fixed);
  model.hosts[0].hosts = {true, false};
  Detours quiet(model, 1, 0);
  EXPECT_EQ(end_of(quiet, 0, 1), 1);
  Detours noisy(model, 0, 0);
  EXPECT_NEAR(end_of(noisy, 0, 1), 2, 1e-3);
}

TEST(Detours, OverlapAcrossTables)
{
  NoiseModel model = noise(1, Intervals::fixed, 0.2, Distribution::fixed);
  model.hosts.push_back(model.hosts[0]);
  model.hosts[0].phases = model.hosts[1].phases = Phases::synchronized;
  model.hosts[1].interval                       = Seconds(1e9); // a single detour, far away
  Detours core(model, 0, 0);
  EXPECT_NEAR(end_of(core, 0, 80), 100, 1);
  model.hosts[1] = model.hosts[0];
  Detours both(model, 0, 0); // independent starts
  const double end = end_of(both, 0, 60);
  EXPECT_GT(end, 60 / 0.8 - 1);
  EXPECT_LT(end, 60 / 0.6 + 1);
}

/** Returns the mean finish time of the slowest core over many phases of half an interval, each with one detour per
 * core. */
double mean_of_slowest(const NoiseModel& model, int cores, double work, int phases)
{
  std::vector<Detours> all;
  all.reserve(static_cast<std::size_t>(cores));
  for (int core = 0; core < cores; ++core)
    all.emplace_back(model, 0, static_cast<std::uint32_t>(core));
  const double interval = model.hosts[0].interval.value();
  const double first    = [&] { // a time between two detours
    Detours core(model, 0, 0);
    double time = 0;
    while (end_of(core, time, 0) == time)
      time += interval / 1e5;
    return time + interval / 2;
  }();
  double sum = 0;
  for (int phase = 0; phase < phases; ++phase) {
    const double start = first + phase * interval;
    double slowest     = 0;
    for (Detours& core : all)
      slowest = std::max(slowest, end_of(core, start, work) - start - work);
    sum += slowest;
  }
  return sum / phases;
}

// A barrier waits for the slowest rank: the expected maximum of n exponential times is the n-th harmonic number times
// the mean (Agarwal, Garg, Vishnoi), with variance sum of 1/k^2.
TEST(Detours, MakeABarrierWaitForTheHarmonicNumber)
{
  constexpr int PHASES  = 5000;
  NoiseModel model      = noise(1, Intervals::fixed, 1e-3, Distribution::exponential);
  model.hosts[0].phases = Phases::synchronized;
  for (const int cores : {1, 4, 64}) {
    double harmonic = 0;
    double variance = 0;
    for (int k = 1; k <= cores; ++k) {
      harmonic += 1.0 / k;
      variance += 1.0 / k / k;
    }
    EXPECT_NEAR(mean_of_slowest(model, cores, 0.8, PHASES), harmonic * 1e-3, 3 * std::sqrt(variance / PHASES) * 1e-3);
  }
}

TEST(Detours, TakeTheExpectedShareOfLongWork)
{
  // Overlapping detours count once: with Poisson starts at rate r and mean length d, the program gets the fraction
  // exp(-r d) of the time.
  for (const Distribution distribution : {Distribution::fixed, Distribution::exponential, Distribution::pareto}) {
    const NoiseModel model = noise(1e-3, Intervals::exponential, 0.2e-3, distribution, 3);
    Detours core(model, 0, 0);
    EXPECT_NEAR(100 / end_of(core, 0, 100), std::exp(-0.2), 0.002);
  }
}

} // namespace
} // namespace weft
