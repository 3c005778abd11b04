// SPDX-License-Identifier: LGPL-2.1-only
/* Elements of MPI datatypes: bounds and copies. Packing is in datatypes/. */
#pragma once

#include "binding/datatypes/packing.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace weft {

/** Bounds of an element, in bytes from its address, and its extent. */
struct Span {
  MPI_Aint low    = 0; ///< offset of the first byte
  MPI_Aint high   = 0;
  MPI_Aint extent = 0;
};

Span span_of(MPI_Datatype type);
MPI_Aint extent_of(MPI_Datatype type);
/** Returns the bytes of data in an element, without gaps. */
std::size_t element_size(MPI_Datatype type);
/** Returns whether a type is predefined with contiguous elements. */
bool is_plain(MPI_Datatype type);
/** Copies elements but not the gaps between them. */
void copy_elements(const void* from, void* to, int count, MPI_Datatype type);

/** Returns the offset of an element's first byte from its address. For types with absolute
 * addresses (MPI_BOTTOM) it may differ from rank to rank within one call. */
MPI_Aint beginning_of(MPI_Datatype type);

/** Reference to a datatype, which stays valid if the program frees its handle. */
class HeldType {
  MPI_Datatype type_;

public:
  explicit HeldType(MPI_Datatype type);
  HeldType(HeldType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  HeldType(const HeldType&)            = delete;
  HeldType& operator=(const HeldType&) = delete;
  HeldType& operator=(HeldType&&)      = delete;
  ~HeldType();
  /** Returns the datatype itself, with which the program's operations are called. */
  MPI_Datatype get() const { return type_; }
};

/** Storage for elements of a type with any bounds. */
class Values {
  std::unique_ptr<std::byte[]> storage_; // NOLINT(modernize-avoid-c-arrays): a vector would write zeros first
  MPI_Aint offset_ = 0;

public:
  Values() = default;
  Values(int count, MPI_Datatype type);
  Values(const void* from, int count, MPI_Datatype type);
  /** Returns whether storage has been allocated. */
  explicit operator bool() const { return storage_ != nullptr; }
  std::byte* data() { return storage_.get() + offset_; }
  const std::byte* data() const { return storage_.get() + offset_; }
};

} // namespace weft
