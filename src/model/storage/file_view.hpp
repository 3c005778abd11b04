// SPDX-License-Identifier: LGPL-2.1-only
/* File view (MPI 4.1, section 14.3): the bytes of a file that a rank sees, as elements of an etype in consecutive
 * copies of a filetype, starting at a displacement. */
#pragma once

#include "model/storage/extents.hpp"

namespace weft {

class FileView {
  std::int64_t displacement_ = 0;
  std::int64_t etype_size_   = 1;
  std::int64_t extent_       = 1;       // of the filetype
  std::int64_t size_         = 1;       // bytes of data in it
  Extents pieces_{{0, 1}};              // data ranges of the filetype, relative to its address
  std::vector<std::int64_t> before_{0}; // by piece: bytes of data that precede it

public:
  /** View of a file as bytes. */
  FileView() = default;
  /** @p pieces: the filetype's, in increasing order; @p extent: its extent. */
  FileView(std::int64_t displacement, std::int64_t etype_size, Extents pieces, std::int64_t extent);

  std::int64_t displacement() const { return displacement_; }
  std::int64_t etype_size() const { return etype_size_; }
  /** Returns true if the data is contiguous in the file. */
  bool is_contiguous() const { return pieces_.size() == 1 && pieces_.front().length == extent_; }
  /** Returns the file offset of a byte of the view's data. */
  std::int64_t offset_of(std::int64_t byte) const;
  /** Returns the file extents of @p bytes of the view's data, starting at byte @p from. */
  Extents extents(std::int64_t from, std::int64_t bytes) const;
  /** Returns the first position, in etypes, that begins at or after the end of a file of this size. */
  std::int64_t position_of_end(std::int64_t file_size) const;
};

} // namespace weft
