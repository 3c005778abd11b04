// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/selection.hpp"

#include "base/test_file.hpp"
#include "collective/host/engine/walk.hpp"

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
  // The size is one block of the Allgather, not all blocks.
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
  EXPECT_THROW(static_cast<void>(own.schedule({"barrier", 8}, 0)), UserError);
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
  call.blocking = false; // a rule for one form takes precedence over one for more ranks
  EXPECT_EQ(chosen(own, call), "binomial");
  call.collective = "reduce";
  EXPECT_EQ(chosen(own, call), "none");
  EXPECT_EQ(failure_of("[[rule]]\ncollective = \"bcast\"\ncalls = \"often\"\nalgorithm = [\"chain\"]"),
            "own.toml: [rule] calls: found \"often\"; allowed: any, blocking, nonblocking");
}

/** Expects a shipped selection to name an algorithm for every possible call. */
void expect_one_for_each_call(const Selection& selection)
{
  EXPECT_FALSE(selection.description().empty());
  std::set<std::string_view> collectives;
  for (const Algorithm& one : host_algorithms())
    collectives.insert(one.collective);
  for (const std::string_view collective : collectives)
    for (const int ranks : {2, 3, 8, 64, 1000})
      for (const Elements count : {0, 1, 1000, 10000000})
        for (const bool commutative : {true, false})
          for (const bool blocking : {true, false})
            for (const int per_host : {1, 3, 1000}) {
              HostCall call{collective, ranks, 0, count, Bytes(4), commutative, blocking};
              call.host = [per_host](int rank) { return rank / per_host; };
              EXPECT_NE(chosen(selection, selection.resolved(call)), "none") << collective;
            }
}

TEST(Selection, MpichTakesAnAlgorithmForEachCall)
{
  expect_one_for_each_call(Selection::load("mpich-4"));
}

TEST(Selection, OpenMpi40TakesAnAlgorithmForEachCall)
{
  expect_one_for_each_call(Selection::load("openmpi-4.0"));
}

// ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of that version.
TEST(Selection, TheThresholdsAreOpenMpi40s)
{
  const Selection openmpi = Selection::load("openmpi-4.0");
  const auto of           = [&](std::string_view collective, int ranks, Elements floats, bool commutative = true) {
    const HostCall call{collective, ranks, 0, floats, Bytes(4), commutative};
    return chosen(openmpi, call) + " " + std::to_string(static_cast<int>(openmpi.choose(call).tuning.segment.value()));
  };
  EXPECT_EQ(of("allreduce", 64, 2499), "recursive_doubling 0");
  EXPECT_EQ(of("allreduce", 64, 2500), "ring 0");
  EXPECT_EQ(of("allreduce", 64, 2500, false), "nonoverlapping 0");
  EXPECT_EQ(of("allreduce", 4096, 4096), "nonoverlapping 0"); // no more elements than ranks
  EXPECT_EQ(of("allreduce", 4, 1048576), "ring 0");
  EXPECT_EQ(of("allreduce", 4, 1048577), "segmented_ring 1048576");
  EXPECT_EQ(of("allgather", 64, 195), "recursive_doubling 0"); // 49,920 B in total
  EXPECT_EQ(of("allgather", 64, 196), "neighbor 0");
  EXPECT_EQ(of("allgather", 48, 1), "bruck 0");
  EXPECT_EQ(of("alltoall", 64, 49), "modified_bruck 0");
  EXPECT_EQ(of("alltoall", 12, 49), "linear 0");
  EXPECT_EQ(of("alltoall", 64, 750), "pairwise 0");
  EXPECT_EQ(of("barrier", 64, 0), "recursive_doubling 0");
  EXPECT_EQ(of("barrier", 12, 0), "bruck 0");
  EXPECT_EQ(of("bcast", 64, 512), "split_binary_tree 1024");
  // 64 < 2.3679e-6 B + 1.1787 for at least 26,530,386 B; 8 KiB are below 3.2118e-6 B + 8.7936 for at least 17,188,617
  // B.
  EXPECT_EQ(of("bcast", 64, 4'000'000), "pipeline 8192");
  EXPECT_EQ(of("bcast", 64, 17'190'000 / 4), "pipeline 16384");
  EXPECT_EQ(of("bcast", 64, 26'531'000 / 4), "pipeline 65536");
  EXPECT_EQ(of("bcast", 64, 10'000'000), "pipeline 131072");
  EXPECT_EQ(of("reduce", 64, 511), "binomial 0");
  EXPECT_EQ(of("reduce", 64, 512), "binomial 1024");
  EXPECT_EQ(of("reduce", 64, 107'000 / 4), "pipeline 1024");
  EXPECT_EQ(of("reduce", 64, 1'360'000 / 4), "binary 32768");
  EXPECT_EQ(of("reduce", 64, 20'000'000 / 4), "pipeline 65536");
  EXPECT_EQ(of("reduce", 64, 512, false), "in-order_binary 0");
  EXPECT_EQ(of("gather", 64, 2000), "linear_sync 1024");
  EXPECT_EQ(of("scatter", 64, 75), "basic_linear 0");
}

TEST(Selection, TheThresholdsAreMpichs)
{
  const Selection mpich = Selection::load("mpich-4");
  const auto taken      = [&](std::string_view collective, int ranks, Elements bytes, bool blocking = true) {
    return chosen(mpich, {collective, ranks, 0, bytes, Bytes(1), true, blocking});
  };
  EXPECT_EQ(taken("bcast", 8, 12288), "mpich_binomial");
  EXPECT_EQ(taken("bcast", 8, 12289), "scatter_recursive_doubling_allgather");
  EXPECT_EQ(taken("bcast", 8, 12288, false), "scatter_recursive_doubling_allgather");
  EXPECT_EQ(taken("bcast", 7, 12289), "mpich_binomial");
  EXPECT_EQ(taken("bcast", 9, 12289), "scatter_ring_allgather");
  EXPECT_EQ(taken("allreduce", 8, 8), "recursive_doubling");
  EXPECT_EQ(taken("allreduce", 8, 9), "reduce_scatter_allgather");
  EXPECT_EQ(taken("allreduce", 8, 2048, false), "recursive_doubling");
  EXPECT_EQ(taken("allreduce", 64, 63), "recursive_doubling");
  EXPECT_EQ(taken("alltoall", 8, 8), "scattered");
  EXPECT_EQ(taken("alltoall", 9, 8), "modified_bruck");
  EXPECT_EQ(taken("allgather", 5, 16383), "bruck"); // 81,915 bytes in total
  EXPECT_EQ(taken("allgather", 5, 16384), "ring");
}

TEST(Selection, RulesMayAskForPowersOfTwoElementsAndOperations)
{
  const Selection own = Selection::read(OptionTable::read_text(R"(
    [[rule]]
    collective = "allreduce"
    algorithm = ["basic_linear"]
    [[rule]]
    collective = "allreduce"
    operation = "predefined"
    enough_elements = "yes"
    algorithm = ["rabenseifner"]
    [[rule]]
    collective = "allreduce"
    power_of_two = "yes"
    operation = "own"
    algorithm = ["recursive_doubling"]
  )",
                                                               "own.toml"),
                                        "own");
  HostCall call{"allreduce", 13, 0, 8, Bytes(4)};
  EXPECT_EQ(chosen(own, call), "rabenseifner");
  call.count = 7; // 13 ranks halve like 8
  EXPECT_EQ(chosen(own, call), "basic_linear");
  call.predefined = false;
  EXPECT_EQ(chosen(own, call), "basic_linear");
  call.ranks = 16;
  EXPECT_EQ(chosen(own, call), "recursive_doubling");
  call.predefined  = true;
  call.commutative = false; // user-defined
  EXPECT_EQ(chosen(own, call), "recursive_doubling");
}

TEST(Selection, RulesMayMeasureAllRanksTogetherAndAskForEvenBlocks)
{
  const Selection own = Selection::read(OptionTable::read_text(R"(
    [[rule]]
    collective = "allgatherv"
    measure = "total"
    bytes = [0, 7000]
    algorithm = ["bruck", "ring"]
    [[rule]]
    collective = "reduce_scatter"
    algorithm = ["ring"]
    [[rule]]
    collective = "reduce_scatter"
    even_blocks = "no"
    algorithm = ["butterfly"]
  )",
                                                               "own.toml"),
                                        "own");
  HostCall call{"allgatherv", 7, 0, 0, Bytes(1)};
  call.block = [](int from, int) { return from == 3 ? 6999 : 0; };
  EXPECT_EQ(chosen(own, call), "bruck");
  call.block = [](int from, int) { return from == 3 ? 7000 : 0; };
  EXPECT_EQ(chosen(own, call), "ring");
  call.collective = "reduce_scatter";
  call.block      = [](int, int to) { return to == 3 ? 7000 : 0; };
  EXPECT_EQ(chosen(own, call), "butterfly");
  call.block = [](int, int) { return 5; };
  EXPECT_EQ(chosen(own, call), "ring");
}

TEST(Selection, RulesMayGoByHowRanksShareHosts)
{
  std::string text;
  for (const auto& [hosts, algorithm] :
       {std::pair{"own", "bruck"}, {"shared", "linear"}, {"one", "tree"}, {"in_order", "double_ring"}})
    text += std::string("[[rule]]\ncollective = \"barrier\"\nhosts = \"") + hosts + "\"\nalgorithm = [\"" + algorithm +
            "\"]\n";
  const Selection own = Selection::read(OptionTable::read_text(text, "own.toml"), "own");
  HostCall call{"barrier", 6};
  EXPECT_EQ(chosen(own, call), "bruck");
  call.host = [](int rank) { return rank; };
  EXPECT_EQ(chosen(own, call), "bruck");
  EXPECT_EQ(chosen(own, own.resolved(call)), "bruck");
  call.host = [](int rank) { return rank % 2; };
  EXPECT_EQ(chosen(own, own.resolved(call)), "linear");
  call.host = [](int rank) { return rank / 2; };
  EXPECT_EQ(chosen(own, own.resolved(call)), "double_ring"); // the last matching rule
  EXPECT_EQ(failure_of("[[rule]]\ncollective = \"barrier\"\nhosts = \"two\"\nalgorithm = [\"tree\"]"),
            "own.toml: [rule] hosts: found \"two\"; allowed: any, own, shared, several, even, one, in_order");
}

TEST(Selection, OpenMpi5TakesHanWhereRanksShareHosts)
{
  const Selection openmpi = Selection::load("openmpi-5.0");
  const auto of           = [&](std::string_view collective, int ranks_a_host, bool commutative = true) {
    HostCall call{collective, 10, 0, 100000, Bytes(4), commutative};
    call.host = [=](int rank) { return rank / ranks_a_host; };
    return chosen(openmpi, call);
  };
  EXPECT_EQ(of("allreduce", 5), "han");
  EXPECT_EQ(of("allreduce", 1), "rabenseifner");
  EXPECT_EQ(of("allreduce", 10), "rabenseifner"); // all ranks on one host
  EXPECT_EQ(of("allreduce", 5, false), "recursive_doubling");
  EXPECT_EQ(of("allreduce", 4), "han"); // the number per host differs, which only Allreduce and Barrier support
  EXPECT_EQ(of("bcast", 5), "han");
  EXPECT_NE(of("bcast", 4), "han");
  EXPECT_NE(of("alltoall", 5), "han");
  HostCall call{"bcast", 10, 0, 100000, Bytes(4)};
  call.host = [](int rank) { return rank % 2; };
  EXPECT_EQ(openmpi.choose(call).tuning.segment, Bytes(65536));
  call.blocking = false;
  EXPECT_EQ(chosen(openmpi, call), "nbc_binomial");
}

TEST(Selection, RulesForTunedHoldWithinHan)
{
  const TestFile file("rule-file-version-2\n1 7 1 2 1\n0 3 0 1024\n"); // Bcast by a pipeline
  const Selection selection = Selection::load("openmpi-5.0+" + file.path());
  HostCall call{"bcast", 8, 0, 1000, Bytes(4)};
  EXPECT_EQ(chosen(selection, call), "pipeline");
  EXPECT_EQ(chosen(Selection::load("openmpi-4.1+" + file.path()), call), "pipeline");
  call.host = [](int rank) { return rank / 4; };
  EXPECT_EQ(chosen(selection, call), "han");
  call = selection.resolved(call);
  // 4,000 bytes in segments of 1,024: once between the hosts and three times within each.
  const auto messages = walk(8, [&](int rank) { return selection.schedule(call, rank); }).messages.size();
  EXPECT_EQ(messages, 4U * 7U);
  call.host     = {};
  call.nodes    = {};
  call.blocking = false;
  EXPECT_EQ(chosen(selection, call), "nbc_binomial");
}

TEST(Selection, AnotherMayChooseTheRest)
{
  const Selection own = Selection::read(OptionTable::read_text(R"(
    [selection]
    base = "openmpi-4.1"
    [[rule]]
    collective = "bcast"
    ranks = 8
    algorithm = ["chain"]
  )",
                                                               "own.toml"),
                                        "own");
  EXPECT_EQ(chosen(own, {"bcast", 100, 0, 4}), "chain");
  EXPECT_EQ(chosen(own, {"bcast", 4, 0, 4}), chosen(Selection::load("openmpi-4.1"), {"bcast", 4, 0, 4}));
  EXPECT_EQ(chosen(own, {"barrier", 2}), "recursive_doubling");
  EXPECT_NE(
      failure_of("[selection]\nbase = \"openmpi-41\"").find("[selection] base: found \"openmpi-41\"; did you mean"),
      std::string::npos);
  EXPECT_NE(failure_of("[selection]\nbas = \"openmpi-4.1\"").find("bas"), std::string::npos);
}

TEST(Selection, WrongFilesAreToldWhere)
{
  const std::string rule = "[[rule]]\ncollective = \"bcast\"\n";
  EXPECT_EQ(
      failure_of("[[rule]]\ncollective = \"bcats\"\nalgorithm = [\"binomial\"]"),
      "own.toml: [rule] collective: found \"bcats\"; did you mean \"bcast\"? allowed: allgather, "
      "allgatherv, allreduce, alltoall, alltoallv, alltoallw, barrier, bcast, exscan, gather, gatherv, "
      "neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw, reduce, "
      "reduce_scatter, reduce_scatter_block, scan, scatter, scatterv");
  EXPECT_NE(failure_of(rule + "algorithm = [\"bubble\"]").find("algorithm: found \"bubble\""), std::string::npos);
  EXPECT_NE(failure_of(rule + "bytes = [0, 8]\nalgorithm = [\"chain\"]").find("allowed: 2, one per entry of bytes"),
            std::string::npos);
  EXPECT_NE(failure_of(rule + "bytes = [8]\nalgorithm = [\"chain\"]").find("allowed: 0, then increasing"),
            std::string::npos);
  EXPECT_NE(failure_of(rule + "algorithm = [\"chain\"]\nsegment = [1, 2]").find("segment: found 2 entries"),
            std::string::npos);
  EXPECT_NE(failure_of("[[rules]]\n").find("rules"), std::string::npos);
}

// If the library itself replaces the algorithm for such a call, the replacement is used.
TEST(Selection, TheLibraryDecidesCallsThatTheAlgorithmOfARuleCannotDo)
{
  const auto own = [](const std::string& collective, const std::string& algorithm, const std::string& base = "") {
    const std::string head = base.empty() ? "" : "[selection]\nbase = \"" + base + "\"\n";
    const std::string text =
        head + "[[rule]]\ncollective = \"" + collective + "\"\nalgorithm = [\"" + algorithm + "\"]\n";
    return Selection::read(OptionTable::read_text(text, "own.toml"), "own");
  };
  const auto chosen_name = [](const Selection& selection, const HostCall& call) {
    return selection.choose(call).name();
  };
  const HostCall ordered{"allreduce", 4, 0, 1000, Bytes(4), false};
  const auto of_library = [&](const std::string& library, const HostCall& call) {
    return chosen(Selection::load(library), call) + " (" + library + ")";
  };
  EXPECT_EQ(chosen_name(own("allreduce", "ring"), ordered), of_library("openmpi-5.0", ordered));
  EXPECT_EQ(chosen_name(own("allreduce", "ring", "mpich-4"), ordered), of_library("mpich-4", ordered));
  EXPECT_EQ(chosen_name(own("allreduce", "ring"), {"allreduce", 4, 0, 1000, Bytes(4)}), "ring");
  EXPECT_EQ(chosen_name(own("allreduce", "rabenseifner"), ordered), "basic_linear");
  EXPECT_EQ(chosen_name(own("barrier", "two_proc"), {"barrier", 2}), "two_proc");
  EXPECT_EQ(chosen_name(own("barrier", "two_proc"), {"barrier", 3}), of_library("openmpi-5.0", {"barrier", 3}));

  const TestFile rules("1 2 1 2 3\n0 4 0 0\n2000 6 0 0\n8000 5 0 1024\n");
  const Selection told = Selection::load("openmpi-4.1+" + rules.path());
  const HostCall small{"allreduce", 4, 0, 10, Bytes(4), false};
  const HostCall large{"allreduce", 4, 0, 2000, Bytes(4), false};
  EXPECT_EQ(chosen_name(told, {"allreduce", 4, 0, 10, Bytes(4)}), "ring");
  EXPECT_EQ(chosen_name(told, small), of_library("openmpi-4.1", small));
  EXPECT_EQ(chosen_name(told, ordered), "basic_linear");
  EXPECT_EQ(chosen_name(told, large), of_library("openmpi-4.1", large));
}

TEST(Selection, SaysWhichPartOfACallNoRuleHoldsFor)
{
  const Selection own = Selection::read(
      OptionTable::read_text("[[rule]]\ncollective = \"allreduce\"\nalgorithm = [\"nonoverlapping\"]\n", "own.toml"),
      "own");
  const HostCall call = own.resolved({"allreduce", 4, 0, 10, Bytes(4)});
  try {
    walk(4, [&](int rank) { return own.schedule(call, rank); });
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "own: no rule holds for reduce of 4 ranks, which another call contains; add one, or a base");
  }
}

TEST(Selection, ACallThatConsistsOfItselfIsRefused)
{
  const Selection own = Selection::read(
      OptionTable::read_text("[[rule]]\ncollective = \"allreduce\"\nalgorithm = [\"smp\"]\n", "own.toml"), "own");
  const HostCall call = own.resolved({"allreduce", 4, 0, 10, Bytes(4)}); // each rank has its own host
  try {
    walk(4, [&](int rank) { return own.schedule(call, rank); });
    FAIL();
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("own: the rules for allreduce"), std::string::npos) << message;
    EXPECT_NE(message.find("select an algorithm that contains the same call"), std::string::npos) << message;
  }
}

// Linear for up to 4 ranks, logarithmic for more (mca_coll_basic_crossover); collectives that contain others call
// basic's own.
TEST(Selection, OpenMpisBasicHasACrossover)
{
  const Selection basic = Selection::load("openmpi-basic");
  const auto chosen     = [&](std::string_view collective, int ranks, bool commutative = true) {
    HostCall call{collective, ranks, 0, 8, Bytes(4)};
    call.commutative = commutative;
    return std::string(basic.choose(call).algorithm->name);
  };
  for (const int ranks : {2, 4}) {
    EXPECT_EQ(chosen("barrier", ranks), "linear");
    EXPECT_EQ(chosen("bcast", ranks), "basic_linear");
    EXPECT_EQ(chosen("reduce", ranks), "linear");
  }
  for (const int ranks : {5, 16}) {
    EXPECT_EQ(chosen("barrier", ranks), "basic_log");
    EXPECT_EQ(chosen("bcast", ranks), "binomial");
    EXPECT_EQ(chosen("reduce", ranks), "basic_log");
    EXPECT_EQ(chosen("allreduce", ranks), "nonoverlapping");
    EXPECT_EQ(chosen("gather", ranks), "basic_linear");
  }
  EXPECT_EQ(chosen("reduce_scatter", 5), "recursive_halving");
  EXPECT_EQ(chosen("reduce_scatter", 5, false), "non-overlapping");
  const auto rounds = [&](int ranks) {
    HostCall call = basic.resolved({"allreduce", ranks, 0, 8, Bytes(4)});
    return walk(ranks, [&](int rank) { return basic.schedule(call, rank); }).rounds;
  };
  EXPECT_EQ(rounds(4), 1 + 3); // all send to the root, which sends to one rank at a time
  EXPECT_EQ(rounds(16), 4 + 4);
}

TEST(Selection, UccsChoiceDependsOnTheSize)
{
  const Selection ucc = Selection::load("ucc-1");
  const auto chosen   = [&](std::string_view collective, Elements bytes) {
    return std::string(ucc.choose({collective, 16, 0, bytes, Bytes(1)}).algorithm->name);
  };
  EXPECT_EQ(chosen("allreduce", 4095), "knomial");
  EXPECT_EQ(chosen("allreduce", 4096), "sra_knomial");
  EXPECT_EQ(chosen("reduce", 8), "knomial");
  EXPECT_EQ(chosen("barrier", 0), "knomial");
}

TEST(Selection, AnUnknownNameIsToldWithThoseThatThereAre)
{
  try {
    Selection::load("openmpi-41");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "found \"openmpi-41\"; did you mean \"openmpi-4.1\"? allowed: mpich-4, "
              "mpich-4-ofi, openmpi-4.0, openmpi-4.1, openmpi-5.0, openmpi-5.0-sm, openmpi-basic, ucc-1, or "
              "the path of a file (selections are named NAME.toml; any other file has Open MPI's dynamic rules)");
  }
}

} // namespace
} // namespace weft
