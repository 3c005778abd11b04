// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/fortran/sections.hpp"

#include "binding/fortran/handles.hpp"
#include "binding/fortran/sentinels.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
extern "C" int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Datatype type,
                                         MPI_Datatype* made);

namespace weft::fortran {
namespace {

/** Copies the elements between a section and memory without gaps, in array element order. */
void copy_elements(const Section& section, char* packed, bool to_section)
{
  const auto copy = [&](auto self, char* from, std::size_t dimension) -> void {
    if (dimension == 0) {
      std::memcpy(to_section ? from : packed, to_section ? packed : from, section.element());
      packed += section.element();
      return;
    }
    const Section::Dimension& along = section.dimensions()[dimension - 1];
    for (std::ptrdiff_t i = 0; i < along.extent; ++i)
      self(self, from + (i * along.stride), dimension - 1);
  };
  copy(copy, section.base(), section.dimensions().size());
}

} // namespace

void* buffer_of(void* buffer)
{
  if (is_in_place(buffer))
    return MPI_IN_PLACE;
  return is_bottom(buffer) ? MPI_BOTTOM : buffer;
}

Section::Section(const FortranDescriptor& buffer) : base_(buffer.base), element_(buffer.element)
{
  const std::ptrdiff_t span = buffer.span > 0 ? buffer.span : static_cast<std::ptrdiff_t>(buffer.element);
  for (std::size_t i = 0; std::cmp_less(i, buffer.rank); ++i) {
    const FortranDescriptor::Dimension& along = buffer.dimensions[i];
    dimensions_.push_back({along.upper - along.lower + 1, along.stride * span});
  }
}

Section::Section(const CDescriptor& buffer) : base_(buffer.base), element_(buffer.element)
{
  for (std::size_t i = 0; std::cmp_less(i, buffer.rank); ++i)
    dimensions_.push_back({buffer.dimensions[i].extent, buffer.dimensions[i].stride});
}

std::ptrdiff_t Section::elements() const
{
  std::ptrdiff_t product = 1;
  for (const Dimension& along : dimensions_)
    product *= along.extent;
  return product;
}

bool Section::is_contiguous() const
{
  auto expected    = static_cast<std::ptrdiff_t>(element_);
  bool is_adjacent = true;
  for (const Dimension& along : dimensions_) {
    if (along.extent == 0)
      return true;
    is_adjacent = is_adjacent && (along.extent == 1 || along.stride == expected);
    expected *= along.extent;
  }
  return is_adjacent || buffer_of(base_) != base_;
}

// ---- Blocking procedures --------------------------------------------------------------------------------------------

Contiguous::Contiguous(const FortranDescriptor* buffer, bool is_written) : section_(*buffer), is_written_(is_written)
{
  if (section_.is_contiguous())
    return;
  copy_.resize(static_cast<std::size_t>(section_.elements()) * section_.element());
  copy_elements(section_, copy_.data(), false);
}

Contiguous::~Contiguous()
{
  if (is_written_ && not copy_.empty())
    copy_elements(section_, copy_.data(), true);
}

// ---- Buffers that stay in use ---------------------------------------------------------------------------------------

Strided::Strided(const CDescriptor* buffer, std::int64_t count, bool has_one_count, const int* type)
    : section_(*buffer), count_(count), has_one_count_(has_one_count), type_(object_of<MPI_Datatype>(type))
{
  if (section_.is_contiguous())
    return;
  is_usable_ = false;
  describe();
}

/* A one-dimensional section gets a datatype with the stride as extent, so that any count and displacement is correct. A
 * section of more dimensions is a single element of nested vectors, if the call uses all of its elements. */
void Strided::describe()
{
  int size        = 0;
  MPI_Aint lower  = 0;
  MPI_Aint extent = 0;
  if (type_ == MPI_DATATYPE_NULL || MPI_Type_size(type_, &size) != MPI_SUCCESS || size == 0 ||
      MPI_Type_get_extent(type_, &lower, &extent) != MPI_SUCCESS || extent != size || lower != 0)
    return;
  const auto element = static_cast<int>(section_.element());
  if (element % size != 0)
    return;
  const int parts      = element / size;
  MPI_Datatype current = type_;
  const auto add       = [&](int status, const MPI_Datatype& fresh) {
    if (status != MPI_SUCCESS)
      return false;
    own_.push_back(fresh);
    current = fresh;
    return true;
  };
  MPI_Datatype fresh = MPI_DATATYPE_NULL;
  if (parts > 1 && not add(MPI_Type_contiguous(parts, current, &fresh), fresh))
    return;
  const std::vector<Section::Dimension>& dimensions = section_.dimensions();
  if (not has_one_count_) {
    if (dimensions.size() != 1 || parts != 1 ||
        not add(MPI_Type_create_resized(current, 0, dimensions[0].stride, &fresh), fresh))
      return;
  } else if (count_ % parts != 0) {
    return;
  } else if (dimensions.size() == 1) {
    const std::int64_t elements = count_ / parts;
    const MPI_Aint advance      = elements * dimensions[0].stride; // to the next rank's block
    if (not add(MPI_Type_create_hvector_c(elements, 1, dimensions[0].stride, current, &fresh), fresh) ||
        not add(MPI_Type_create_resized(current, 0, advance, &fresh), fresh))
      return;
    count_ = 1;
  } else {
    if (count_ / parts != section_.elements())
      return;
    for (const Section::Dimension& along : dimensions)
      if (not add(MPI_Type_create_hvector_c(along.extent, 1, along.stride, current, &fresh), fresh))
        return;
    count_ = 1;
  }
  type_      = current;
  is_usable_ = MPI_Type_commit(&type_) == MPI_SUCCESS;
}

Strided::~Strided()
{
  for (MPI_Datatype one : own_)
    MPI_Type_free(&one);
}

int refuse_section()
{
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

} // namespace weft::fortran
