// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/file_system.hpp"

#include "binding/observe/json/json_rows.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"
#include "binding/run/run_context.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace weft {
namespace {

FileSystem*& files_of_run()
{
  static FileSystem* all = nullptr;
  return all;
}

/** Returns the directory in which the program runs; the root if it has been removed. */
std::filesystem::path directory_of_run()
{
  std::error_code removed;
  const auto found = std::filesystem::weakly_canonical(settings().files.empty() ? "." : settings().files, removed);
  return removed ? "/" : found;
}

} // namespace

FileSystem::FileSystem(RunContext& its_context) : start_(directory_of_run()), context(its_context) {}

FileSystem* FileSystem::get()
{
  return files_of_run();
}

void FileSystem::serve(RunContext& context)
{
  files_of_run() = new FileSystem(context); // lives as long as the process
  context.record_parts.push_back(files_of_run());
  context.describe_files = [](const ConcernsRank& concerns) { return files_of_run()->describe_waits(concerns); };
}

void FileSystem::require_storage(const char* function) const
{
  if (context.fabric.storage() || context.fabric.disk())
    return;
  const auto rank = rank_here();
  context.abort("unsupported",
                (rank ? "rank " + std::to_string(*rank) : std::string("a thread of the program")) + " called " +
                    function + ", and the fabric " + context.fabric.name() +
                    " has no storage: add a table [storage], a parallel file system on some of its hosts, or [disk], a "
                    "disk at each host, to " +
                    context.fabric.file());
}

StorageNetwork& FileSystem::network()
{
  if (not network_)
    network_ = std::make_unique<StorageNetwork>(context, [this](int world) { forget_steps(world); });
  return *network_;
}

void FileSystem::end_for_full_disk(const FullDiskError& full) const
{
  context.abort("disk-full", "a file of the program could not be written: " + std::string(full.what()) +
                                 "; free some space, or use --files with a directory on another disk");
}

StripeLayout FileSystem::new_layout(const RomioHints& hints)
{
  const Storage& storage = *context.fabric.storage();
  StripeLayout layout;
  layout.stripe_size =
      hints.striping_unit > 0 ? hints.striping_unit : static_cast<std::int64_t>(storage.model.stripe_size.value());
  layout.count =
      std::min(hints.striping_factor > 0 ? hints.striping_factor : storage.model.stripe_count, storage.targets());
  layout.targets = storage.targets();
  layout.first   = next_target_;
  next_target_   = (next_target_ + layout.count) % storage.targets();
  return layout;
}

void FileSystem::place(OpenFile& file)
{
  file.path     = FilePath::of(file.name);
  file.on_disk  = is_on_disk(file.path);
  file.counters = &counters_[file.path.shown(start_)];
  if (file.on_disk)
    return;
  if (not std::filesystem::exists(file.path.whole)) // removed since then, by anyone
    layouts_.erase(file.path.whole);
  const auto known = layouts_.find(file.path.whole);
  file.layout      = known == layouts_.end() ? layouts_[file.path.whole] = new_layout(file.hints) : known->second;
}

bool FileSystem::is_on_disk(const FilePath& path) const
{
  const auto& disk = context.fabric.disk();
  return disk && (not context.fabric.storage() || path.is_below(disk->mount));
}

FileHandle& FileSystem::add_handle(std::shared_ptr<OpenFile> file, int rank)
{
  auto* const handle = new FileHandle(std::move(file), rank, current_actor());
  handles_.insert(handle->handle());
  return *handle;
}

void FileSystem::remove_handle(FileHandle& handle)
{
  handles_.erase(handle.handle());
  delete &handle;
}

void FileSystem::begin(const std::shared_ptr<FileSteps>& steps, FileSteps::Then at_end)
{
  const int world = context.jobs.world_of_current_rank();
  ++steps_[world];
  context.host_network().message_leaves();
  network().after(Seconds(), [this, world, steps, at_end = std::move(at_end)] {
    steps->run([this, world, at_end] {
      end_steps(world);
      at_end();
    });
  });
}

void FileSystem::end_steps(int world)
{
  int& steps = steps_[world];
  if (steps == 0) // the job has failed meanwhile
    return;
  --steps;
  context.host_network().message_ends();
}

/** Drops the count of a failed job's steps: those with the failed access, and those that wait for them, never end. */
void FileSystem::forget_steps(int world)
{
  while (steps_[world] > 0)
    end_steps(world);
}

void FileSystem::access(const OpenFile& file, VertexId host, bool write, const Extents& extents, FileSteps& steps)
{
  const auto start = [&](bool on_disk, const TargetPart& part) {
    DeviceCounters& counters = devices_[{on_disk, part.target}];
    (write ? counters.bytes_written : counters.bytes_read) += part.bytes;
    counters.requests += part.requests;
    if (on_disk)
      network().access_disk(file.world, host, write, part, steps.branch());
    else
      network().access_target(file.world, host, write, part, steps.branch());
  };
  if (file.on_disk)
    start(true, {host, bytes_of(extents), static_cast<std::int64_t>(extents.size())});
  else
    for (const TargetPart& part : split_over_targets(file.layout, extents))
      start(false, part);
}

void FileSystem::flush(const OpenFile& file, VertexId host, FileSteps& steps)
{
  if (file.on_disk)
    network().access_disk(file.world, host, true, {host, 0, 1}, steps.branch());
  else
    for (int place = 0; place < file.layout.count; ++place)
      network().access_target(file.world, host, true, {file.layout.target(place), 0, 1}, steps.branch());
}

void FileSystem::ask_metadata(const OpenFile& file, VertexId host, Seconds StorageModel::* latency, FileSteps& steps)
{
  if (not file.on_disk)
    network().ask_metadata(host, context.fabric.storage()->model.*latency, steps.branch());
}

std::string FileSystem::describe_waits(const ConcernsRank& concerns) const
{
  std::set<const OpenFile*> open;
  for (const MPI_File handle : handles_)
    if (const FileHandle& its = FileHandle::of(handle); concerns(its.owner))
      open.insert(its.file.get());
  std::map<std::string, std::string> by_name; // so that the order does not depend on addresses
  for (const OpenFile* file : open)
    for (const auto& [number, call] : file->calls)
      by_name[file->name] += " A collective call of the file " + file->name + " waits for " +
                             std::to_string(call->missing) + " of its " + std::to_string(file->size()) +
                             " ranks; the first of them is rank " + std::to_string(call->first_missing()) +
                             " of its communicator.";
  std::string all;
  for (const auto& [name, text] : by_name)
    all += text;
  return all;
}

void FileSystem::add_rows(Json& record) const
{
  if (counters_.empty())
    return;
  record["files"]   = rows_of(counters_, [](const auto& entry) -> Json {
    const FileCounters& its = entry.second;
    return {{"name", entry.first},  {"opens", its.opens},           {"reads", its.reads},
            {"writes", its.writes}, {"bytes_read", its.bytes_read}, {"bytes_written", its.bytes_written},
            {"time_s", its.time}};
  });
  record["storage"] = rows_of(devices_, [this](const auto& entry) -> Json {
    const auto& [on_disk, number] = entry.first;
    const int host = on_disk ? number : context.fabric.storage()->host_of[static_cast<std::size_t>(number)];
    return {{"target", on_disk ? Json() : Json(number)},
            {"host", context.fabric.topology().host_name(host)},
            {"requests", entry.second.requests},
            {"bytes_read", entry.second.bytes_read},
            {"bytes_written", entry.second.bytes_written}};
  });
}

} // namespace weft
