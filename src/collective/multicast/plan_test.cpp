// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/plan.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(MulticastGroup, IsMadeAgainAfterAChangeOfWhatIsUp)
{
  const Fabric fabric = fabric_of(FABRIC);
  FabricState state(fabric);
  const std::vector<VertexId> hosts{0, 1, 2};
  StateCache<GroupResult> cache;
  const auto group  = [&] { return cache.get(state, [&] { return make_multicast_group(state, hosts, 0); }); };
  const auto before = group();
  ASSERT_TRUE(before->group);
  EXPECT_EQ(group(), before);
  state.set_link(2, false); // the only cable of host 1
  EXPECT_EQ(group()->obstacle, NoTree::no_common_switch);
  EXPECT_FALSE(group()->group);
  state.set_link(2, true);
  ASSERT_TRUE(group()->group);
  EXPECT_EQ(group()->group->epoch, state.epoch());
  const std::vector<MulticastRoot> roots{{0, Bytes(4096)}};
  const MulticastPlan plan = plan_multicast(fabric, *group()->group, roots, [](LinkId) { return 0.0; });
  EXPECT_EQ(plan.epoch, state.epoch());
}

} // namespace
} // namespace weft
