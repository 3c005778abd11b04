// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/fastest.hpp"

#include "collective/host/fallback.hpp"
#include "collective/host/prediction.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace weft {
namespace {

class FastestTest : public ::testing::Test {
protected:
  Fabric fabric_ = fabric_of(FABRIC);
  int asked_     = 0; // calls of the function that returns the costs
  FastestAlgorithm fastest_{fabric_, [this] {
                              ++asked_;
                              return costs_of({}, fabric_.host());
                            }};

  static HostCall call(std::string_view collective, Elements count, int ranks = 4, int per_host = 1)
  {
    HostCall made{collective, ranks, 0, count, Bytes(4)};
    made.host = [per_host](int rank) { return rank / per_host; };
    return made;
  }
  Seconds time(const HostCall& its, const Selection::Choice& choice, const Selection& library)
  {
    std::vector<int> hosts;
    for (int rank = 0; rank < its.ranks; ++rank)
      hosts.push_back(its.host(rank));
    return predicted_interval(fabric_, costs_of({}, fabric_.host()), hosts, library.resolved(its), choice, 1,
                              Seconds(std::numeric_limits<double>::infinity()));
  }
};

TEST_F(FastestTest, NothingIsFasterThanItsChoice)
{
  const Selection library = Selection::load(Selection::DEFAULT);
  for (const std::string_view name :
       {"allreduce", "bcast", "reduce", "allgather", "alltoall", "gather", "scan", "barrier"})
    for (const Elements count : {1, 1024, 100000})
      for (const int per_host : {1, 2}) {
        const HostCall its             = call(name, count, 4, per_host);
        const Selection::Choice choice = fastest_.choose(library.resolved(its), 1);
        const Seconds best             = time(its, choice, choice.library ? *choice.library : library);
        for (const Algorithm& one : host_algorithms())
          if (one.collective == name && one.source != Library::ucc && can_do(one, its)) {
            const Seconds other = time(its, library.executed({&one, {}}, library.resolved(its)), library);
            EXPECT_LE(best.value(), other.value() * (1 + 1e-9)) << name << ' ' << count << ' ' << one.name;
          }
        EXPECT_LE(best.value(), time(its, library.choose(library.resolved(its)), library).value() * (1 + 1e-9));
      }
  EXPECT_EQ(asked_, 1);
}

TEST_F(FastestTest, NonCommutativeOperationsGetOrderedAlgorithms)
{
  HostCall its    = call("allreduce", 100000);
  const auto fast = fastest_.choose(its, 1);
  its.commutative = false;
  const auto safe = fastest_.choose(its, 1);
  EXPECT_EQ(fast.algorithm->needs, Needs::commutative);
  EXPECT_NE(safe.algorithm->needs, Needs::commutative);
}

TEST_F(FastestTest, BestAppliesToAllCollectivesOrOne)
{
  HostFallback all = HostFallback::parse("best,bcast=chain");
  EXPECT_TRUE(all.takes_best("allreduce"));
  EXPECT_FALSE(all.takes_best("bcast"));
  all.predict_on(fabric_, [this] { return costs_of({}, fabric_.host()); });
  EXPECT_EQ(all.choose(call("bcast", 1000)).algorithm->name, "chain");
  EXPECT_EQ(all.choose(call("allreduce", 1)).algorithm->name, "recursive_doubling");
  const HostFallback one = HostFallback::parse("openmpi-4.1,bcast=best");
  EXPECT_TRUE(one.takes_best() && one.takes_best("bcast"));
  EXPECT_FALSE(one.takes_best("allreduce") ||
               HostFallback::parse("best,smpi:ompi,bcast=smpi:mpich").takes_best("bcast"));
}

} // namespace
} // namespace weft
