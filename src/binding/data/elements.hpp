// SPDX-License-Identifier: LGPL-2.1-only
/* Elements of MPI datatypes: their bounds, copies of them, packed and not. */
#pragma once

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft {

/** The bytes from an element's address that it may touch, and how far the next one is. */
struct Span {
  MPI_Aint low    = 0; ///< of an element's first byte, from its address
  MPI_Aint high   = 0;
  MPI_Aint extent = 0;
};

Span span_of(MPI_Datatype type);
MPI_Aint extent_of(MPI_Datatype type);
/** Bytes of data in an element. */
std::size_t element_size(MPI_Datatype type);
/** Whether elements are bytes one after the other, and MPI's own. */
bool is_plain(MPI_Datatype type);
/** Copy elements and nothing between them. */
void copy_elements(const void* from, void* to, int count, MPI_Datatype type);
void pack(const void* from, int count, MPI_Datatype type, std::byte* to);
void unpack(const std::byte* from, void* to, int count, MPI_Datatype type);

/** Where an element of @p type begins, from its address. Types of one call may differ in this from rank to rank: those
 *  with addresses of their own (MPI_BOTTOM) do. */
MPI_Aint beginning_of(MPI_Datatype type);
/** An address so many bytes on. By numbers: MPI_BOTTOM with an address in the type is no pointer into anything. */
inline void* moved(const void* address, MPI_Aint bytes)
{
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes); // NOLINT(performance-no-int-to-ptr)
}

/** Room for elements of a type, whatever its bounds. */
class Values {
  std::unique_ptr<std::byte[]> storage_; // NOLINT(modernize-avoid-c-arrays): a vector would write zeros first
  MPI_Aint offset_ = 0;

public:
  Values() = default;
  Values(int count, MPI_Datatype type);
  Values(const void* from, int count, MPI_Datatype type);
  /** Whether there are any. */
  explicit operator bool() const { return storage_ != nullptr; }
  std::byte* data() { return storage_.get() + offset_; }
  const std::byte* data() const { return storage_.get() + offset_; }
};

} // namespace weft
