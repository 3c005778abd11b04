// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_test.hpp"
#include "faults/recovery.hpp"
#include "network/fabric_routes.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr double RATE      = 1e9; // of a cable, in bytes per second
constexpr double LATENCY_S = 4e-6;
constexpr double SIZE      = 20000;
constexpr double LEARNS    = 8e-6; // delay after a fault
constexpr double TIMEOUT_S = 2e-6;

class Arrivals : public Receiving {
  const Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  explicit Arrivals(const Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
};

class At : public Due {
  Agenda& agenda_;
  std::vector<std::function<void()>> all_;

public:
  explicit At(Agenda& agenda) : agenda_(agenda) {}
  void operator()(double time, std::function<void()> action)
  {
    all_.push_back(std::move(action));
    agenda_.add(Seconds(time), *this, all_.size() - 1);
  }
  void due(std::uint64_t what) override { all_[what](); }
};

/** Two leaves of two hosts below two spines; packets are sprayed over both. */
class SprayPoolsTest : public ::testing::Test {
protected:
  Fabric fabric_ = fabric_of(
      replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 2]"),
               "forwarding_latency = \"0.25us\"", "forwarding_latency = \"0us\"") +
      "\n[routing]\npolicy = \"spray\"\n");
  FabricState actual_{fabric_};
  FabricState known_{fabric_};
  Agenda agenda_;
  FabricRoutes routes_{&known_};
  FlowNetwork network_{agenda_, routes_, FabricRoutes::capacities(fabric_),
                       fabric_.host_count() + fabric_.switch_count()};
  LinkLosses losses_{{Bytes(100), Bytes(), 1}};
  Recovery recovery_{agenda_, network_, actual_, known_, {Seconds(LEARNS), Seconds(), Seconds(TIMEOUT_S), 100}};
  Arrivals arrivals_{agenda_};
  At at_{agenda_};

  SprayPoolsTest() { network_.lose_packets(losses_); }

  void send_at(double time, VertexId from, VertexId to, std::uint64_t message)
  {
    at_(time, [=, this] { network_.send(from, to, Bytes(SIZE), 1, arrivals_, message); });
  }
  void spine_at(double time, bool up)
  {
    const int spine = fabric_.switch_count() - 1;
    at_(time, [=, this] { recovery_.apply({{FabricChange::What::device, spine, up}}); });
  }
  void run() { agenda_.run_until(Seconds(1)); }
};

TEST_F(SprayPoolsTest, HalfOfThePacketsAreLostUntilRoutingKnows)
{
  send_at(0, 0, 2, 1);
  spine_at(6e-6, false); // 2,000 bytes have arrived; then half of the packets, until 14 us: 4,000 bytes
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 14e-6 + 14000 / RATE, 1e-15);
}

TEST_F(SprayPoolsTest, TwoMessagesShareTheSpineThatIsLeft)
{
  spine_at(0, false);
  send_at(10e-6, 0, 2, 1);
  send_at(10e-6, 1, 3, 2);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 10e-6 + LATENCY_S + 2 * SIZE / RATE, 1e-15);
  EXPECT_NEAR(arrivals_.times.at(2), arrivals_.times.at(1), 1e-15);
}

TEST_F(SprayPoolsTest, TheSpineIsUsedAgainOnceRoutingKnowsOfItsRepair)
{
  spine_at(0, false);
  spine_at(12e-6, true); // known at 20 us, when each message has 14,000 bytes to go
  send_at(4e-6, 0, 2, 1);
  send_at(4e-6, 1, 3, 2);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 20e-6 + 14000 / RATE, 1e-15);
}

TEST_F(SprayPoolsTest, AMessageWaitsIfNoSpineIsLeft)
{
  send_at(0, 0, 2, 1);
  at_(14e-6, [this] { // 10,000 bytes have arrived
    for (int index = fabric_.switch_count() - 2; index < fabric_.switch_count(); ++index)
      recovery_.apply({{FabricChange::What::device, index, false}});
  });
  at_(15e-6, [this] {
    for (int index = fabric_.switch_count() - 2; index < fabric_.switch_count(); ++index)
      recovery_.apply({{FabricChange::What::device, index, true}});
  });
  run();
  // The message continues at 16 us, and 2,000 bytes arrive until 22 us, when routing learns of both faults and has no
  // link left. At 23 us it learns of the repairs.
  EXPECT_NEAR(arrivals_.times.at(1), 24e-6 + LATENCY_S + 8000 / RATE, 1e-15);
  EXPECT_EQ(recovery_.counts().cut, 2);
}

TEST_F(SprayPoolsTest, ALossyLinkLosesItsPartOfThePackets)
{
  constexpr double LOSS_OF_LINK = 0.5;
  LinkId link                   = 0;
  while (fabric_.link(link).from != fabric_.host_count() || fabric_.topology().is_host(fabric_.link(link).to))
    ++link; // from the first leaf to a spine
  at_(0, [=, this] { recovery_.apply({{FabricChange::What::loss, link, false, 1, LOSS_OF_LINK}}); });
  send_at(0, 0, 2, 1);
  at_(14e-6, [=, this] { recovery_.apply({{FabricChange::What::loss, link, true, 1, LOSS_OF_LINK}}); });
  run();
  // A quarter of the packets arrives: 7,500 useful bytes in 10 us.
  EXPECT_NEAR(arrivals_.times.at(1), 14e-6 + 12500 / RATE, 1e-15);
}

} // namespace
} // namespace weft
