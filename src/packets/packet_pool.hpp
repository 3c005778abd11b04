// SPDX-License-Identifier: LGPL-2.1-only
/* Pooled packets and their queues: lists through the packets, so that memory is in proportion to packets in flight. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft {

using PacketNumber                = std::uint32_t;
constexpr PacketNumber NO_PACKET  = std::numeric_limits<PacketNumber>::max();
constexpr std::int32_t NO_IN_PORT = -1;

enum class PacketKind : std::uint8_t {
  data,
  headers,         ///< of a data packet that a full queue has trimmed
  acknowledgement, ///< of all packets before its sequence number; of one packet if retransmission is selective
  rejection,       ///< the receiver expects this sequence number (NACK)
  notification,    ///< congestion was signalled to the receiver (CNP)
};

struct Packet {
  double size              = 0; ///< bytes on a link
  double tail              = 0; ///< seconds; at which all of it has arrived at the next vertex
  double sent              = 0; ///< of the data packet that it is, or acknowledges
  PacketNumber next        = NO_PACKET;
  std::uint32_t transfer   = 0;          ///< in a tree: its call
  std::uint32_t generation = 0;          ///< of the transfer
  std::uint32_t sequence   = 0;          ///< of a notification: its connection
  std::uint32_t route      = 0;          ///< position of its first link; the current link if it is balanced
  std::int32_t to          = 0;          ///< host, if it is balanced; edge of its call and direction, in a tree
  std::int32_t in_port     = NO_IN_PORT; ///< whose buffer it occupies
  std::uint16_t hop        = 0;
  std::uint16_t hops       = 0;
  PacketKind kind          = PacketKind::data;
  std::uint8_t lane        = 0;     ///< if it is balanced
  bool balanced            = false; ///< switches choose its path
  bool in_tree             = false; ///< switches at the ends of its route combine or copy it
  bool marked              = false;
  bool lost                = false; ///< through a fault of the link on which it is

  /** Returns whether it goes from the sender of its transfer to the receiver. */
  bool goes_forward() const { return kind <= PacketKind::headers; }
};

class PacketPool {
  std::vector<Packet> packets_;
  PacketNumber idle_ = NO_PACKET;
  std::size_t used_  = 0;
  std::size_t most_  = 0;

public:
  Packet& operator[](PacketNumber number) { return packets_[number]; }
  const Packet& operator[](PacketNumber number) const { return packets_[number]; }
  PacketNumber borrow()
  {
    ++used_;
    most_ = used_ > most_ ? used_ : most_;
    if (idle_ == NO_PACKET) {
      packets_.emplace_back();
      return static_cast<PacketNumber>(packets_.size() - 1);
    }
    const PacketNumber number = idle_;
    idle_                     = packets_[number].next;
    packets_[number]          = {};
    return number;
  }
  void release(PacketNumber number)
  {
    --used_;
    packets_[number].next = idle_;
    idle_                 = number;
  }
  /** Calls @p function with all packets, also those that are not in use. */
  template <class Function> void for_each(Function&& function)
  {
    for (Packet& packet : packets_)
      function(packet);
  }
  std::size_t used() const { return used_; }
  std::size_t most() const { return most_; }
};

/** First-in, first-out queue of packets. */
struct PacketQueue {
  PacketNumber head = NO_PACKET;
  PacketNumber tail = NO_PACKET;

  bool empty() const { return head == NO_PACKET; }
  void push(PacketPool& pool, PacketNumber number)
  {
    pool[number].next = NO_PACKET;
    if (empty())
      head = number;
    else
      pool[tail].next = number;
    tail = number;
  }
  PacketNumber pop(PacketPool& pool)
  {
    const PacketNumber number = head;
    head                      = pool[number].next;
    return number;
  }
};

} // namespace weft
