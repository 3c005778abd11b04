// SPDX-License-Identifier: LGPL-2.1-only
/* Equal messages, some of which are interrupted: `equal_messages PLATFORM MESSAGES WHAT`.
 *
 * MESSAGES actors on the first host simultaneously send 1 MB each to as many actors on the second host. After a third
 * of the transfer, WHAT happens to every third message: "cancel" cancels its communication, "kill" kills its sender,
 * and "nothing" does not interfere; at the same time the third host sends one more message. Prints the number of flows
 * and, for each message, the time and the result with which its receiver resumed.
 */
#include <cstdio>
#include <cstdlib>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

constexpr double BYTES = 1e6;

void receive(int number)
{
  std::string how = "arrived";
  try {
    sg4::Mailbox::by_name(std::to_string(number))->get<int>();
  } catch (const simgrid::Exception& exception) {
    how = "failed";
  }
  std::printf("%d %s %.12e\n", number, how.c_str(), sg4::Engine::get_clock());
}

} // namespace

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  if (argc != 4)
    return 64;
  engine.load_platform(argv[1]);
  const int messages                  = std::atoi(argv[2]);
  const std::string what              = argv[3];
  const std::vector<sg4::Host*> hosts = engine.get_all_hosts();
  std::vector<sg4::CommPtr> on_way(static_cast<std::size_t>(messages));
  std::vector<sg4::ActorPtr> senders;
  static int payload = 0;
  for (int number = 0; number < messages; ++number) {
    engine.add_actor("receiver", hosts[1], receive, number);
    senders.push_back(engine.add_actor("sender", hosts[0], [&on_way, number] {
      auto& mine = on_way[static_cast<std::size_t>(number)];
      mine       = sg4::Mailbox::by_name(std::to_string(number))->put_async(&payload, static_cast<uint64_t>(BYTES));
      try {
        mine->wait();
      } catch (const simgrid::Exception& exception) {
        std::printf("%d sender %.12e\n", number, sg4::Engine::get_clock());
      }
    }));
  }
  engine.add_actor("receiver", hosts[1], receive, messages);
  engine.add_actor("other", hosts[2], [&] {
    sg4::this_actor::sleep_for(BYTES * messages / 12.5e9 / 3); // at 100 Gb/s
    // A NetworkModel is a Model, at the same address (SimGrid's src/kernel/resource/NetworkModel.hpp).
    auto* const model = hosts[0]->get_netpoint()->get_englobing_zone()->get_network_model().get();
    const auto flows  = reinterpret_cast<simgrid::kernel::resource::Model*>(model)->get_started_action_set()->size();
    std::printf("all flows %zu\n", flows);
    for (std::size_t number = 0; number < senders.size(); number += 3)
      if (what == "cancel")
        on_way[number]->cancel();
      else if (what == "kill")
        senders[number]->kill();
    sg4::Mailbox::by_name(std::to_string(messages))->put(&payload, static_cast<uint64_t>(BYTES));
  });
  engine.run();
  return 0;
}
