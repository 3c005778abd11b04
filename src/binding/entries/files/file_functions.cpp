// SPDX-License-Identifier: LGPL-2.1-only
/* Functions that open, close, delete and describe files (MPI 4.1, sections 14.2, 14.5, 14.6). */
#include "binding/entries/files/file_functions.hpp"

#include "binding/abi/smpi/error_handlers.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/data/elements.hpp"
#include "binding/files/collective_access.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/run/run_context.hpp"

#include <array>
#include <simgrid/s4u/Actor.hpp>

namespace weft {

void read_hints(MPI_Info info, RomioHints& hints)
{
  if (info == MPI_INFO_NULL)
    return;
  for (const std::string& key : RomioHints::keys()) {
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    PMPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, value.data(), &found);
    if (found != 0)
      hints.set(key, value.data());
  }
}

namespace {

int check_mode(int mode)
{
  const int ways =
      int{has_mode(mode, MPI_MODE_RDONLY)} + int{has_mode(mode, MPI_MODE_WRONLY)} + int{has_mode(mode, MPI_MODE_RDWR)};
  if (ways != 1)
    return wrong(MPI_ERR_AMODE, "the mode has not one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
  if (has_mode(mode, MPI_MODE_RDONLY) && (has_mode(mode, MPI_MODE_CREATE) || has_mode(mode, MPI_MODE_EXCL)))
    return wrong(MPI_ERR_AMODE, "the mode has MPI_MODE_RDONLY with MPI_MODE_CREATE or MPI_MODE_EXCL");
  if (has_mode(mode, MPI_MODE_RDWR) && has_mode(mode, MPI_MODE_SEQUENTIAL))
    return wrong(MPI_ERR_AMODE, "the mode has MPI_MODE_RDWR with MPI_MODE_SEQUENTIAL");
  return MPI_SUCCESS;
}

std::shared_ptr<OpenFile> make_open_file(FileSystem& files, MPI_Comm comm, const char* name, int mode, MPI_Info info)
{
  auto file   = std::make_shared<OpenFile>();
  file->name  = name;
  file->mode  = mode;
  file->world = files.context.jobs.world_of_current_rank();
  read_hints(info, file->hints);
  for (const aid_t member : members_of(comm))
    file->hosts.push_back(files.context.network.vertex_of(simgrid::s4u::Actor::by_pid(member)->get_host()));
  files.place(*file);
  return file;
}

/** Adds the requests that open a file: if it is created, the first rank's request precedes all others. */
void add_opens(FileSystem& files, const std::shared_ptr<OpenFile>& file, FileSteps& steps)
{
  const bool created = has_mode(file->mode, MPI_MODE_CREATE);
  if (created) {
    steps.then([&files, file](FileSteps& now) {
      files.ask_metadata(*file, file->hosts.front(), &StorageModel::open_latency, now);
    });
    add_agreement(files, file, steps);
  }
  steps.then([&files, file, created](FileSteps& now) {
    for (std::size_t rank = created ? 1 : 0; rank < file->hosts.size(); ++rank)
      files.ask_metadata(*file, file->hosts[rank], &StorageModel::open_latency, now);
  });
  if (not created || file->size() > 1)
    add_agreement(files, file, steps);
}

/** Adds a request of the first rank to the metadata server, whose result the other ranks receive. */
void add_change(FileSystem& files, const std::shared_ptr<OpenFile>& file, FileSteps& steps)
{
  steps.then([&files, file](FileSteps& now) {
    files.ask_metadata(*file, file->hosts.front(), &StorageModel::open_latency, now);
  });
  add_agreement(files, file, steps);
}

int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* made)
{
  const InMpi inside;
  FileSystem& files = *FileSystem::get();
  if (const int result = first_error([&] { return check_comm(comm); }, [&] { return check_intracommunicator(comm); },
                                     [&] { return check_present(name, "filename"); },
                                     [&] { return check_present(made, "fh"); }, [&] { return check_mode(mode); });
      result != MPI_SUCCESS)
    return result;
  files.require_storage("MPI_File_open");
  const Place place = place_in(comm);
  const auto file =
      files.join_opening(comm, place.rank, place.size, [&] { return make_open_file(files, comm, name, mode, info); });
  FileHandle& handle = files.add_handle(file, place.rank);
  take_part(files, handle, [&](FileSteps& steps) {
    file->opened = files.with_disk([&] { return file->content.open(file->path.opened, file->mode); });
    if (file->opened.code == MPI_SUCCESS && has_mode(file->mode, MPI_MODE_APPEND))
      file->shared_position = file->end = file->content.size();
    add_opens(files, file, steps);
  });
  if (file->opened.code != MPI_SUCCESS) {
    files.remove_handle(handle);
    return wrong(file->opened.code, file->opened.text);
  }
  if (file->mode != mode) {
    files.remove_handle(handle);
    return wrong(MPI_ERR_NOT_SAME, "ranks open " + file->name + " with different modes");
  }
  ++file->counters->opens;
  handle.handler = default_file_handler();
  handle.handler->ref();
  PMPI_Comm_group(comm, &handle.group);
  handle.position = file->end; // 0 unless MPI_MODE_APPEND
  *made           = handle.handle();
  return MPI_SUCCESS;
}

int close_file(MPI_File* file)
{
  if (const int result = check_present(file, "fh"); result != MPI_SUCCESS)
    return result;
  return on_file(*file, [file](FileSystem& files, FileHandle& handle) {
    if (handle.split)
      return wrong(MPI_ERR_OTHER, "a split collective access of the file has not ended");
    const auto open = handle.file;
    take_part(files, handle, [&](FileSteps& steps) {
      open->content.close();
      if (has_mode(open->mode, MPI_MODE_DELETE_ON_CLOSE))
        files.with_disk([&] { return remove_file(open->path.opened); });
      steps.then([&files, open](FileSteps& now) {
        for (const VertexId host : open->hosts)
          files.ask_metadata(*open, host, &StorageModel::close_latency, now);
      });
      add_barrier(files, open, steps);
    });
    files.remove_handle(handle);
    *file = MPI_FILE_NULL;
    return static_cast<int>(MPI_SUCCESS);
  });
}

int delete_file(const char* name)
{
  const InMpi inside;
  FileSystem& files = *FileSystem::get();
  if (const int result = check_present(name, "filename"); result != MPI_SUCCESS)
    return result;
  files.require_storage("MPI_File_delete");
  OpenFile file;
  file.name             = name;
  file.path             = FilePath::of(name);
  file.on_disk          = files.is_on_disk(file.path);
  const FileError error = files.with_disk([&] { return remove_file(file.path.opened); });
  if (error.code != MPI_SUCCESS)
    return wrong(error.code, error.text);
  const VertexId host = files.context.network.vertex_of(simgrid::s4u::this_actor::get_host());
  take_steps(files, [&](FileSteps& steps) {
    steps.then([&](FileSteps& now) { files.ask_metadata(file, host, &StorageModel::open_latency, now); });
  });
  return MPI_SUCCESS;
}

/** Changes the size of a file; @p only_grows: MPI_File_preallocate. */
int resize_file(MPI_File file, MPI_Offset size, bool only_grows)
{
  return on_file(file, [size, only_grows](FileSystem& files, FileHandle& handle) {
    if (size < 0)
      return wrong_number(MPI_ERR_ARG, "the size", size, "from 0 on");
    if (const int result = first_error([&] { return check_writable(handle); },
                                       [&] { return only_grows ? check_not_sequential(handle) : MPI_SUCCESS; });
        result != MPI_SUCCESS)
      return result;
    const auto open = handle.file;
    take_part(files, handle, [&](FileSteps& steps) {
      open->result = MPI_SUCCESS;
      if (not only_grows || size > open->content.size())
        open->result = files.with_disk([&] { return open->content.resize(size); });
      add_change(files, open, steps);
    });
    return open->result;
  });
}

int give_info(const FileHandle& handle, MPI_Info* info)
{
  if (const int result = check_present(info, "info_used"); result != MPI_SUCCESS)
    return result;
  PMPI_Info_create(info);
  for (const auto& [key, value] : handle.file->hints.list())
    PMPI_Info_set(*info, key.c_str(), value.c_str());
  return MPI_SUCCESS;
}

int change_info(MPI_File file, MPI_Info info)
{
  return on_file(file, [info](FileSystem& files, FileHandle& handle) {
    if (info == MPI_INFO_NULL)
      return wrong(MPI_ERR_INFO, "the info is MPI_INFO_NULL");
    take_part(files, handle, [&](FileSteps& steps) {
      read_hints(info, handle.file->hints); // once all ranks have entered
      add_barrier(files, handle.file, steps);
    });
    return static_cast<int>(MPI_SUCCESS);
  });
}

int change_atomicity(MPI_File file, bool atomic)
{
  return on_file(file, [atomic](FileSystem& files, FileHandle& handle) {
    take_part(files, handle, [&](FileSteps& steps) {
      handle.file->atomic = atomic;
      add_barrier(files, handle.file, steps);
    });
    return static_cast<int>(MPI_SUCCESS);
  });
}

int sync_file(MPI_File file)
{
  return on_file(file, [](FileSystem& files, FileHandle& handle) {
    const auto open = handle.file;
    take_part(files, handle, [&](FileSteps& steps) {
      steps.then([&files, open](FileSteps& now) {
        for (const VertexId host : open->hosts)
          files.flush(*open, host, now);
      });
      add_barrier(files, open, steps);
    });
    return static_cast<int>(MPI_SUCCESS);
  });
}

int ask_size(MPI_File file, MPI_Offset* size)
{
  return answer(file, size, "size",
                [](FileSystem& /*files*/, FileHandle& handle) { return handle.file->content.size(); });
}

template <class Length> int ask_type_extent(MPI_File file, MPI_Datatype type, Length* extent)
{
  return on_file(file, [&](FileSystem& /*files*/, FileHandle& /*handle*/) {
    const int result = first_error([&] { return check_type(type); }, [&] { return check_present(extent, "extent"); });
    if (result == MPI_SUCCESS)
      *extent = extent_of(type);
    return result;
  });
}

int ask_group(MPI_File file, MPI_Group* group)
{
  return answer(file, group, "group", [](FileSystem& /*files*/, FileHandle& handle) {
    handle.group->ref();
    return handle.group;
  });
}

int refuse_representation()
{
  return wrong(MPI_ERR_UNSUPPORTED_DATAREP, "weft has the data representations native, internal and external32 only");
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_FILE_CALL(File_open, MPI_FILE_NULL, (MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh),
               open_file(comm, filename, amode, info, fh), comm, filename, amode, info, fh)
WEFT_FILE_CALL(File_close, fh ? *fh : MPI_FILE_NULL, (MPI_File * fh), close_file(fh), fh)
WEFT_FILE_CALL(File_delete, MPI_FILE_NULL, (const char* filename, MPI_Info info), delete_file(filename), filename, info)
WEFT_FILE_CALL(File_set_size, fh, (MPI_File fh, MPI_Offset size), resize_file(fh, size, false), fh, size)
WEFT_FILE_CALL(File_preallocate, fh, (MPI_File fh, MPI_Offset size), resize_file(fh, size, true), fh, size)
WEFT_FILE_CALL(File_get_size, fh, (MPI_File fh, MPI_Offset* size), ask_size(fh, size), fh, size)
WEFT_FILE_QUERY(File_get_group, fh, (MPI_File fh, MPI_Group* group), ask_group(fh, group), fh, group)
WEFT_FILE_QUERY(File_get_amode, fh, (MPI_File fh, int* amode),
                answer(fh, amode, "amode", [](FileSystem& /*files*/, FileHandle& handle) { return handle.file->mode; }),
                fh, amode)
WEFT_FILE_CALL(File_set_info, fh, (MPI_File fh, MPI_Info info), change_info(fh, info), fh, info)
WEFT_FILE_QUERY(File_get_info, fh, (MPI_File fh, MPI_Info* info),
                on_file(fh, [info](FileSystem& /*files*/, FileHandle& handle) { return give_info(handle, info); }), fh,
                info)
WEFT_FILE_QUERY(File_get_type_extent, fh, (MPI_File fh, MPI_Datatype datatype, MPI_Aint* extent),
                ask_type_extent(fh, datatype, extent), fh, datatype, extent)
WEFT_FILE_CALL(File_set_atomicity, fh, (MPI_File fh, int flag), change_atomicity(fh, flag != 0), fh, flag)
WEFT_FILE_QUERY(File_get_atomicity, fh, (MPI_File fh, int* flag),
                answer(fh, flag, "flag",
                       [](FileSystem& /*files*/, FileHandle& handle) { return handle.file->atomic ? 1 : 0; }),
                fh, flag)
WEFT_FILE_CALL(File_sync, fh, (MPI_File fh), sync_file(fh), fh)

WEFT_INTERPOSED int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent)
{
  if (FileSystem::get())
    return ask_type_extent(fh, datatype, extent);
  MPI_Aint small   = 0;
  const int result = PMPI_File_get_type_extent(fh, datatype, &small);
  *extent          = small;
  return result;
}
WEFT_INTERPOSED int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent)
{
  const int result = PMPI_File_get_type_extent_c(fh, datatype, extent);
  return FileSystem::get() ? handled_by_file(fh, "MPI_File_get_type_extent_c", result) : result;
}

WEFT_INTERPOSED int PMPI_Register_datarep(char* /*datarep*/, MPI_Datarep_conversion_function* /*read*/,
                                          MPI_Datarep_conversion_function* /*write*/,
                                          MPI_Datarep_extent_function* /*extent*/, void* /*state*/)
{
  return refuse_representation();
}
WEFT_FILE_HANDLED(Register_datarep, MPI_FILE_NULL,
                  (char* datarep, MPI_Datarep_conversion_function* read, MPI_Datarep_conversion_function* write,
                   MPI_Datarep_extent_function* extent, void* state),
                  datarep, read, write, extent, state)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
