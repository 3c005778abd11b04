// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/frames.hpp"

#include <algorithm>
#include <new>

namespace weft {

void* Frames::from_slab(std::size_t bytes)
{
  if (at_ + bytes > SLAB) {
    if (used_ == slabs_.size())
      slabs_.push_back(std::make_unique_for_overwrite<Slab>()); // pages are touched when used
    ++used_;
    at_ = 0;
  }
  std::byte* const place = slabs_[used_ - 1]->data() + at_;
  at_ += bytes;
  return place;
}

void* Frames::allocate(std::size_t bytes)
{
  if (bytes > LARGEST)
    return ::operator new(bytes);
  ++live_;
  const std::size_t steps = (bytes + STEP - 1) / STEP;
  Free*& first            = free_[steps];
  if (not first)
    return from_slab(steps * STEP);
  Free* const taken = first;
  first             = taken->next;
  return taken;
}

void Frames::deallocate(void* frame, std::size_t bytes)
{
  if (bytes > LARGEST) {
    ::operator delete(frame);
    return;
  }
  Free*& first = free_[(bytes + STEP - 1) / STEP];
  first        = new (frame) Free{first};
  if (--live_ == 0)
    forget();
}

void Frames::forget()
{
  free_ = {};
  slabs_.resize(std::min(slabs_.size(), KEPT));
  used_ = 0;
  at_   = SLAB;
}

} // namespace weft
