// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/file_view.hpp"

#include <algorithm>
#include <utility>

namespace weft {

FileView::FileView(std::int64_t displacement, std::int64_t etype_size, Extents pieces, std::int64_t extent)
    : displacement_(displacement), etype_size_(etype_size), extent_(extent), size_(bytes_of(pieces)),
      pieces_(std::move(pieces))
{
  before_.clear();
  std::int64_t before = 0;
  for (const Extent& piece : pieces_) {
    before_.push_back(before);
    before += piece.length;
  }
}

std::int64_t FileView::offset_of(std::int64_t byte) const
{
  if (size_ == 0)
    return displacement_;
  const std::int64_t inside = byte % size_;
  const auto after          = std::ranges::upper_bound(before_, inside);
  const auto piece          = static_cast<std::size_t>(after - before_.begin()) - 1;
  return displacement_ + byte / size_ * extent_ + pieces_[piece].offset + inside - before_[piece];
}

Extents FileView::extents(std::int64_t from, std::int64_t bytes) const
{
  Extents all;
  if (bytes == 0 || size_ == 0)
    return all;
  if (is_contiguous())
    return {{displacement_ + pieces_.front().offset + from, bytes}};
  std::int64_t copy         = from / size_;
  const std::int64_t inside = from % size_;
  auto piece                = static_cast<std::size_t>(std::ranges::upper_bound(before_, inside) - before_.begin()) - 1;
  std::int64_t skipped      = inside - before_[piece];
  while (bytes > 0) {
    const Extent& its         = pieces_[piece];
    const std::int64_t length = std::min(bytes, its.length - skipped);
    append(all, {displacement_ + copy * extent_ + its.offset + skipped, length});
    bytes -= length;
    skipped = 0;
    if (++piece == pieces_.size()) {
      piece = 0;
      ++copy;
    }
  }
  return all;
}

std::int64_t FileView::position_of_end(std::int64_t file_size) const
{
  const std::int64_t beyond = file_size - displacement_;
  if (beyond <= 0 || size_ == 0)
    return 0;
  const std::int64_t copies = std::max(std::int64_t{0}, beyond / extent_ - 1); // pieces may reach beyond the extent
  std::int64_t bytes        = copies * size_;
  for (std::int64_t copy = copies; copy <= beyond / extent_; ++copy)
    for (const Extent& piece : pieces_)
      bytes += std::clamp(beyond - copy * extent_ - piece.offset, std::int64_t{0}, piece.length);
  return (bytes + etype_size_ - 1) / etype_size_;
}

} // namespace weft
