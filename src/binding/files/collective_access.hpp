// SPDX-License-Identifier: LGPL-2.1-only
/* Timing of accesses: of one rank, and of all ranks together, as in ROMIO. */
#pragma once

#include "binding/files/file_system.hpp"

namespace weft {

/** Adds the accesses of one rank in sequence. */
void add_accesses(FileSystem& files, const std::shared_ptr<const OpenFile>& file, VertexId host, bool write,
                  std::vector<DeviceAccess> accesses, FileSteps& steps);

/** Adds a read and write of the shared pointer by one rank, while the file is locked. */
void add_shared_pointer(FileSystem& files, std::shared_ptr<OpenFile> file, VertexId host, FileSteps& steps);

/** Adds an exchange among all ranks of a file in log2(p) rounds; @p bytes (k) are sent in round k. */
void add_exchange(FileSystem& files, const std::shared_ptr<OpenFile>& file, const std::function<double(int)>& bytes,
                  FileSteps& steps);
/** Adds an exchange without data: a barrier. */
void add_barrier(FileSystem& files, const std::shared_ptr<OpenFile>& file, FileSteps& steps);
/** Adds an exchange of an error code: an Allreduce of four bytes. */
void add_agreement(FileSystem& files, const std::shared_ptr<OpenFile>& file, FileSteps& steps);

/** Starts a collective access that all ranks have joined. */
void begin_collective_access(FileSystem& files, const std::shared_ptr<OpenFile>& file,
                             const std::shared_ptr<CollectiveFileCall>& call, bool write, bool ordered);

} // namespace weft
