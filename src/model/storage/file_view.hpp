// SPDX-License-Identifier: LGPL-2.1-only
/* File view (MPI 4.1, section 14.3): the bytes of a file that a rank sees, as elements of an etype in copies of a
 * filetype that follow one another from a displacement on. */
#pragma once

#include "model/storage/extents.hpp"

namespace weft {

class FileView {
  std::int64_t displacement_ = 0;
  std::int64_t etype_size_   = 1;
  std::int64_t extent_       = 1;       // of the filetype
  std::int64_t size_         = 1;       // bytes of data in it
  Extents pieces_{{0, 1}};              // of the filetype, from its address on
  std::vector<std::int64_t> before_{0}; // by piece: bytes of data before it

public:
  /** View of a file as bytes. */
  FileView() = default;
  /** @p pieces: the filetype's, in increasing order; @p extent: its extent. */
  FileView(std::int64_t displacement, std::int64_t etype_size, Extents pieces, std::int64_t extent);

  std::int64_t displacement() const { return displacement_; }
  std::int64_t etype_size() const { return etype_size_; }
  /** Returns whether the data is contiguous in the file. */
  bool is_contiguous() const { return pieces_.size() == 1 && pieces_.front().length == extent_; }
  /** Returns the offset in the file of a byte of the view's data. */
  std::int64_t offset_of(std::int64_t byte) const;
  /** Returns the extents in the file of @p bytes of the view's data from byte @p from on. */
  Extents extents(std::int64_t from, std::int64_t bytes) const;
  /** Returns the first position, in etypes, that begins at or behind the end of a file of this size. */
  std::int64_t position_of_end(std::int64_t file_size) const;
};

} // namespace weft
