// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/sent_messages.hpp"

#include "binding/abi/smpi/requests.hpp"
#include "binding/data/exchange.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {

bool has_no_data(const void* buffer, std::size_t size)
{
  constexpr std::size_t PAGE = 4096; // shared buffers consist of pages
  return size >= PAGE && is_shared(buffer);
}

void copy_to_receive(SentMessage& message)
{
  const RequestLayout& fields = layout_of(message.receive);
  const std::size_t size      = std::min(message.size, fields.real_size);
  if (not message.copied && fields.buffer && size > 0 && not has_no_data(fields.buffer, size))
    std::memmove(fields.buffer, message.data, size); // placeholders in SMPI collectives share scratch memory
  message.copied = true;
  if (message.kept)
    std::free(message.data);
  message.kept = false;
}

SentMessages::Index SentMessages::add()
{
  if (idle_.empty()) {
    all_.emplace_back();
    return all_.size() - 1;
  }
  const Index number = idle_.back();
  idle_.pop_back();
  return number;
}

void SentMessages::keep(SentMessage& message)
{
  if (message.copied || message.kept)
    return;
  auto* const copy = static_cast<std::byte*>(std::malloc(message.size));
  if (not copy)
    throw std::bad_alloc();
  std::memcpy(copy, message.data, message.size);
  message.data = copy;
  message.kept = true;
  kept_bytes_ += message.size;
}

void SentMessages::forget(Index number)
{
  SentMessage& message = all_[number];
  if (message.kept)
    std::free(message.data);
  message = {};
  idle_.push_back(number);
}

} // namespace weft
