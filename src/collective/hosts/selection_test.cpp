// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/selection.hpp"

#include "base/test_file.hpp"
#include "collective/hosts/walk.hpp"

#include <set>

#include <gtest/gtest.h>

namespace weft {
namespace {

std::string chosen(const Selection& selection, const HostCall& call)
{
  const Selection::Choice choice = selection.choose(call);
  return choice.algorithm ? std::string(choice.algorithm->name) : "none";
}

std::string failure_of(const std::string& text)
{
  try {
    Selection::read(OptionTable::read_text(text, "own.toml"), "own");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Selection, OpenMpiTakesAnAlgorithmForEachCall)
{
  const Selection openmpi = Selection::load("openmpi-4.1");
  EXPECT_FALSE(openmpi.description().empty());
  std::set<std::string_view> collectives;
  for (const Algorithm& one : host_algorithms())
    collectives.insert(one.collective);
  for (const std::string_view collective : collectives)
    for (const int ranks : {2, 3, 7, 64, 1000, 100000})
      for (const Elements count : {0, 1, 1000, 10000000})
        for (const bool commutative : {true, false})
          EXPECT_NE(chosen(openmpi, {collective, ranks, 0, count, Bytes(4), commutative}), "none") << collective;
}

TEST(Selection, TheThresholdsAreOpenMpis)
{
  const Selection openmpi = Selection::load("openmpi-4.1");
  const auto allreduce    = [&](int ranks, Elements bytes, bool commutative = true) {
    return chosen(openmpi, {"allreduce", ranks, 0, bytes, Bytes(1), commutative});
  };
  EXPECT_EQ(allreduce(64, 262143), "recursive_doubling");
  EXPECT_EQ(allreduce(64, 262144), "rabenseifner");
  EXPECT_EQ(allreduce(128, 1024), "nonoverlapping");
  EXPECT_EQ(allreduce(64, 262144, false), "recursive_doubling");
  // A block of Allgather, not all of them.
  EXPECT_EQ(chosen(openmpi, {"allgather", 64, 0, 128, Bytes(4)}), "neighbor");
  EXPECT_EQ(chosen(openmpi, {"allgather", 64, 0, 127, Bytes(4)}), "recursive_doubling");
}

TEST(Selection, CallsWithinACallAreChosenToo)
{
  const Selection openmpi = Selection::load("openmpi-4.1");
  const HostCall call     = openmpi.resolved({"allreduce", 128, 0, 64, Bytes(4)});
  const HostCall reduction{"reduce", 128, 0, 64, Bytes(4)};
  const HostCall result{"bcast", 128, 0, 64, Bytes(4)};
  const auto messages = [&](const HostCall& of) {
    return walk(128, [&](int rank) { return openmpi.schedule(of, rank); }).messages.size();
  };
  EXPECT_EQ(messages(call), messages(reduction) + messages(result));
}

TEST(Selection, OwnFilesMayCutMessages)
{
  const Selection own           = Selection::read(OptionTable::read_text(R"(
    [[rule]]
    collective = "bcast"
    bytes = [0, 1000]
    algorithm = ["binomial", "pipeline"]
    segment = [0, 256]
    [[rule]]
    collective = "bcast"
    ranks = 8
    algorithm = ["chain"]
    fan_out = [3]
  )",
                                                                         "own.toml"),
                                                  "own");
  const Selection::Choice small = own.choose({"bcast", 4, 0, 1000, Bytes(1)});
  EXPECT_EQ(small.algorithm->name, "pipeline");
  EXPECT_EQ(small.tuning.segment, Bytes(256));
  const Selection::Choice large = own.choose({"bcast", 8, 0, 1000, Bytes(1)});
  EXPECT_EQ(large.algorithm->name, "chain");
  EXPECT_EQ(large.tuning.fan_out, 3);
  EXPECT_EQ(chosen(own, {"barrier", 8}), "none");
  EXPECT_THROW(static_cast<void>(own.schedule({"barrier", 8}, 0)), std::logic_error);
}

TEST(Selection, RulesMayTellBlockingCallsFromOthers)
{
  const Selection own = Selection::read(OptionTable::read_text(R"(
    [[rule]]
    collective = "bcast"
    calls = "nonblocking"
    algorithm = ["binomial"]
    [[rule]]
    collective = "bcast"
    ranks = 8
    algorithm = ["chain"]
    [[rule]]
    collective = "reduce"
    calls = "blocking"
    algorithm = ["linear"]
  )",
                                                               "own.toml"),
                                        "own");
  HostCall call{"bcast", 16, 0, 1000, Bytes(1)};
  EXPECT_EQ(chosen(own, call), "chain");
  call.blocking = false; // the rule for one form goes before the one for more ranks
  EXPECT_EQ(chosen(own, call), "binomial");
  call.collective = "reduce";
  EXPECT_EQ(chosen(own, call), "none");
  EXPECT_EQ(failure_of("[[rule]]\ncollective = \"bcast\"\ncalls = \"often\"\nalgorithm = [\"chain\"]"),
            "own.toml: [rule] calls: found \"often\"; allowed: any, blocking, nonblocking");
}

TEST(Selection, WrongFilesAreToldWhere)
{
  const std::string rule = "[[rule]]\ncollective = \"bcast\"\n";
  EXPECT_EQ(failure_of("[[rule]]\ncollective = \"bcats\"\nalgorithm = [\"binomial\"]"),
            "own.toml: [rule] collective: found \"bcats\"; did you mean \"bcast\"? allowed: allgather, "
            "allgatherv, allreduce, alltoall, alltoallv, alltoallw, barrier, bcast, exscan, gather, gatherv, reduce, "
            "reduce_scatter, reduce_scatter_block, scan, scatter, scatterv");
  EXPECT_NE(failure_of(rule + "algorithm = [\"bubble\"]").find("algorithm: found \"bubble\""), std::string::npos);
  EXPECT_NE(failure_of(rule + "bytes = [0, 8]\nalgorithm = [\"chain\"]").find("allowed: 2, one per entry of bytes"),
            std::string::npos);
  EXPECT_NE(failure_of(rule + "bytes = [8]\nalgorithm = [\"chain\"]").find("allowed: 0, then larger"),
            std::string::npos);
  EXPECT_NE(failure_of(rule + "algorithm = [\"chain\"]\nsegment = [1, 2]").find("segment: found 2 entries"),
            std::string::npos);
  EXPECT_NE(failure_of("[[rules]]\n").find("rules"), std::string::npos);
}

TEST(Selection, AnUnknownNameIsToldWithThoseThatThereAre)
{
  try {
    Selection::load("openmpi-41");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), "found \"openmpi-41\"; did you mean \"openmpi-4.1\"? allowed: openmpi-4.1, or "
                                         "the path of a file (a selection is "
                                         "NAME.toml, Open MPI's own rules have any other name)");
  }
}

} // namespace
} // namespace weft
