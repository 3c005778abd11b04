// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/analysis/description.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Describe, NamesAllParts)
{
  const std::string text = describe(fabric_of(FABRIC));
  for (const std::string part :
       {"star: 4 hosts, 1 switch, 4 cables, at most 2 links", "host-0 to host-3: 2 cores of 1Gf", "8 ports",
        "2 channels of 4 slots of 100B (window 400B)", "offloads allreduce of MPI_INT with MPI_SUM"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

} // namespace
} // namespace weft
