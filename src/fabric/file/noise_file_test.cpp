// SPDX-License-Identifier: LGPL-2.1-only
/* Tests of the [noise] table of fabric files. */
#include "fabric/analysis/description.hpp"
#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

const std::string HOST = "[[noise.host]]\ninterval = '1ms'\nintervals = 'fixed'\n"
                         "detour = '25us'\ndistribution = 'fixed'\n";
const std::string LINK = "[[noise.link]]\njitter = '1us'\ndistribution = 'exponential'\n";

NoiseModel noise_of(const std::string& lines)
{
  return fabric_of(FABRIC + lines).noise().value();
}

std::string message(const std::string& lines)
{
  return fabric_message(FABRIC + lines);
}

TEST(Noise, IsOptional)
{
  EXPECT_FALSE(fabric_of(FABRIC).noise());
}

TEST(Noise, IsReadFromATable)
{
  const NoiseModel noise = noise_of("[noise]\nseed = 7\n" + HOST +
                                    "phases = 'synchronized'\nmatch = 'host-?'\n"
                                    "[[noise.link]]\nmatch = 'host-1'\njitter = '1us'\ndistribution = 'pareto'\n"
                                    "shape = 1.5\n");
  EXPECT_EQ(noise.seed, 7);
  ASSERT_EQ(noise.hosts.size(), 1);
  EXPECT_EQ(noise.hosts[0].interval, Seconds(1e-3));
  EXPECT_EQ(noise.hosts[0].intervals, Intervals::fixed);
  EXPECT_EQ(noise.hosts[0].phases, Phases::synchronized);
  EXPECT_DOUBLE_EQ(noise.hosts[0].detour.value(), 25e-6);
  EXPECT_EQ(noise.hosts[0].hosts, std::vector<bool>(4, true));
  ASSERT_EQ(noise.links.size(), 1);
  EXPECT_EQ(noise.links[0].shape, 1.5);
  EXPECT_EQ(noise.links[0].links, (std::vector<bool>{false, false, true, true, false, false, false, false}));
  EXPECT_EQ(noise_of(LINK).seed, 1);
}

TEST(Noise, IsDescribed)
{
  const std::string text = describe(fabric_of(FABRIC + HOST + LINK + "match = 'host-1'\n"));
  EXPECT_NE(text.find("  noise: detours of 25us (fixed) each 1ms (fixed)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  noise: jitter of 1us (exponential) on each link of host-1\n"), std::string::npos) << text;
}

TEST(Noise, RefusesWrongValues)
{
  EXPECT_EQ(
      message("[noise]\n"),
      "FILE: [noise] host: is missing, and so is link; a [noise] table needs a [[noise.host]] or a [[noise.link]]");
  EXPECT_EQ(message("[noise]\nseed = 1\n"), "FILE: [noise] seed: found 1, but no random numbers need it; add a "
                                            "[[noise.host]] or [[noise.link]], or remove the seed");
  EXPECT_EQ(message("[noise]\nseed = -1\n" + LINK), "FILE: [noise] seed: found -1; allowed: zero or more");
  EXPECT_EQ(message(LINK + "match = 'nowhere'\n"),
            "FILE: [noise.link] match: found \"nowhere\", which matches no cable; the first is "
            "\"host-0\", the last \"host-3\"");
  EXPECT_EQ(message(replaced(LINK, "exponential", "normal")),
            "FILE: [noise.link] distribution: found \"normal\"; allowed: fixed, exponential, pareto");
  EXPECT_EQ(message(LINK + "shape = 2\n"), "FILE: [noise.link] shape: found 2 with distribution "
                                           "\"exponential\"; allowed: only with \"pareto\"");
  const std::string pareto = replaced(LINK, "exponential", "pareto");
  EXPECT_EQ(message(pareto), "FILE: [noise.link] shape: is missing; allowed with distribution \"pareto\": a "
                             "number, more than 1");
  for (const std::string value : {"1", "0.5"})
    EXPECT_EQ(message(pareto + "shape = " + value + "\n"),
              "FILE: [noise.link] shape: found " + value +
                  "; allowed: more than 1, because a Pareto distribution has no mean otherwise");
  for (const std::string value : {"nan", "inf", "-2"})
    EXPECT_NE(message(pareto + "shape = " + value + "\n").find("shape: found"), std::string::npos);
  for (const std::string value : {"'-1us'", "'nanus'", "'infs'", "'0s'", "'1e400s'", "3"})
    EXPECT_NE(message(replaced(LINK, "'1us'", value)).find("jitter: found"), std::string::npos) << value;
}

TEST(Noise, LeavesCoresTimeToWork)
{
  EXPECT_EQ(message(replaced(HOST, "25us", "1ms")),
            "FILE: [noise.host] detour: found \"1ms\" each \"1ms\"; allowed: detours of a host that take less than its "
            "total time, but they take 100 % of it");
  const std::string half = replaced(HOST, "25us", "500us");
  EXPECT_NE(message(half + half).find("they take 100 % of it"), std::string::npos);
  // The load of detours is checked per host, not summed over hosts.
  EXPECT_EQ(noise_of(half + "match = 'host-0'\n" + half + "match = 'host-1'\n").hosts.size(), 2);
}

} // namespace
} // namespace weft
