// SPDX-License-Identifier: LGPL-2.1-only
/* Files of a run on a fabric: their content, their handles, the network that serves them, and their rows in the
 * record. */
#pragma once

#include "binding/abi/smpi/groups.hpp"
#include "binding/files/file_store.hpp"
#include "binding/files/open_file.hpp"
#include "binding/files/storage_network.hpp"
#include "binding/observe/record_part.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/places.hpp"
#include "binding/run/diagnosis.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

namespace weft {

class RunContext;

/** Traffic of a storage target, or of the disk of a host. */
struct DeviceCounters {
  std::int64_t bytes_read    = 0;
  std::int64_t bytes_written = 0;
  std::int64_t requests      = 0;
};

class FileSystem : public RecordPart {
  std::filesystem::path start_;             // directory in which the ranks start
  std::unique_ptr<StorageNetwork> network_; // created for the first file
  std::map<int, int> steps_;                // in progress, by world of their jobs
  std::map<std::string, FileCounters> counters_;
  std::map<std::string, StripeLayout> layouts_;            // of files that the program has created
  std::map<std::pair<bool, int>, DeviceCounters> devices_; // by (true for a disk, its number)
  int next_target_ = 0;
  std::set<MPI_File> handles_;
  using Opening = std::pair<int, aid_t>; // number of the communicator, its first member
  std::map<Opening, AgreementSlots<std::shared_ptr<OpenFile>>> openings_;

public:
  RunContext& context;

  explicit FileSystem(RunContext& its_context);
  /** Returns the files of the run; null on SimGrid's platforms, where SMPI handles them. */
  static FileSystem* get();
  /** Serves the files of a run on a fabric. */
  static void serve(RunContext& context);

  /** Aborts the run unless the fabric has storage. @p function: the function that needs it. */
  void require_storage(const char* function) const;
  StorageNetwork& network();
  /** Calls @p move, which uses a file of this machine; aborts the run if the machine's disk is full. */
  template <class Move> auto with_disk(Move&& move)
  {
    try {
      return move();
    } catch (const FullDiskError& full) {
      end_for_full_disk(full);
    }
  }

  /** Returns the file that the ranks of a communicator open together; the first of them creates it with @p make. */
  template <class Make> std::shared_ptr<OpenFile> join_opening(MPI_Comm comm, int rank, int size, Make&& make);
  /** Decides the location of a file, by its name and hints, and its striping. */
  void place(OpenFile& file);
  /** Returns whether a file is on the hosts' disks rather than on the parallel file system. */
  bool is_on_disk(const FilePath& path) const;

  FileHandle& add_handle(std::shared_ptr<OpenFile> file, int rank);
  void remove_handle(FileHandle& handle);
  bool knows(MPI_File handle) const { return handles_.contains(handle); }

  /** Begins steps within a rank's turn, without ending it. The network counts them as a message of the rank's job until
   * they end, or the job fails. */
  void begin(const std::shared_ptr<FileSteps>& steps, FileSteps::Then at_end);
  /** Starts a request of a host for extents of a file, as parts of the current step. */
  void access(const OpenFile& file, VertexId host, bool write, const Extents& extents, FileSteps& steps);
  /** Starts a request without data of a host to each target of a file, as parts of the current step. */
  void flush(const OpenFile& file, VertexId host, FileSteps& steps);
  /** Starts a request to the metadata server, as part of the current step; for a file on a disk, no request is
   * needed. */
  void ask_metadata(const OpenFile& file, VertexId host, Seconds StorageModel::* latency, FileSteps& steps);

  /** Describes the collective file calls in which the ranks that @p concerns accepts wait, as sentences with a leading
   * space. */
  std::string describe_waits(const ConcernsRank& concerns) const;

  void add_rows(Json& record) const override;

private:
  void end_steps(int world);
  void forget_steps(int world);
  [[noreturn]] void end_for_full_disk(const FullDiskError& full) const;
  StripeLayout new_layout(const RomioHints& hints);
};

template <class Make> std::shared_ptr<OpenFile> FileSystem::join_opening(MPI_Comm comm, int rank, int size, Make&& make)
{
  if (size == 1)
    return make();
  auto& slots       = openings_[{number_of(comm), group_of(comm)->actor(0)}];
  const auto place  = slots.join(rank, size, make);
  const auto opened = place->shared;
  slots.leave(place);
  return opened;
}

} // namespace weft
