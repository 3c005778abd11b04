// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/engine_memory.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

ProgressEngine engine_of(double memory, double context = 0)
{
  ProgressEngine engine;
  engine.memory  = Bytes(memory);
  engine.context = Bytes(context);
  return engine;
}

TEST(EngineMemory, NeedsABitmapAndAContextPerCommunicator)
{
  EngineMemory memory;
  const ProgressEngine engine = engine_of(200, 90);
  EXPECT_TRUE(memory.has_room(engine, 1, 80, 1)); // 90 + 10
  memory.take(1, 80, 1);
  EXPECT_TRUE(memory.has_room(engine, 2, 80, 1));
  EXPECT_FALSE(memory.has_room(engine, 2, 81, 1));
  memory.take(2, 80, 1);
  EXPECT_FALSE(memory.has_room(engine, 3, 1, 1));
  memory.release(1);
  EXPECT_TRUE(memory.has_room(engine, 3, 1, 1));
}

TEST(EngineMemory, GrowsWithTheLargestCallOfACommunicator)
{
  EngineMemory memory;
  const ProgressEngine engine = engine_of(2048);
  memory.take(1, 8, 1);
  EXPECT_TRUE(memory.has_room(engine, 1, 2048L * 8, 1));
  EXPECT_FALSE(memory.has_room(engine, 1, 19456L * 8, 1));
  memory.take(1, 2048L * 8, 1);
  memory.take(1, 8, 1); // a smaller call frees nothing
  EXPECT_FALSE(memory.has_room(engine, 2, 8, 1));
}

TEST(EngineMemory, NeedsMemoryPerRankOfTheHost)
{
  const EngineMemory memory;
  const ProgressEngine engine = engine_of(100);
  EXPECT_TRUE(memory.has_room(engine, 1, 200, 4)); // 4 x 25
  EXPECT_FALSE(memory.has_room(engine, 1, 208, 4));
}

} // namespace
} // namespace weft
