// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/protocol.hpp"

#include "collective/multicast/chains.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Random = std::mt19937;

int draw(Random& random, int least, int most)
{
  return std::uniform_int_distribution(least, most)(random);
}

/** Ranks with real memory, and a network with random delays that reorders everything except the signals between two
 *  ranks, which use a reliable connection. */
class Network : public MulticastActions {
  struct Connection {
    int from;
    int to;
    std::deque<MulticastSignal> signals;
  };
  Random& random_;
  double drop_;
  std::vector<std::vector<std::vector<int>>> memory_; // by rank, block, chunk
  std::vector<std::optional<MulticastPhase>> phases_; // by rank; none before it has entered
  std::vector<std::function<void()>> events_;
  std::deque<Connection> connections_;
  std::vector<std::vector<int>> on_their_way_; // chunks, by rank and block
  std::unique_ptr<MulticastProtocol> protocol_;
  std::int64_t stored_ = 0;

  static int content(int block, std::int64_t chunk) { return block * 1000 + static_cast<int>(chunk); }
  std::vector<int>& block_of(int rank, int block)
  {
    return memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(block)];
  }
  int& flying(int rank, int block)
  {
    return on_their_way_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(block)];
  }
  Connection& connection(int from, int to)
  {
    for (Connection& its : connections_)
      if (its.from == from && its.to == to)
        return its;
    return connections_.emplace_back(Connection{from, to, {}});
  }

public:
  Network(MulticastShape shape, double drop, Random& random)
      : random_(random), drop_(drop), phases_(static_cast<std::size_t>(shape.ranks))
  {
    for (int rank = 0; rank < shape.ranks; ++rank) {
      auto& its = memory_.emplace_back();
      on_their_way_.emplace_back(shape.blocks.size());
      for (std::size_t block = 0; block < shape.blocks.size(); ++block) {
        auto& chunks = its.emplace_back(static_cast<std::size_t>(shape.blocks[block].chunks), -1);
        if (shape.blocks[block].root == rank)
          for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
            chunks[chunk] = content(static_cast<int>(block), static_cast<std::int64_t>(chunk));
      }
    }
    protocol_ = std::make_unique<MulticastProtocol>(std::move(shape), *this);
    for (int rank = 0; rank < protocol_->shape().ranks; ++rank)
      events_.emplace_back([this, rank] { protocol_->enter(rank); });
  }

  /** Processes events until none is left. */
  void run()
  {
    for (int steps = 0; not events_.empty(); ++steps) {
      ASSERT_LT(steps, 1000000) << "it does not end";
      std::swap(events_[static_cast<std::size_t>(draw(random_, 0, static_cast<int>(events_.size()) - 1))],
                events_.back());
      const auto event = std::move(events_.back());
      events_.pop_back();
      event();
    }
  }

  void expect_all_right()
  {
    const MulticastShape& shape = protocol_->shape();
    EXPECT_TRUE(protocol_->all_over());
    std::int64_t wanted = 0;
    for (std::size_t block = 0; block < shape.blocks.size(); ++block) {
      wanted += shape.blocks[block].chunks * (shape.ranks - 1);
      for (int rank = 0; rank < shape.ranks; ++rank)
        for (std::int64_t chunk = 0; chunk < shape.blocks[block].chunks; ++chunk)
          ASSERT_EQ(block_of(rank, static_cast<int>(block))[static_cast<std::size_t>(chunk)],
                    content(static_cast<int>(block), chunk))
              << "rank " << rank << ", block " << block << ", chunk " << chunk;
    }
    EXPECT_EQ(stored_, wanted); // store() checks that none is stored twice
  }

  MulticastCounts counts() const
  {
    MulticastCounts all;
    for (int rank = 0; rank < protocol_->shape().ranks; ++rank)
      all.add(protocol_->counts(rank));
    return all;
  }

  void send(int from, int to, const MulticastSignal& signal) override
  {
    EXPECT_NE(from, to);
    Connection& its = connection(from, to);
    its.signals.push_back(signal);
    events_.emplace_back([this, &its] {
      const MulticastSignal first = its.signals.front();
      its.signals.pop_front();
      protocol_->signalled(its.to, first);
    });
  }

  void multicast(int block) override
  {
    const MulticastShape& shape = protocol_->shape();
    const MulticastBlock& its   = shape.blocks[static_cast<std::size_t>(block)];
    for (int rank = 0; rank < shape.ranks; ++rank) {
      EXPECT_TRUE(phases_[static_cast<std::size_t>(rank)]) << "it has not posted its receives";
      if (rank == its.root)
        continue;
      for (std::int64_t chunk = 0; chunk < its.chunks; ++chunk) {
        if (std::bernoulli_distribution(drop_)(random_))
          continue;
        ++flying(rank, block);
        events_.emplace_back([this, rank, block, chunk] {
          --flying(rank, block);
          protocol_->arrived(rank, block, {chunk, 1});
        });
      }
    }
    events_.emplace_back([this, block] { protocol_->injected(block); });
  }

  /** Occasionally returns false although chunks are in flight. */
  bool hears(int rank) const override
  {
    const auto& its = on_their_way_[static_cast<std::size_t>(rank)];
    return std::ranges::any_of(its, [](int chunks) { return chunks > 0; }) && draw(random_, 0, 3) > 0;
  }

  void set_timer(int rank, std::int64_t chunks) override
  {
    EXPECT_GT(chunks, 0);
    set_timer_after_silence(rank);
  }

  void set_timer_after_silence(int rank) override
  {
    events_.emplace_back([this, rank] {
      const auto phase = phases_[static_cast<std::size_t>(rank)];
      if (phase == MulticastPhase::multicast || phase == MulticastPhase::recovery)
        protocol_->expired(rank);
    });
  }

  void store(int rank, int block, ChunkRun run, int from) override
  {
    const bool read = from != protocol_->shape().blocks[static_cast<std::size_t>(block)].root;
    EXPECT_FALSE(read && phases_[static_cast<std::size_t>(from)] == MulticastPhase::over)
        << "rank " << from << " may have given its memory back";
    stored_ += run.count;
    for (std::int64_t chunk = run.first; chunk < run.first + run.count; ++chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      EXPECT_EQ(block_of(rank, block)[at], -1) << "stored twice";
      block_of(rank, block)[at] = block_of(from, block)[at];
    }
  }

  void fetch(int rank, int from, const std::vector<MulticastFetch>& what) override
  {
    EXPECT_EQ(from, (rank + protocol_->shape().ranks - 1) % protocol_->shape().ranks);
    events_.emplace_back([this, rank, what] { protocol_->fetched(rank, what); });
  }

  void enters(int rank, MulticastPhase phase) override { phases_[static_cast<std::size_t>(rank)] = phase; }
};

MulticastShape shape_of(int ranks, const std::vector<int>& roots, int chains, const std::function<int()>& chunks)
{
  MulticastShape shape{ranks, {}, {}};
  std::vector<int> blocks;
  for (const int root : roots) {
    blocks.push_back(static_cast<int>(blocks.size()));
    shape.blocks.push_back({root, chunks()});
  }
  shape.chains = cut_into_chains(blocks, chains);
  return shape;
}

std::vector<int> some_ranks(Random& random, int ranks, int count)
{
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  std::ranges::shuffle(all, random);
  all.resize(static_cast<std::size_t>(count));
  std::ranges::sort(all);
  return all;
}

TEST(MulticastProtocol, DeliversTheRightDataWithRandomDropsAndDelays)
{
  constexpr int CASES = 1500;
  for (int seed = 0; seed < CASES; ++seed) {
    Random random(static_cast<unsigned>(seed));
    const int ranks   = draw(random, 2, 14);
    const int roots   = draw(random, 0, 3) == 0 ? 1 : draw(random, 1, ranks); // a Bcast, or an Allgather
    const int chains  = draw(random, 1, roots);
    const int most    = draw(random, 1, 9);
    const double drop = std::vector{0.0, 0.01, 0.2, 0.7, 1.0}[static_cast<std::size_t>(draw(random, 0, 4))];
    Network network(shape_of(ranks, some_ranks(random, ranks, roots), chains, [&] { return draw(random, 1, most); }),
                    drop, random);
    network.run();
    network.expect_all_right();
    ASSERT_FALSE(HasFailure()) << "case " << seed;
  }
}

TEST(MulticastProtocol, IsARingAllgatherIfAllChunksAreDropped)
{
  Random random(1);
  constexpr int P = 6;
  Network network(shape_of(P, some_ranks(random, P, P), 2, [] { return 3; }), 1.0, random);
  network.run();
  network.expect_all_right();
  EXPECT_EQ(network.counts().fetched, P * (P - 1) * 3);
  EXPECT_EQ(network.counts().duplicates, 0);
  EXPECT_EQ(network.counts().timer_expiries, P);
}

} // namespace
} // namespace weft
