#include "collective/offload_policy.hpp"

#include <set>

#include <gtest/gtest.h>

namespace weft {
namespace {

SwitchModel int_sums()
{
  SwitchModel model;
  model.capabilities = {{{"allreduce"}, {"MPI_INT"}, {"MPI_SUM"}}};
  return model;
}

Fallback decide(const CollectiveCall& call, int ranks = 4)
{
  return decide_call(int_sums(), call, ranks);
}

const CollectiveCall SUPPORTED{"allreduce", "MPI_INT", "MPI_SUM", Bytes(4)};

TEST(Policy, OffloadsWhatTheSwitchCanDo)
{
  EXPECT_EQ(decide(SUPPORTED), Fallback::none);
  EXPECT_EQ(decide(SUPPORTED, 2), Fallback::none);
}

TEST(Policy, OneRankHasNothingToReduce)
{
  EXPECT_EQ(decide(SUPPORTED, 1), Fallback::one_rank);
}

TEST(Policy, SaysWhatTheSwitchLacks)
{
  EXPECT_EQ(decide({"reduce", "MPI_INT", "MPI_SUM", Bytes(4)}), Fallback::collective);
  EXPECT_EQ(decide({"allreduce", "MPI_FLOAT", "MPI_SUM", Bytes(4)}), Fallback::datatype);
  EXPECT_EQ(decide({"allreduce", "MPI_INT", "MPI_MAX", Bytes(4)}), Fallback::operation);
  EXPECT_EQ(decide({"barrier", "", "", Bytes()}), Fallback::collective);
}

TEST(Policy, ReplayedTracesHaveNoOperation)
{
  EXPECT_EQ(decide({"allreduce", "MPI_INT", "", Bytes(4)}), Fallback::none);
  EXPECT_EQ(decide({"allreduce", "MPI_FLOAT", "", Bytes(4)}), Fallback::datatype);
}

TEST(Policy, NothingToSendIsNotSent)
{
  EXPECT_EQ(decide({"allreduce", "MPI_INT", "MPI_SUM", Bytes()}), Fallback::zero_count);
}

TEST(Policy, BarriersHaveNothingToSend)
{
  SwitchModel model;
  model.capabilities = {{{"barrier"}, {}, {}}};
  EXPECT_EQ(decide_call(model, {"barrier", "", "", Bytes()}, 4), Fallback::none);
}

TEST(Policy, PlainSwitchesDoNothing)
{
  EXPECT_EQ(decide_call(SwitchModel(), SUPPORTED, 4), Fallback::collective);
}

TEST(Policy, TheFirstReasonCounts)
{
  const CollectiveCall nothing_right{"reduce", "MPI_FLOAT", "MPI_MAX", Bytes()};
  EXPECT_EQ(decide(nothing_right, 1), Fallback::one_rank);
  EXPECT_EQ(decide(nothing_right), Fallback::collective);
  EXPECT_EQ(decide({"allreduce", "MPI_FLOAT", "MPI_MAX", Bytes()}), Fallback::datatype);
  EXPECT_EQ(decide({"allreduce", "MPI_INT", "MPI_MAX", Bytes()}), Fallback::operation);
}

TEST(Policy, EveryReasonHasItsText)
{
  const std::vector<std::pair<Fallback, std::string_view>> texts{
      {Fallback::none, ""},
      {Fallback::policy, "policy"},
      {Fallback::one_rank, "one rank"},
      {Fallback::zero_count, "zero count"},
      {Fallback::collective, "collective"},
      {Fallback::datatype, "datatype"},
      {Fallback::operation, "op"},
      {Fallback::one_host, "one host"},
      {Fallback::not_on_tree, "communicator not on the tree"},
      {Fallback::no_gain, "tree gains nothing"},
      {Fallback::no_free_channel, "no free channel"},
      {Fallback::host_faster, "host is faster"},
      {Fallback::no_nic_memory, "no NIC memory"},
      {Fallback::privatization, "privatization"},
  };
  for (const auto& [reason, text] : texts)
    EXPECT_EQ(to_text(reason), text);
  // The last reason of the enumeration is the last here.
  EXPECT_EQ(static_cast<std::size_t>(Fallback::privatization) + 1, texts.size());
}

} // namespace
} // namespace weft
