// SPDX-License-Identifier: LGPL-2.1-only
#include "protocol/rank_requests.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

PaidWait wait_for_all(const RankRequests& requests, double now)
{
  return requests.wait_for_all(now, [](double overheads) { return overheads; });
}

TEST(PaidWait, OverheadsFollowEachOther)
{
  PaidWait wait(2, 1.5);
  wait.pay(1, 2);
  EXPECT_DOUBLE_EQ(wait.busy_until(), 3.5); // after the first overheads
  EXPECT_FALSE(wait.count_end());
  wait.pay(5, 2);
  EXPECT_DOUBLE_EQ(wait.busy_until(), 7);
  EXPECT_TRUE(wait.count_end());
  EXPECT_TRUE(wait.all_ended());
}

TEST(RankRequests, AnOverheadIsPaidOnce)
{
  RankRequests requests;
  requests.add(false);
  requests.add(false);
  EXPECT_FALSE(requests.has_ended(1));
  requests.end(1, 3);
  EXPECT_TRUE(requests.has_ended(1));
  EXPECT_DOUBLE_EQ(requests.reap(1), 3);
  EXPECT_DOUBLE_EQ(requests.reap(1), 0);
  requests.end(0, 4);
  const PaidWait wait = wait_for_all(requests, 10);
  EXPECT_TRUE(wait.all_ended());
  EXPECT_DOUBLE_EQ(wait.busy_until(), 14);
  EXPECT_DOUBLE_EQ(requests.reap(0), 4);
  EXPECT_TRUE(requests.forgot(0) && requests.forgot(1) && requests.has_ended(1));
}

/** Requests, checked against the definition. */
class Checked {
  struct Request {
    bool ended;
    double overhead;
    bool reaped;
  };
  RankRequests requests_;
  std::vector<Request> all_;

  Request& request(int number) { return all_[static_cast<std::size_t>(number)]; }

public:
  int count() const { return static_cast<int>(all_.size()); }
  void add(bool ended)
  {
    all_.push_back({ended, 0, false});
    requests_.add(ended);
  }
  void end(int number, double overhead)
  {
    if (request(number).ended)
      return;
    request(number) = {true, overhead, false};
    requests_.end(number, overhead);
  }
  void reap(int number)
  {
    Request& its = request(number);
    if (not its.ended)
      return;
    if (requests_.forgot(number)) {
      EXPECT_TRUE(its.reaped);
      return;
    }
    EXPECT_DOUBLE_EQ(requests_.reap(number), its.reaped ? 0 : its.overhead);
    its.reaped = true;
  }
  void wait_for_all()
  {
    PaidWait wait = weft::wait_for_all(requests_, 100);
    double busy   = 100;
    int missing   = 0;
    for (const Request& its : all_) {
      busy += its.reaped ? 0 : its.overhead;
      missing += its.ended ? 0 : 1;
    }
    EXPECT_DOUBLE_EQ(wait.busy_until(), busy);
    EXPECT_EQ(wait.all_ended(), missing == 0);
    for (int left = missing; left > 0; --left)
      EXPECT_EQ(wait.count_end(), left == 1);
    if (missing > 0)
      return;
    requests_.reap_all();
    for (Request& its : all_)
      its.reaped = true;
  }
  void compare(int number) { EXPECT_EQ(requests_.has_ended(number), request(number).ended); }
};

TEST(RankRequests, RandomUsesEndAsByDefinition)
{
  std::mt19937 random(1);
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 200; ++round) {
    Checked requests;
    requests.add(true);
    for (int step = 0; step < 1000; ++step) {
      const int one = below(requests.count());
      switch (below(8)) {
        case 0:
          if (round % 2 == 0 || below(50) == 0) // rarely in odd rounds, so that many are kept
            requests.wait_for_all();
          break;
        case 1:
        case 2:
          requests.add(below(2) == 0);
          break;
        case 3:
        case 4:
          requests.end(one, below(8));
          break;
        default:
          requests.reap(below(1 + one)); // mostly early ones
      }
      requests.compare(one);
    }
  }
}

} // namespace
} // namespace weft
