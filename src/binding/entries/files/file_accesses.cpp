// SPDX-License-Identifier: LGPL-2.1-only
/* Functions that read and write files (MPI 4.1, section 14.4). */
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/entries/files/file_functions.hpp"

#include "binding/data/elements.hpp"
#include "model/collective/collective_kind.hpp"

#include <limits>

namespace weft {
namespace {

constexpr bool READ  = false;
constexpr bool WRITE = true;

constexpr FileAccess access_at(bool write)
{
  return {write, FilePointer::given, false};
}
constexpr FileAccess access_next(bool write)
{
  return {write, FilePointer::individual, false};
}
constexpr FileAccess access_shared(bool write)
{
  return {write, FilePointer::shared, false};
}
constexpr FileAccess access_ordered(bool write)
{
  return {write, FilePointer::ordered, true};
}
constexpr FileAccess by_all(FileAccess access)
{
  access.collective = true;
  return access;
}
constexpr FileAccess with_request(FileAccess access)
{
  access.as_request = true;
  return access;
}

void set_status(MPI_Status* status, const FileCompletion& completion)
{
  if (status == MPI_STATUS_IGNORE)
    return;
  *status = {
      .MPI_SOURCE = MPI_UNDEFINED, .MPI_TAG = MPI_UNDEFINED, .MPI_ERROR = MPI_SUCCESS, .count = 0, .cancelled = 0};
  set_status_bytes(*status, completion.bytes);
}

/** External numbers must have the same sizes as the program's (check_format). */
int check_external_type(const FileHandle& handle, MPI_Datatype type)
{
  if (not handle.is_external())
    return MPI_SUCCESS;
  char format[] = "external32"; // NOLINT(modernize-avoid-c-arrays): SMPI's parameter is no const
  MPI_Aint size = 0;
  PMPI_Pack_external_size(format, 1, type, &size);
  return std::cmp_equal(size, element_size(type))
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_CONVERSION, "external32 gives numbers of the datatype other sizes");
}

int check_access(const FileHandle& handle, const FileAccess& how, MPI_Offset offset, const void* buffer, int count,
                 MPI_Datatype type)
{
  const bool by_shared = how.pointer == FilePointer::shared || how.pointer == FilePointer::ordered;
  return first_error(
      [&] { return how.write ? check_writable(handle) : check_readable(handle); },
      [&] { return by_shared ? static_cast<int>(MPI_SUCCESS) : check_not_sequential(handle); },
      [&] {
        return offset >= 0 ? static_cast<int>(MPI_SUCCESS)
                           : wrong_number(MPI_ERR_ARG, "the offset", offset, "from 0 on");
      },
      [&] { // an absolute datatype has no buffer
        return check_buffer(type != MPI_DATATYPE_NULL && not is_plain(type) && not buffer ? &count : buffer, count,
                            type);
      },
      [&] { return check_external_type(handle, type); },
      [&] {
        const auto etype = static_cast<std::size_t>(handle.view.etype_size());
        return static_cast<std::size_t>(count) * element_size(type) % etype == 0
                   ? static_cast<int>(MPI_SUCCESS)
                   : wrong(MPI_ERR_IO, "the data is no whole number of etypes of " + std::to_string(etype) + " bytes");
      });
}

/** Starts an access with valid arguments. */
template <class End>
int started(MPI_File file, const FileAccess& how, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type,
            End&& end)
{
  return on_file(file, [&](FileSystem& files, FileHandle& handle) {
    if (const int result = check_access(handle, how, offset, buffer, count, type); result != MPI_SUCCESS)
      return result;
    std::shared_ptr<FileCompletion> completion;
    const FileBuffer data{const_cast<void*>(buffer), count, type}; // NOLINT(*-const-cast): read only, if it is const
    const int result = start_access(files, handle, how, offset, data, completion);
    if (completion)
      end(handle, completion);
    return result == MPI_SUCCESS ? result : wrong(result, "the file is " + handle.file->name);
  });
}

int blocking_access(MPI_File file, const FileAccess& how, MPI_Offset offset, const void* buffer, int count,
                    MPI_Datatype type, MPI_Status* status)
{
  return started(file, how, offset, buffer, count, type,
                 [status](FileHandle& /*handle*/, const std::shared_ptr<FileCompletion>& completion) {
                   completion->wait();
                   set_status(status, *completion);
                 });
}

int nonblocking_access(MPI_File file, const FileAccess& how, MPI_Offset offset, const void* buffer, int count,
                       MPI_Datatype type, MPI_Request* request)
{
  if (const int result = check_present(request, "request"); result != MPI_SUCCESS)
    return result;
  return started(file, with_request(how), offset, buffer, count, type,
                 [request](FileHandle& /*handle*/, const std::shared_ptr<FileCompletion>& completion) {
                   *request = RequestSignal::make_request(completion->signal, collective("barrier"));
                   simgrid::smpi::fields_of(*request).real_size = static_cast<std::size_t>(completion->bytes);
                 });
}

int begin_access(MPI_File file, const FileAccess& how, MPI_Offset offset, const void* buffer, int count,
                 MPI_Datatype type)
{
  if (file != MPI_FILE_NULL && FileSystem::get()->knows(file) && FileHandle::of(file).split)
    return wrong(MPI_ERR_OTHER, "a split collective access of the file has not ended");
  return started(
      file, how, offset, buffer, count, type,
      [](FileHandle& handle, const std::shared_ptr<FileCompletion>& completion) { handle.split = completion; });
}

int end_access(MPI_File file, MPI_Status* status)
{
  return on_file(file, [status](FileSystem& /*files*/, FileHandle& handle) {
    if (not handle.split)
      return wrong(MPI_ERR_OTHER, "no split collective access of the file has begun");
    const auto completion = std::exchange(handle.split, nullptr);
    completion->wait();
    set_status(status, *completion);
    return static_cast<int>(MPI_SUCCESS);
  });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(bugprone-macro-parentheses): a word of a declaration, or none
/** Define a blocking function, a non-blocking one, and a split pair; @p constant: const for written data. */
#define WEFT_BLOCKING_AT(name, constant, how)                                                                          \
  WEFT_FILE_CALL(                                                                                                      \
      name, fh,                                                                                                        \
      (MPI_File fh, MPI_Offset offset, constant void* buf, int count, MPI_Datatype type, MPI_Status* status),          \
      blocking_access(fh, how, offset, buf, count, type, status), fh, offset, buf, count, type, status)
#define WEFT_BLOCKING(name, constant, how)                                                                             \
  WEFT_FILE_CALL(name, fh, (MPI_File fh, constant void* buf, int count, MPI_Datatype type, MPI_Status* status),        \
                 blocking_access(fh, how, 0, buf, count, type, status), fh, buf, count, type, status)
#define WEFT_NONBLOCKING_AT(name, constant, how)                                                                       \
  WEFT_FILE_CALL(                                                                                                      \
      name, fh,                                                                                                        \
      (MPI_File fh, MPI_Offset offset, constant void* buf, int count, MPI_Datatype type, MPI_Request* request),        \
      nonblocking_access(fh, how, offset, buf, count, type, request), fh, offset, buf, count, type, request)
#define WEFT_NONBLOCKING(name, constant, how)                                                                          \
  WEFT_FILE_CALL(name, fh, (MPI_File fh, constant void* buf, int count, MPI_Datatype type, MPI_Request* request),      \
                 nonblocking_access(fh, how, 0, buf, count, type, request), fh, buf, count, type, request)
#define WEFT_SPLIT_END(name, constant)                                                                                 \
  WEFT_FILE_CALL(name##_end, fh, (MPI_File fh, constant void* buf, MPI_Status* status), end_access(fh, status), fh,    \
                 buf, status)
#define WEFT_SPLIT_AT(name, constant, how)                                                                             \
  WEFT_FILE_CALL(name##_begin, fh, (MPI_File fh, MPI_Offset offset, constant void* buf, int count, MPI_Datatype type), \
                 begin_access(fh, how, offset, buf, count, type), fh, offset, buf, count, type)                        \
  WEFT_SPLIT_END(name, constant)
#define WEFT_SPLIT(name, constant, how)                                                                                \
  WEFT_FILE_CALL(name##_begin, fh, (MPI_File fh, constant void* buf, int count, MPI_Datatype type),                    \
                 begin_access(fh, how, 0, buf, count, type), fh, buf, count, type)                                     \
  WEFT_SPLIT_END(name, constant)
// NOLINTEND(bugprone-macro-parentheses)

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_BLOCKING_AT(File_read_at, , access_at(READ))
WEFT_BLOCKING_AT(File_read_at_all, , by_all(access_at(READ)))
WEFT_BLOCKING_AT(File_write_at, const, access_at(WRITE))
WEFT_BLOCKING_AT(File_write_at_all, const, by_all(access_at(WRITE)))
WEFT_BLOCKING(File_read, , access_next(READ))
WEFT_BLOCKING(File_read_all, , by_all(access_next(READ)))
WEFT_BLOCKING(File_write, const, access_next(WRITE))
WEFT_BLOCKING(File_write_all, const, by_all(access_next(WRITE)))
WEFT_BLOCKING(File_read_shared, , access_shared(READ))
WEFT_BLOCKING(File_write_shared, const, access_shared(WRITE))
WEFT_BLOCKING(File_read_ordered, , access_ordered(READ))
WEFT_BLOCKING(File_write_ordered, const, access_ordered(WRITE))

WEFT_NONBLOCKING_AT(File_iread_at, , access_at(READ))
WEFT_NONBLOCKING_AT(File_iread_at_all, , by_all(access_at(READ)))
WEFT_NONBLOCKING_AT(File_iwrite_at, const, access_at(WRITE))
WEFT_NONBLOCKING_AT(File_iwrite_at_all, const, by_all(access_at(WRITE)))
WEFT_NONBLOCKING(File_iread, , access_next(READ))
WEFT_NONBLOCKING(File_iread_all, , by_all(access_next(READ)))
WEFT_NONBLOCKING(File_iwrite, const, access_next(WRITE))
WEFT_NONBLOCKING(File_iwrite_all, const, by_all(access_next(WRITE)))
WEFT_NONBLOCKING(File_iread_shared, , access_shared(READ))
WEFT_NONBLOCKING(File_iwrite_shared, const, access_shared(WRITE))

WEFT_SPLIT_AT(File_read_at_all, , by_all(access_at(READ)))
WEFT_SPLIT_AT(File_write_at_all, const, by_all(access_at(WRITE)))
WEFT_SPLIT(File_read_all, , by_all(access_next(READ)))
WEFT_SPLIT(File_write_all, const, by_all(access_next(WRITE)))
WEFT_SPLIT(File_read_ordered, , access_ordered(READ))
WEFT_SPLIT(File_write_ordered, const, access_ordered(WRITE))

} // extern "C"
// NOLINTEND(readability-identifier-naming)
