// SPDX-License-Identifier: LGPL-2.1-only
/* Elements of MPI datatypes: bounds, copying, packing. */
#pragma once

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
/** Returns the bytes of data in an element, gaps excluded. */
std::size_t element_size(MPI_Datatype type);
/** Returns whether a type is predefined and its elements are contiguous. */
bool is_plain(MPI_Datatype type);
/** Copies elements but not the gaps between them. */
void copy_elements(const void* from, void* to, int count, MPI_Datatype type);
void pack(const void* from, std::int64_t count, MPI_Datatype type, std::byte* to);
void unpack(const std::byte* from, void* to, std::int64_t count, MPI_Datatype type);
/** Unpacks the first @p bytes of an element. */
void unpack_part(const std::byte* from, void* to, std::size_t bytes, MPI_Datatype type);

/** Returns the offset of an element's first byte from its address. For types with absolute
 * addresses (MPI_BOTTOM) it may differ from rank to rank within one call. */
MPI_Aint beginning_of(MPI_Datatype type);
/** Returns an address @p bytes further on. The arithmetic is on integers, because MPI_BOTTOM with
 * an absolute type is not a pointer into any object. */
inline void* moved(const void* address, MPI_Aint bytes)
{
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes); // NOLINT(performance-no-int-to-ptr)
}

/** Reference to a datatype, which lives on if the program frees its handle. */
class HeldType {
  MPI_Datatype type_;

public:
  explicit HeldType(MPI_Datatype type);
  HeldType(HeldType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  HeldType(const HeldType&)            = delete;
  HeldType& operator=(const HeldType&) = delete;
  HeldType& operator=(HeldType&&)      = delete;
  ~HeldType();
  /** Returns the datatype itself: the program's operations are called with it. */
  MPI_Datatype get() const { return type_; }
};

/** Storage for elements of a type, whatever its bounds. */
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
