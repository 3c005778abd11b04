// SPDX-License-Identifier: LGPL-2.1-only
/* Access of a rank to an open file: its position, its data, its start. */
#pragma once

#include "binding/files/file_system.hpp"

#include <smpi/smpi.h>

namespace weft {

/** Pointer that determines the position of an access. */
enum class FilePointer { given, individual, shared, ordered };

/** Kind of access. */
struct FileAccess {
  bool write;
  FilePointer pointer;
  bool collective;
  bool as_request = false; ///< true if completion completes a request
};

/** Buffer of a program. */
struct FileBuffer {
  void* address;
  std::int64_t count;
  MPI_Datatype type;
};

/** Joins the next collective call of a file. @p begin is called once all ranks have joined, in the turn of the last
 * one. */
template <class Join, class Begin>
std::shared_ptr<FileCompletion> join_call(FileHandle& handle, bool as_request, Join&& join, Begin&& begin)
{
  OpenFile& file          = *handle.file;
  const std::int64_t next = handle.next_call++;
  auto& call              = file.calls[next];
  if (not call)
    call = std::make_shared<CollectiveFileCall>(file.hosts.size());
  const auto rank         = static_cast<std::size_t>(handle.rank);
  auto completion         = std::make_shared<FileCompletion>();
  completion->signal      = as_request ? std::make_shared<RequestSignal>() : nullptr;
  call->completions[rank] = completion;
  call->parts[rank].host  = handle.host();
  join(*call, completion);
  if (--call->missing == 0) {
    const auto complete = call;
    file.calls.erase(next);
    begin(complete);
  }
  return completion;
}

/** Starts an access. @p offset: in etypes, if given. @return the error class; on error, @p into is set only for
 * collective accesses, which still complete on all ranks together */
int start_access(FileSystem& files, FileHandle& handle, const FileAccess& how, MPI_Offset offset,
                 const FileBuffer& buffer, std::shared_ptr<FileCompletion>& into);

} // namespace weft
