// SPDX-License-Identifier: LGPL-2.1-only
/* Array descriptors of mpi_f08's choice buffers, and buffers with gaps.
 *
 * Blocking procedures get gfortran's own descriptors, and copy a section with gaps to contiguous memory and back.
 * Procedures whose buffer stays in use after their return get C descriptors (ISO/IEC TS 29113) and describe such a
 * section by a datatype. */
#pragma once

#include <smpi/smpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::fortran {

constexpr int MOST_DIMENSIONS = 15;

/** gfortran's descriptor, since GCC 8 (libgfortran.h). */
struct FortranDescriptor {
  struct Dimension {
    std::ptrdiff_t stride; ///< in spans
    std::ptrdiff_t lower;
    std::ptrdiff_t upper; ///< -1 for the last dimension of an assumed-size array
  };
  char* base;
  std::size_t offset;
  std::size_t element;
  int version;
  std::int8_t rank;
  std::int8_t type;
  std::int16_t attribute;
  std::ptrdiff_t span;
  std::array<Dimension, MOST_DIMENSIONS> dimensions; ///< only the first `rank` are valid
};

/** CFI_cdesc_t of gfortran's ISO_Fortran_binding.h. */
struct CDescriptor {
  struct Dimension {
    std::ptrdiff_t lower;
    std::ptrdiff_t extent; ///< -1 for the last dimension of an assumed-size array
    std::ptrdiff_t stride; ///< in bytes
  };
  char* base;
  std::size_t element;
  int version;
  std::int8_t rank;
  std::int8_t attribute;
  std::int16_t type;
  std::array<Dimension, MOST_DIMENSIONS> dimensions; ///< only the first `rank` are valid
};

/** Returns the buffer in C's form: MPI_BOTTOM and MPI_IN_PLACE are variables in Fortran. */
void* buffer_of(void* buffer);
inline void* buffer_of(const FortranDescriptor* buffer)
{
  return buffer_of(buffer->base);
}
inline void* buffer_of(const CDescriptor* buffer)
{
  return buffer_of(buffer->base);
}

/** Elements of an array at equal distances in each dimension. */
class Section {
public:
  struct Dimension {
    std::ptrdiff_t extent;
    std::ptrdiff_t stride; ///< in bytes
  };

  explicit Section(const FortranDescriptor& buffer);
  explicit Section(const CDescriptor& buffer);

  char* base() const { return base_; }
  std::size_t element() const { return element_; }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  std::ptrdiff_t elements() const;
  /** True without gaps; also true for assumed-size arrays, empty arrays, MPI_BOTTOM and MPI_IN_PLACE. */
  bool is_contiguous() const;

private:
  char* base_;
  std::size_t element_;
  std::vector<Dimension> dimensions_;
};

/** Contiguous buffer of a blocking procedure. */
class Contiguous {
public:
  Contiguous(const FortranDescriptor* buffer, bool is_written);
  ~Contiguous();
  Contiguous(const Contiguous&)            = delete;
  Contiguous& operator=(const Contiguous&) = delete;

  operator void*() const { return copy_.empty() ? buffer_of(section_.base()) : const_cast<char*>(copy_.data()); }

private:
  Section section_;
  bool is_written_;
  std::vector<char> copy_;
};

/** Buffer that stays in use and must be contiguous. */
class Whole {
public:
  explicit Whole(const CDescriptor* buffer) : section_(*buffer) {}
  bool is_usable() const { return section_.is_contiguous(); }
  void* address() const { return buffer_of(section_.base()); }

private:
  Section section_;
};

/** Buffer that stays in use, with its count and datatype; a section with gaps gets its own datatype. */
class Strided {
public:
  /** @p count is null if there is one count per rank. */
  template <class Count>
  Strided(const CDescriptor* buffer, const Count* count, const int* type)
      : Strided(buffer, count ? std::int64_t{*count} : 0, count != nullptr, type)
  {
  }
  Strided(const CDescriptor* buffer, std::nullptr_t, const int* type) : Strided(buffer, 0, false, type) {}
  ~Strided();
  Strided(const Strided&)            = delete;
  Strided& operator=(const Strided&) = delete;

  /** False for sections that a datatype cannot describe. */
  bool is_usable() const { return is_usable_; }
  void* address() const { return buffer_of(section_.base()); }
  std::int64_t count() const { return count_; }
  MPI_Datatype type() const { return type_; }

private:
  Strided(const CDescriptor* buffer, std::int64_t count, bool has_one_count, const int* type);
  void describe();

  Section section_;
  std::int64_t count_;
  bool has_one_count_;
  MPI_Datatype type_;
  bool is_usable_ = true;
  std::vector<MPI_Datatype> own_; ///< freed after the call, which references them as needed
};

/** Calls the error handler for a section that Strided and Whole cannot describe; returns the error. */
int refuse_section();

} // namespace weft::fortran
