// SPDX-License-Identifier: LGPL-2.1-only
/* Interface for sending messages between hosts, independent of the transport. */
#pragma once

#include "base/units.hpp"
#include "network/agenda.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft {

/** Receiver of messages. */
class Receiving {
public:
  Receiving()                                 = default;
  Receiving(const Receiving&)                 = delete;
  Receiving& operator=(const Receiving&)      = delete;
  virtual ~Receiving()                        = default;
  virtual void arrived(std::uint64_t message) = 0;
  /** Called if a message has failed and will never arrive. @p why is shown to users. */
  virtual void failed(std::uint64_t /*message*/, const std::string& /*why*/) {}
  /** Called if a failed link has cut a flow of FlowNetwork::start(), with the fraction @p part of its volume left.
   * Returns whether the receiver abandons the flow; otherwise it is resumed, and arrives or fails. */
  virtual bool cut(std::uint64_t /*flow*/, double /*part*/, const std::string& /*why*/) { return false; }
  /** Returns the vertices between which a flow of FlowNetwork::start() carries data; none if it has several sources. */
  virtual std::optional<std::pair<int, int>> ends_of(std::uint64_t /*flow*/) const { return std::nullopt; }
};

/** Receiver of background traffic, for which no rank waits: its messages and events do not keep a run alive. */
class BackgroundReceiver : public Due, public Receiving {};

/** Value of `missed` for point-to-point messages, whose cache misses are not modelled. Within a host they use memory as
 * long messages do, between hosts not at all. */
constexpr double UNKNOWN_PART = -1;

/** Message between ranks, whose sockets may be known. */
struct SocketMessage {
  static constexpr int UNKNOWN = -1;

  int from; ///< vertices
  int to;
  int from_socket = UNKNOWN;
  int to_socket   = UNKNOWN;
  Bytes bytes;       ///< including all headers
  double missed = 0; ///< see Messages::send()
  /// Time at which its latency began, if that is earlier than now.
  std::optional<Seconds> since = {};
};

/** Work of a core on data that its socket's cores share. */
struct SocketWork {
  int host;
  int socket;
  double load;  ///< in bytes of the socket's memory bandwidth
  Seconds time; ///< of the core alone
};

class Messages {
public:
  Messages()                           = default;
  Messages(const Messages&)            = delete;
  Messages& operator=(const Messages&) = delete;
  virtual ~Messages()                  = default;
  /** Sends a message of @p bytes, including all headers, from vertex @p from to vertex @p to now. @p missed is the
   * fraction of it that misses the hosts' caches, or UNKNOWN_PART. @p receiver, which must outlive the message, is
   * notified of its arrival or failure. */
  virtual void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) = 0;
  /** Sends a message as send() does. Networks without sockets ignore the sockets, and SimGrid's networks ignore an
   * earlier start. */
  virtual void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number)
  {
    send(message.from, message.to, message.bytes, message.missed, receiver, number);
  }
  /** Simulates work of a core; @p receiver is notified of its end like an arrival. */
  virtual void work(const SocketWork& /*work*/, Receiving& /*receiver*/, std::uint64_t /*number*/)
  {
    throw std::logic_error("this network has no sockets");
  }
};

} // namespace weft
