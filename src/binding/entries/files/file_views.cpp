// SPDX-License-Identifier: LGPL-2.1-only
/* Views and pointers of files (MPI 4.1, sections 14.3, 14.4.3, 14.4.4). */
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/entries/files/file_functions.hpp"

#include "binding/data/elements.hpp"
#include "binding/files/collective_access.hpp"
#include "binding/files/type_extents.hpp"

#include <algorithm>
#include <string_view>

namespace weft {
namespace {

/** Checks that the filetype's data is in a file: at non-decreasing offsets, none negative. */
int check_filetype(MPI_Datatype etype, MPI_Datatype filetype)
{
  const std::size_t element = element_size(etype);
  if (element == 0 || element_size(filetype) % element != 0)
    return wrong(MPI_ERR_ARG, "the filetype has " + std::to_string(element_size(filetype)) +
                                  " bytes, which is no multiple of the etype's " + std::to_string(element));
  std::int64_t before = 0;
  for (const Extent& piece : extents_of(filetype)) {
    if (piece.offset < before)
      return wrong(MPI_ERR_ARG, "the filetype's displacements are negative or do not rise");
    before = piece.offset;
  }
  return MPI_SUCCESS;
}

/** external32 is only supported for types whose numbers have the same sizes in it. */
int check_format(std::string_view format, MPI_Datatype etype, MPI_Datatype filetype)
{
  if (format == "native" || format == "internal")
    return MPI_SUCCESS;
  if (format != "external32")
    return wrong(MPI_ERR_UNSUPPORTED_DATAREP,
                 "the data representation is " + std::string(format) + "; allowed: native, internal, external32");
  for (const MPI_Datatype type : {etype, filetype}) {
    char name[]   = "external32"; // NOLINT(modernize-avoid-c-arrays): SMPI's parameter is no const
    MPI_Aint size = 0;
    PMPI_Pack_external_size(name, 1, type, &size);
    if (std::cmp_not_equal(size, element_size(type)))
      return wrong(MPI_ERR_UNSUPPORTED_DATAREP, "external32 gives numbers of the type other sizes");
  }
  return MPI_SUCCESS;
}

int set_file_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* format,
                  MPI_Info info)
{
  return on_file(file, [&](FileSystem& files, FileHandle& handle) {
    const bool sequential = has_mode(handle.file->mode, MPI_MODE_SEQUENTIAL);
    const bool current    = displacement == MPI_DISPLACEMENT_CURRENT;
    if (current != sequential && (current || sequential))
      return wrong(MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT belongs to files that are open with MPI_MODE_SEQUENTIAL");
    if (displacement < 0 && not current)
      return wrong_number(MPI_ERR_ARG, "the displacement", displacement, "from 0 on");
    if (const int result = first_error([&] { return check_type(etype); }, [&] { return check_type(filetype); },
                                       [&] { return check_present(format, "datarep"); },
                                       [&] { return check_filetype(etype, filetype); },
                                       [&] { return check_format(format, etype, filetype); });
        result != MPI_SUCCESS)
      return result;
    const auto open = handle.file;
    const MPI_Offset beginning =
        current ? handle.view.offset_of(open->shared_position * handle.view.etype_size()) : displacement;
    take_part(files, handle, [&](FileSteps& steps) {
      read_hints(info, open->hints);
      open->shared_position = 0;
      add_barrier(files, open, steps);
    });
    handle.set_view(beginning, etype, filetype, format);
    return static_cast<int>(MPI_SUCCESS);
  });
}

int give_view(const FileHandle& handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
              char* format)
{
  *displacement = handle.view.displacement();
  *etype        = handle.etype;
  *filetype     = handle.filetype;
  for (MPI_Datatype type : {*etype, *filetype})
    type->ref(); // the program frees both
  handle.data_format.copy(format, MPI_MAX_DATAREP_STRING - 1);
  format[std::min<std::size_t>(handle.data_format.size(), MPI_MAX_DATAREP_STRING - 1)] = '\0';
  return MPI_SUCCESS;
}

// ---- Pointers

/** Moves a pointer. */
int seek_from(const FileHandle& handle, MPI_Offset offset, int whence, std::int64_t& position)
{
  std::int64_t from = 0;
  if (whence == MPI_SEEK_CUR)
    from = position;
  else if (whence == MPI_SEEK_END)
    from = handle.view.position_of_end(handle.file->content.size());
  else if (whence != MPI_SEEK_SET)
    return wrong_number(MPI_ERR_ARG, "whence", whence, "MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END");
  if (from + offset < 0)
    return wrong_number(MPI_ERR_ARG, "the new position", from + offset, "from 0 on");
  position = from + offset;
  return MPI_SUCCESS;
}

int seek_shared(MPI_File file, MPI_Offset offset, int whence)
{
  return on_file(file, [&](FileSystem& files, FileHandle& handle) {
    if (const int result = check_not_sequential(handle); result != MPI_SUCCESS)
      return result;
    const auto open  = handle.file;
    std::int64_t now = open->shared_position;
    if (const int result = seek_from(handle, offset, whence, now); result != MPI_SUCCESS)
      return result;
    take_part(files, handle, [&](FileSteps& steps) {
      open->shared_position = now;
      add_barrier(files, open, steps);
    });
    return static_cast<int>(MPI_SUCCESS);
  });
}

int ask_shared_position(MPI_File file, MPI_Offset* offset)
{
  return on_file(file, [&](FileSystem& files, FileHandle& handle) {
    if (const int result = check_present(offset, "offset"); result != MPI_SUCCESS)
      return result;
    take_steps(files, [&](FileSteps& steps) { add_shared_pointer(files, handle.file, handle.host(), steps); });
    *offset = handle.file->shared_position;
    return static_cast<int>(MPI_SUCCESS);
  });
}

int ask_position(MPI_File file, MPI_Offset* offset)
{
  return on_file(file, [offset](FileSystem& /*files*/, FileHandle& handle) {
    const int result =
        first_error([&] { return check_present(offset, "offset"); }, [&] { return check_not_sequential(handle); });
    if (result == MPI_SUCCESS)
      *offset = handle.position;
    return result;
  });
}

int seek_own(MPI_File file, MPI_Offset offset, int whence)
{
  return on_file(file, [&](FileSystem& /*files*/, FileHandle& handle) {
    return first_error([&] { return check_not_sequential(handle); },
                       [&] { return seek_from(handle, offset, whence, handle.position); });
  });
}

int ask_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset* displacement)
{
  return on_file(file, [&](FileSystem& /*files*/, FileHandle& handle) {
    if (offset < 0)
      return wrong_number(MPI_ERR_ARG, "the offset", offset, "from 0 on");
    const int result =
        first_error([&] { return check_present(displacement, "disp"); }, [&] { return check_not_sequential(handle); });
    if (result == MPI_SUCCESS)
      *displacement = handle.view.offset_of(offset * handle.view.etype_size());
    return result;
  });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_FILE_CALL(File_set_view, fh,
               (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
                MPI_Info info),
               set_file_view(fh, disp, etype, filetype, datarep, info), fh, disp, etype, filetype, datarep, info)
WEFT_FILE_QUERY(File_get_view, fh,
                (MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep),
                on_file(fh, [=](FileSystem& /*files*/,
                                FileHandle& handle) { return give_view(handle, disp, etype, filetype, datarep); }),
                fh, disp, etype, filetype, datarep)
WEFT_FILE_CALL(File_seek, fh, (MPI_File fh, MPI_Offset offset, int whence), seek_own(fh, offset, whence), fh, offset,
               whence)
WEFT_FILE_CALL(File_get_position, fh, (MPI_File fh, MPI_Offset* offset), ask_position(fh, offset), fh, offset)
WEFT_FILE_QUERY(File_get_byte_offset, fh, (MPI_File fh, MPI_Offset offset, MPI_Offset* disp),
                ask_byte_offset(fh, offset, disp), fh, offset, disp)
WEFT_FILE_CALL(File_seek_shared, fh, (MPI_File fh, MPI_Offset offset, int whence), seek_shared(fh, offset, whence), fh,
               offset, whence)
WEFT_FILE_CALL(File_get_position_shared, fh, (MPI_File fh, MPI_Offset* offset), ask_shared_position(fh, offset), fh,
               offset)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
