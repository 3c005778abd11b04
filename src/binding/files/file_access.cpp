// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/file_access.hpp"

#include "binding/data/elements.hpp"
#include "binding/files/collective_access.hpp"
#include "binding/files/type_extents.hpp"

#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Data of a program, as consecutive bytes in the file's format. */
class FileData {
  FileBuffer buffer_;
  bool external_;
  Extents pieces_; // of an element
  MPI_Aint extent_;
  std::int64_t bytes_;

public:
  FileData(const FileBuffer& buffer, bool external)
      : buffer_(buffer), external_(external), pieces_(extents_of(buffer.type)), extent_(extent_of(buffer.type)),
        bytes_(buffer.count * bytes_of(pieces_))
  {
  }

  std::int64_t bytes() const { return bytes_; }
  bool is_contiguous() const
  {
    return bytes_ == 0 || (pieces_.size() == 1 && (buffer_.count == 1 || pieces_.front().length == extent_));
  }

  /** Calls @p use with the data. */
  template <class Use> int get(Use&& use) const
  {
    if (is_contiguous() && not external_)
      return use(std::span<const std::byte>(contiguous()));
    std::vector<std::byte> packed(static_cast<std::size_t>(bytes_));
    if (external_)
      convert(packed, PMPI_Pack_external);
    else
      each_piece([&packed](std::byte* piece, std::int64_t at, std::size_t length) {
        std::memcpy(packed.data() + at, piece, length);
      });
    return use(std::span<const std::byte>(packed));
  }

  /** Calls @p fill with memory for the data; @p fill returns the number of bytes that it has set. */
  template <class Fill> int set(Fill&& fill, std::int64_t& bytes)
  {
    if (is_contiguous() && not external_)
      return fill(contiguous(), bytes);
    std::vector<std::byte> packed(static_cast<std::size_t>(bytes_));
    const int result = fill(std::span<std::byte>(packed), bytes);
    if (result != MPI_SUCCESS)
      return result;
    if (external_)
      read_external(packed, bytes);
    else
      each_piece([&packed, bytes](std::byte* piece, std::int64_t at, std::size_t length) {
        if (at < bytes)
          std::memcpy(piece, packed.data() + at, std::min(length, static_cast<std::size_t>(bytes - at)));
      });
    return result;
  }

private:
  std::span<std::byte> contiguous() const
  {
    const MPI_Aint first = pieces_.empty() ? 0 : pieces_.front().offset;
    return {static_cast<std::byte*>(moved(buffer_.address, first)), static_cast<std::size_t>(bytes_)};
  }
  template <class Visit> void each_piece(Visit&& visit) const
  {
    std::int64_t at = 0;
    for (std::int64_t element = 0; element < buffer_.count; ++element)
      for (const Extent& piece : pieces_) {
        visit(static_cast<std::byte*>(moved(buffer_.address, element * extent_ + piece.offset)), at,
              static_cast<std::size_t>(piece.length));
        at += piece.length;
      }
  }
  template <class Pack> void convert(std::vector<std::byte>& packed, Pack&& pack) const
  {
    char format[]     = "external32"; // NOLINT(modernize-avoid-c-arrays): SMPI's parameter is no const
    MPI_Aint position = 0;
    pack(format, buffer_.address, static_cast<int>(buffer_.count), buffer_.type, packed.data(), bytes_, &position);
  }
  void read_external(std::vector<std::byte>& packed, std::int64_t bytes) const
  {
    char format[]               = "external32"; // NOLINT(modernize-avoid-c-arrays)
    MPI_Aint position           = 0;
    const std::int64_t elements = bytes / std::max(std::int64_t{1}, bytes_of(pieces_));
    PMPI_Unpack_external(format, packed.data(), bytes_, &position, buffer_.address, static_cast<int>(elements),
                         buffer_.type);
  }
};

/** Returns the first @p bytes of extents. */
Extents first_bytes(Extents extents, std::int64_t bytes)
{
  for (std::size_t one = 0; one < extents.size(); ++one) {
    if (extents[one].length >= bytes) {
      extents[one].length = bytes;
      extents.resize(bytes > 0 ? one + 1 : one);
      break;
    }
    bytes -= extents[one].length;
  }
  return extents;
}

/** Executes an access at a known position: moves its data, and returns the access as seen by the storage. */
int move_data(FileSystem& files, const FileHandle& handle, bool write, std::int64_t position, FileData& data,
              RankPart& part, std::int64_t& bytes)
{
  OpenFile& file   = *handle.file;
  Extents extents  = handle.view.extents(position * handle.view.etype_size(), data.bytes());
  bytes            = data.bytes();
  const int result = files.with_disk([&] {
    if (write)
      return data.get([&](std::span<const std::byte> from) { return file.content.write(extents, from); });
    return data.set([&](std::span<std::byte> to, std::int64_t& read) { return file.content.read(extents, to, read); },
                    bytes);
  });
  if (result != MPI_SUCCESS)
    return result;
  ++(write ? file.counters->writes : file.counters->reads);
  (write ? file.counters->bytes_written : file.counters->bytes_read) += bytes;
  part.extents           = write ? std::move(extents) : first_bytes(std::move(extents), bytes);
  part.contiguous_memory = data.is_contiguous();
  return result;
}

/** Returns the position of an access in etypes, and advances the pointer that determines it. */
std::int64_t take_position(FileHandle& handle, FilePointer pointer, MPI_Offset given, std::int64_t etypes)
{
  switch (pointer) {
    case FilePointer::individual:
      return std::exchange(handle.position, handle.position + etypes);
    case FilePointer::shared:
      return std::exchange(handle.file->shared_position, handle.file->shared_position + etypes);
    default:
      return given;
  }
}

/** Joins an ordered access, whose position is known once all ranks have joined. A read gets its data at the end. */
std::shared_ptr<FileCompletion> start_ordered(FileSystem& files, FileHandle& handle, bool write, FileData data,
                                              std::int64_t etypes)
{
  // Written data is copied, since the last rank writes it.
  struct Ordered {
    FileData data;
    std::vector<std::byte> written;
    std::int64_t position = 0;
  };
  const auto its = std::make_shared<Ordered>(Ordered{std::move(data), {}});
  if (write)
    its->data.get([&its](std::span<const std::byte> from) {
      its->written.assign(from.begin(), from.end());
      return MPI_SUCCESS;
    });
  const auto file = handle.file;
  return join_call(
      handle, false,
      [&](CollectiveFileCall& call, const std::shared_ptr<FileCompletion>& completion) {
        call.place[static_cast<std::size_t>(handle.rank)] = [&files, &handle, &call, its, write, etypes,
                                                             completion = completion.get()](std::int64_t position) {
          RankPart& part         = call.parts[static_cast<std::size_t>(handle.rank)];
          its->position          = position;
          part.contiguous_memory = its->data.is_contiguous();
          part.extents           = handle.view.extents(position * handle.view.etype_size(), its->data.bytes());
          if (write) {
            files.with_disk([&] { return handle.file->content.write(part.extents, its->written); });
            completion->bytes = its->data.bytes();
            ++handle.file->counters->writes;
            handle.file->counters->bytes_written += completion->bytes;
          } else {
            const std::int64_t size = handle.file->content.size();
            std::int64_t there      = 0;
            for (const Extent& extent : part.extents)
              there += std::clamp(size - extent.offset, std::int64_t{0}, extent.length);
            part.extents = first_bytes(std::move(part.extents), there);
          }
          return position + etypes;
        };
        completion->counters = file->counters;
        if (not write)
          completion->deliver = [&files, &handle, its, completion = completion.get()] {
            RankPart part;
            move_data(files, handle, false, its->position, its->data, part, completion->bytes);
          };
      },
      [&](const std::shared_ptr<CollectiveFileCall>& call) {
        for (const auto& place : call->place)
          file->shared_position = place(file->shared_position);
        begin_collective_access(files, file, call, write, true);
      });
}

} // namespace

int start_access(FileSystem& files, FileHandle& handle, const FileAccess& how, MPI_Offset offset,
                 const FileBuffer& buffer, std::shared_ptr<FileCompletion>& into)
{
  FileData data(buffer, handle.is_external());
  const std::int64_t etypes = data.bytes() / handle.view.etype_size();
  if (how.pointer == FilePointer::ordered) {
    into = start_ordered(files, handle, how.write, std::move(data), etypes);
    return MPI_SUCCESS;
  }
  const std::int64_t position = take_position(handle, how.pointer, offset, etypes);
  RankPart part;
  std::int64_t bytes = 0;
  const int result   = move_data(files, handle, how.write, position, data, part, bytes);
  if (result != MPI_SUCCESS && not how.collective)
    return result;
  const auto file = handle.file;
  if (how.collective) {
    into = join_call(
        handle, how.as_request,
        [&](CollectiveFileCall& call, const std::shared_ptr<FileCompletion>& completion) {
          completion->counters                              = file->counters;
          part.host                                         = handle.host();
          call.parts[static_cast<std::size_t>(handle.rank)] = std::move(part);
        },
        [&](const std::shared_ptr<CollectiveFileCall>& call) {
          begin_collective_access(files, file, call, how.write, false);
        });
    into->bytes = result == MPI_SUCCESS ? bytes : 0;
    return result; // all other ranks wait for this rank too
  }
  into             = std::make_shared<FileCompletion>();
  into->bytes      = bytes;
  into->counters   = file->counters;
  into->signal     = how.as_request ? std::make_shared<RequestSignal>() : nullptr;
  const auto steps = FileSteps::make();
  if (how.pointer == FilePointer::shared)
    add_shared_pointer(files, file, handle.host(), *steps);
  add_accesses(files, file, handle.host(), how.write,
               independent_accesses(part.extents, how.write, part.contiguous_memory, file->hints), *steps);
  files.begin(steps, [completion = into] { completion->fire(); });
  return MPI_SUCCESS;
}

} // namespace weft
