// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/file_view.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(FileView, SeesBytesByDefault)
{
  const FileView view;
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(view.extents(7, 5), (Extents{{7, 5}}));
  EXPECT_EQ(view.position_of_end(12), 12);
}

TEST(FileView, SkipsWhatTheFiletypeLeavesOut)
{
  const FileView view(100, 4, {{4, 4}, {12, 8}}, 32); // three of every eight ints
  EXPECT_FALSE(view.is_contiguous());
  EXPECT_EQ(view.offset_of(0), 104);
  EXPECT_EQ(view.offset_of(4), 112);
  EXPECT_EQ(view.offset_of(12), 136);
  EXPECT_EQ(view.extents(0, 24), (Extents{{104, 4}, {112, 8}, {136, 4}, {144, 8}}));
  EXPECT_EQ(view.extents(8, 8), (Extents{{116, 4}, {136, 4}}));
  EXPECT_EQ(view.position_of_end(100), 0);
  EXPECT_EQ(view.position_of_end(108), 1);
  EXPECT_EQ(view.position_of_end(114), 2) << "the end is within the second element";
  EXPECT_EQ(view.position_of_end(140), 4);
}

TEST(FileView, JoinsPiecesThatFollowEachOther)
{
  const FileView view(0, 1, {{0, 4}, {12, 4}}, 16);
  EXPECT_EQ(view.extents(0, 12), (Extents{{0, 4}, {12, 8}}));
}

TEST(FileView, AcceptsAnEmptyFiletype)
{
  const FileView view(5, 1, {}, 0);
  EXPECT_EQ(view.offset_of(3), 5);
  EXPECT_TRUE(view.extents(0, 3).empty());
  EXPECT_EQ(view.position_of_end(10), 0);
}

} // namespace
} // namespace weft
