// SPDX-License-Identifier: LGPL-2.1-only
/* Message rate of NICs: each host's NIC sends and receives inter-host messages one at a time in FIFO order, at most
 * `rate` per second in each direction. The first message of an idle NIC is not delayed, since measured latencies
 * already include its time. This is the gap g of LogGP (A. Alexandrov et al., SPAA '95), enforced by the NIC instead of
 * each rank. Messages within a host, and from or to switches, do not pass a NIC.
 *
 * The queues are in front of a network, which is unaware of them; they exist only if the message rate is limited. */
#pragma once

#include "base/units.hpp"
#include "network/agenda.hpp"
#include "network/messages.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class NicQueues {
  template <class Base> class Events;
  struct Foreground;

  /** Message in a queue, or in the network. */
  struct Passing {
    Messages* onward;
    SocketMessage what;
    Receiving* receiver;
    std::uint64_t message;
    bool arrived = false;
  };
  /** Handler of events of rank messages, or of background traffic, which does not keep a run alive. */
  struct Handler {
    std::unique_ptr<Due> due;
    Receiving* receiving;
  };

  Agenda& agenda_;
  Seconds gap_;
  std::vector<Seconds> sends_;    // by host: time at which its NIC can send the next message
  std::vector<Seconds> receives_; // by host: time at which its NIC can receive the next message
  std::vector<Passing> passing_;
  std::vector<std::uint64_t> idle_; // free positions in passing_
  Handler foreground_;
  Handler background_;

  template <class Base> Handler handler();
  Handler& handler_of(const Passing& one);
  bool passes(Seconds& free, std::uint64_t number);
  void leave(std::uint64_t number);
  void arrive(std::uint64_t number);
  void deliver(std::uint64_t number);
  Passing release(std::uint64_t number);

public:
  /** @p hosts: number of hosts, which are the first vertices. The agenda must outlive the queues. */
  NicQueues(Agenda& agenda, Hertz rate, int hosts);
  NicQueues(const NicQueues&)            = delete;
  NicQueues& operator=(const NicQueues&) = delete;
  ~NicQueues();

  /** Sends a message over @p onward once the NICs are free. */
  void send(Messages& onward, const SocketMessage& what, Receiving& receiver, std::uint64_t message);
};

/** Messages that pass the NICs of their hosts. */
class QueuedMessages : public Messages {
  NicQueues& nics_;
  Messages& onward_;

public:
  QueuedMessages(NicQueues& nics, Messages& onward) : nics_(nics), onward_(onward) {}
  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override
  {
    nics_.send(onward_, {.from = from, .to = to, .bytes = bytes, .missed = missed}, receiver, message);
  }
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override
  {
    nics_.send(onward_, message, receiver, number);
  }
  void work(const SocketWork& work, Receiving& receiver, std::uint64_t number) override
  {
    onward_.work(work, receiver, number);
  }
};

} // namespace weft
