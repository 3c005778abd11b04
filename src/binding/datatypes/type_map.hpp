// SPDX-License-Identifier: LGPL-2.1-only
/* Layout of the data of a datatype's element, and its bounds (MPI 4.1, section 5.1). */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class TypeMap {
public:
  using Pointer = std::shared_ptr<const TypeMap>;

  /** Blocks of consecutive elements, at equal distances. */
  struct Part {
    Pointer of;
    MPI_Aint offset     = 0; ///< offset of the first block, in bytes
    MPI_Aint stride     = 0; ///< from block to block, in bytes
    std::int64_t blocks = 1;
    std::int64_t length = 1; ///< elements in a block

    bool is_empty() const { return blocks == 0 || length == 0; }
  };

  /** Map of a predefined type; @p alignment is the C compiler's. */
  TypeMap(MPI_Datatype basic, std::int64_t size, MPI_Aint extent, std::int64_t alignment);
  /** Map of a datatype that is composed of other datatypes. */
  explicit TypeMap(std::vector<Part> parts);

  /** Maps of MPI_LB and MPI_UB, members of structures that set a bound. */
  static Pointer lower_mark();
  static Pointer upper_mark();
  /** Map of a structure, whose extent is a multiple of its alignment unless its upper bound is set (section 5.1.6). */
  static Pointer of_structure(std::vector<Part> members);
  /** Map of MPI_Type_create_resized. */
  static Pointer with_bounds(Pointer of, MPI_Aint low, MPI_Aint extent);

  std::int64_t size() const { return size_; }
  MPI_Aint low() const { return low_; }
  MPI_Aint high() const { return high_; }
  MPI_Aint extent() const { return high_ - low_; }
  MPI_Aint true_low() const { return true_low_; }
  MPI_Aint true_high() const { return true_high_; }

  /** Calls @p visit(offset, bytes) for the data of @p count elements, in type-map order; adjacent pieces may be
   * separate. */
  template <class Visit> void for_pieces(std::int64_t count, Visit&& visit) const
  {
    walk(0, count, &TypeMap::dense_, [&](MPI_Aint offset, const TypeMap& of, std::int64_t elements) {
      visit(offset + of.true_low_, of.size_ * elements);
    });
  }
  /** Calls @p visit(offset, predefined type, number) for the data of @p count elements, in type-map order. */
  template <class Visit> void for_numbers(std::int64_t count, Visit&& visit) const
  {
    walk(0, count, &TypeMap::uniform_, [&](MPI_Aint offset, const TypeMap& of, std::int64_t elements) {
      visit(offset + of.true_low_, of.basic_, of.size_ / of.basic_size_ * elements);
    });
  }

private:
  std::vector<Part> parts_;
  std::int64_t size_       = 0; ///< bytes of data
  MPI_Aint low_            = 0;
  MPI_Aint high_           = 0;
  MPI_Aint true_low_       = 0; ///< lowest byte of data
  MPI_Aint true_high_      = 0;
  std::int64_t alignment_  = 1;
  MPI_Datatype basic_      = MPI_DATATYPE_NULL; ///< the only predefined type in the data, if there is one
  std::int64_t basic_size_ = 0;
  bool dense_              = false; ///< the data has no gaps and is in address order
  bool uniform_            = false; ///< dense, and of one predefined type
  bool sets_low_           = false; ///< by an explicit mark in the type
  bool sets_high_          = false;

  bool is_nothing() const { return size_ == 0 && not sets_low_ && not sets_high_; }
  bool tiles() const { return dense_ && extent() == size_; }
  void find_bounds();
  void find_density();

  template <class Visit> void walk(MPI_Aint offset, std::int64_t count, bool TypeMap::* whole, const Visit& visit) const
  {
    if (size_ == 0 || count == 0)
      return;
    if (this->*whole) {
      if (extent() == size_)
        visit(offset, *this, count);
      else
        for (std::int64_t element = 0; element < count; ++element)
          visit(offset + element * extent(), *this, std::int64_t{1});
      return;
    }
    for (std::int64_t element = 0; element < count; ++element)
      for (const Part& part : parts_)
        for (std::int64_t block = 0; block < part.blocks; ++block)
          part.of->walk(offset + element * extent() + part.offset + block * part.stride, part.length, whole, visit);
  }
};

} // namespace weft
