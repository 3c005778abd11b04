// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/file_effects/opened_files.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/observe/computation_clock.hpp"
#include "binding/observe/profile.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace weft {
namespace {

/** Returns whether a file has been written to since a writer opened it. The system's timestamps alone are too
 * coarse. */
bool has_changed(const FileWriter& writer, const struct stat& now)
{
  return now.st_size != writer.size || now.st_mtim.tv_sec != writer.changed.tv_sec ||
         now.st_mtim.tv_nsec != writer.changed.tv_nsec;
}

/** Returns whether no message can have informed the current rank of a writer's effects. */
bool is_untold(aid_t rank, const FileWriter& writer)
{
  return time_of_rank() <= writer.time || Profile::get().completed_calls(rank) == writer.calls;
}

} // namespace

OpenedFiles& OpenedFiles::get()
{
  static auto* const ALL = new OpenedFiles; // leaked, since ranks may still act while the process ends
  return *ALL;
}

bool OpenedFiles::is_missing(const char* path) const
{
  static const auto ACCESS = next_definition<int (*)(const char*, int)>("access");
  return not by_key_.empty() && ACCESS(path, F_OK) != 0;
}

void OpenedFiles::opens(int descriptor, bool writes, bool makes)
{
  const auto file   = status_of(descriptor);
  const aid_t rank  = current_actor();
  const auto number = static_cast<std::size_t>(descriptor);
  if (not file || not Profile::get().knows(rank))
    return;
  if (number >= by_descriptor_.size())
    by_descriptor_.resize(number + 1);
  by_descriptor_[number] = nullptr;
  if (not S_ISREG(file->st_mode))
    return;
  if (makes) // the inode number may be that of a removed file
    by_key_.erase({file->st_dev, file->st_ino});
  OpenedFile*& known = by_key_[{file->st_dev, file->st_ino}];
  if (not known)
    known = &all_.emplace_back();
  by_descriptor_[number] = known;
  if (writes)
    known->writers[rank] = {file->st_size, file->st_mtim, time_of_rank(), Profile::get().completed_calls(rank)};
}

void OpenedFiles::writes(int descriptor)
{
  const auto number = static_cast<std::size_t>(descriptor);
  if (descriptor < 0 || number >= by_descriptor_.size() || not by_descriptor_[number])
    return;
  const aid_t rank = current_actor();
  auto& writers    = by_descriptor_[number]->writers;
  if (const auto own = writers.find(rank); own != writers.end()) {
    own->second.time  = time_of_rank();
    own->second.calls = Profile::get().completed_calls(rank);
  }
}

void OpenedFiles::closes(int descriptor)
{
  if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < by_descriptor_.size())
    by_descriptor_[static_cast<std::size_t>(descriptor)] = nullptr;
}

void OpenedFiles::destroys(const char* path, const char* verb)
{
  static const auto STAT = next_definition<int (*)(const char*, struct stat*)>("stat");
  struct stat file{};
  if (not noted_ && not by_key_.empty() && path && STAT(path, &file) == 0)
    note_if_destroyed(file, path, verb);
}

void OpenedFiles::destroys(int descriptor, const char* verb)
{
  if (noted_ || by_key_.empty())
    return;
  if (const auto file = status_of(descriptor))
    note_if_destroyed(*file, path_of(descriptor), verb);
}

void OpenedFiles::note_if_destroyed(const struct stat& file, const std::string& path, const char* verb)
{
  const aid_t rank = current_actor();
  const auto known = by_key_.find({file.st_dev, file.st_ino});
  if (known == by_key_.end() || file.st_size == 0 || not Profile::get().knows(rank))
    return;
  const auto& writers = known->second->writers;
  const auto writer   = std::ranges::find_if(writers, [&](const auto& one) {
    return one.first != rank && has_changed(one.second, file) && is_untold(one.first, one.second);
  });
  if (writer == writers.end())
    return;
  noted_ = true;
  std::fprintf(stderr,
               "weft: note: rank %d %s the file %s, in which rank %d has written, and no message between them decides "
               "the order; it is that of simulated time%s\n",
               Profile::get().rank_of(rank), verb, path.c_str(), Profile::get().rank_of(writer->first),
               computation_is_simulated() ? "" : ", of which computation takes none; --host-speed times it");
}

} // namespace weft
