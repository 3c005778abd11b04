// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/datatypes/type_map.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/** Lowest and highest byte, or bound. */
struct Limits {
  bool is_known = false;
  MPI_Aint low  = 0;
  MPI_Aint high = 0;

  void include(MPI_Aint its_low, MPI_Aint its_high)
  {
    low      = is_known ? std::min(low, its_low) : its_low;
    high     = is_known ? std::max(high, its_high) : its_high;
    is_known = true;
  }
  /** Extends the bounds by these limits at each element of a part. */
  void include(const TypeMap::Part& part, MPI_Aint its_low, MPI_Aint its_high)
  {
    const MPI_Aint last_block   = part.stride * (part.blocks - 1);
    const MPI_Aint last_element = part.of->extent() * (part.length - 1);
    include(part.offset + std::min(MPI_Aint{0}, last_block) + std::min(MPI_Aint{0}, last_element) + its_low,
            part.offset + std::max(MPI_Aint{0}, last_block) + std::max(MPI_Aint{0}, last_element) + its_high);
  }
};

} // namespace

TypeMap::TypeMap(MPI_Datatype basic, std::int64_t size, MPI_Aint extent, std::int64_t alignment)
    : size_(size), high_(extent), true_high_(size), alignment_(alignment), basic_(basic), basic_size_(size),
      dense_(true), uniform_(true)
{
}

TypeMap::TypeMap(std::vector<Part> parts) : parts_(std::move(parts))
{
  std::erase_if(parts_, [](const Part& part) { return part.is_empty() || part.of->is_nothing(); });
  for (const Part& part : parts_) {
    size_ += part.blocks * part.length * part.of->size_;
    alignment_ = std::max(alignment_, part.of->alignment_);
    sets_low_  = sets_low_ || part.of->sets_low_;
    sets_high_ = sets_high_ || part.of->sets_high_;
  }
  find_bounds();
  find_density();
}

/** An explicit bound in a part overrides all others. */
void TypeMap::find_bounds()
{
  Limits bounds;
  Limits low_marks;
  Limits high_marks;
  Limits data;
  for (const Part& part : parts_) {
    const TypeMap& of = *part.of;
    bounds.include(part, of.low_, of.high_);
    if (of.sets_low_)
      low_marks.include(part, of.low_, of.low_);
    if (of.sets_high_)
      high_marks.include(part, of.high_, of.high_);
    if (of.size_ > 0)
      data.include(part, of.true_low_, of.true_high_);
  }
  low_       = sets_low_ ? low_marks.low : bounds.low;
  high_      = sets_high_ ? high_marks.high : bounds.high;
  true_low_  = data.low;
  true_high_ = data.high;
}

void TypeMap::find_density()
{
  bool first   = true;
  MPI_Aint end = 0; // of the data so far
  dense_       = true;
  uniform_     = true;
  for (const Part& part : parts_) {
    const TypeMap& of = *part.of;
    if (of.size_ == 0)
      continue;
    const bool is_block = part.length == 1 ? of.dense_ : of.tiles();
    const bool is_whole = is_block && (part.blocks == 1 || part.stride == part.length * of.size_);
    dense_              = dense_ && is_whole && (first || part.offset + of.true_low_ == end);
    uniform_            = uniform_ && of.uniform_ && (first || of.basic_ == basic_);
    if (first) {
      basic_      = of.basic_;
      basic_size_ = of.basic_size_;
    }
    end   = part.offset + of.true_low_ + part.blocks * part.length * of.size_;
    first = false;
  }
  uniform_ = uniform_ && dense_;
}

TypeMap::Pointer TypeMap::lower_mark()
{
  auto mark       = std::make_shared<TypeMap>(std::vector<Part>());
  mark->sets_low_ = true;
  return mark;
}

TypeMap::Pointer TypeMap::upper_mark()
{
  auto mark        = std::make_shared<TypeMap>(std::vector<Part>());
  mark->sets_high_ = true;
  return mark;
}

TypeMap::Pointer TypeMap::of_structure(std::vector<Part> members)
{
  auto made = std::make_shared<TypeMap>(std::move(members));
  if (not made->sets_high_ && made->extent() % made->alignment_ != 0)
    made->high_ += made->alignment_ - made->extent() % made->alignment_;
  return made;
}

TypeMap::Pointer TypeMap::with_bounds(Pointer of, MPI_Aint low, MPI_Aint extent)
{
  auto made        = std::make_shared<TypeMap>(std::vector{Part{.of = std::move(of)}});
  made->low_       = low;
  made->high_      = low + extent;
  made->sets_low_  = true;
  made->sets_high_ = true;
  return made;
}

} // namespace weft
