// SPDX-License-Identifier: LGPL-2.1-only
/* Messages that have been sent and not been received yet, and their data. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <smpi/smpi.h>
#include <vector>

namespace weft {

struct SentMessage {
  MPI_Request sender;  ///< null once its completion no longer depends on this message
  MPI_Request receive; ///< null until there is one
  MPI_Datatype type;   ///< null once the type may have been freed
  std::byte* data;
  std::size_t size;
  double sent; ///< time of sending
  int source;  ///< actor
  int from;    ///< hosts
  int to;
  bool detached : 1;
  bool kept : 1;    ///< `data` is an allocated copy
  bool left : 1;    ///< true if in flight, or arrived
  bool arrived : 1; ///< true if arrived or failed
  bool copied : 1;  ///< true if copied into the receive buffer, or without data
  bool failed : 1;
  bool withdrawn : 1; ///< true if cancelled
  bool asks : 1;      ///< true if it leaves after a handshake in which ranks take part
};

/** Returns whether a buffer is shared by ranks to save memory (SMPI_SHARED_MALLOC, --unchecked), so that a copy would
 * only take memory. */
bool has_no_data(const void* buffer, std::size_t size);

/** Copies a message into the buffer of its receive. */
void copy_to_receive(SentMessage& message);

/** Returns the receive that MessageMatching knows by this number. */
inline MPI_Request request_of(std::uint64_t receive)
{
  return reinterpret_cast<MPI_Request>(receive); // NOLINT(performance-no-int-to-ptr): the number is its address
}

class SentMessages {
public:
  using Index = std::uint64_t;

private:
  std::vector<SentMessage> all_;
  std::vector<Index> idle_;
  std::size_t kept_bytes_ = 0;

public:
  SentMessage& operator[](Index number) { return all_[number]; }
  const SentMessage& operator[](Index number) const { return all_[number]; }
  /** Returns the index of another message, which it has until it is forgotten. */
  Index add();
  /** Copies the data, since the sender may reuse its buffer. */
  void keep(SentMessage& message);
  void forget(Index number);
  /** Returns the largest number of messages at a time so far. */
  std::size_t most() const { return all_.size(); }
  /** Returns the number of bytes copied by keep() so far. */
  std::size_t kept_bytes() const { return kept_bytes_; }
};

} // namespace weft
