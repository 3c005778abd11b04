// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/program.hpp"

#include "base/error.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace weft {
namespace {

std::string refusal(const std::function<void()>& what)
{
  try {
    what();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/** Returns a workload of two ranks with one program and one group. */
Workload pair_of_ranks(Program program)
{
  Workload all;
  all.programs.push_back(std::move(program));
  all.program_of = {0, 0};
  all.divisions.emplace_back("data", std::vector<std::vector<int>>{{0}}, 2);
  return all;
}

TEST(WorkloadProgram, AmountsAreNumbersFromZeroOn)
{
  Program program(true);
  EXPECT_EQ(refusal([&] { program.add_computation(0, -1, {}, "norm"); }),
            "operation 0 \"norm\": found -1.000000 seconds; allowed: 0 or more");
  EXPECT_EQ(refusal([&] { program.add_send(0, 1, std::numeric_limits<double>::quiet_NaN()); }),
            "operation 0: found nan bytes; allowed: 0 or more");
}

TEST(WorkloadProgram, AnOperationWaitsForExistingOnes)
{
  Program out_of_order(false);
  out_of_order.add_computation(0, 1, std::vector<WorkNumber>{7}, "late");
  EXPECT_EQ(refusal([&] { out_of_order.check(); }), "operation 0 \"late\" waits for operation 7, which is missing");
  Program in_order(true);
  in_order.add_computation(0, 1, std::vector<WorkNumber>{1});
  in_order.add_computation(1, 1);
  EXPECT_EQ(refusal([&] { in_order.check(); }), "operation 0 \"\" waits for operation 1, which is not before it");
}

TEST(WorkloadProgram, ARankIsInOneGroupOfADivision)
{
  const std::vector<std::vector<int>> twice{{0, 1}, {1}};
  EXPECT_EQ(refusal([&] { GroupDivision("data", twice, 2); }),
            "groups \"data\": rank 1 is in two groups, or twice in one");
  const std::vector<std::vector<int>> beyond{{0, 2}};
  EXPECT_EQ(refusal([&] { GroupDivision("data", beyond, 2); }), "groups \"data\": found rank 2; there are 2 ranks");
}

TEST(WorkloadProgram, PartnersExist)
{
  Program sends(true);
  sends.add_send(0, 1, 8, 0, {}, "activations");
  EXPECT_EQ(refusal([&] { check(pair_of_ranks(sends)); }),
            "rank 1, operation 0 \"activations\" (send): there is no rank 2; there are 2");
  Program sums(true);
  sums.add_collective(0, 0, NcclCollective::allreduce, 8);
  EXPECT_EQ(refusal([&] { check(pair_of_ranks(sums)); }),
            "rank 1, operation 0 (collective allreduce): the rank is in no group \"data\"");
  Program elsewhere(true);
  elsewhere.add_collective(0, 1, NcclCollective::allreduce, 8);
  EXPECT_EQ(refusal([&] { check(pair_of_ranks(elsewhere)); }),
            "rank 0, operation 0 (collective allreduce): found division 1; there are 1");
}

} // namespace
} // namespace weft
