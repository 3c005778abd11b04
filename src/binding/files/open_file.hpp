// SPDX-License-Identifier: LGPL-2.1-only
/* Open files: the state shared by the ranks of a communicator, and the object behind an MPI_File. */
#pragma once

#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/files/file_steps.hpp"
#include "binding/files/file_store.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/run/request.hpp"
#include "fabric/topology/topology.hpp"
#include "model/storage/file_view.hpp"
#include "model/storage/romio.hpp"
#include "model/storage/striping.hpp"

#include <simgrid/s4u/Engine.hpp>
#include <smpi/smpi.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Counters of a file, for the record. */
struct FileCounters {
  std::int64_t opens         = 0; ///< by ranks
  std::int64_t reads         = 0; ///< calls of ranks
  std::int64_t writes        = 0;
  std::int64_t bytes_read    = 0; ///< by the program
  std::int64_t bytes_written = 0;
  double time                = 0; ///< of accesses, summed over ranks
};

/** Completion of an operation on one rank. */
struct FileCompletion {
  std::int64_t bytes = 0;          ///< number of bytes moved
  std::function<void()> deliver{}; ///< called by the rank at completion; null: the data has been moved
  Sleep sleep{};
  std::shared_ptr<RequestSignal> signal{}; ///< signal of a request; null if the rank sleeps
  FileCounters* counters = nullptr;        ///< counters of its time; null if it is not an access
  double since           = simgrid::s4u::Engine::get_clock();

  /** Called from SimGrid's kernel. */
  void fire()
  {
    if (counters)
      counters->time += simgrid::s4u::Engine::get_clock() - since;
    if (signal)
      signal->fire();
    else
      sleep.wake();
  }
  /** Blocks the calling rank until the completion of an operation without a request. */
  void wait()
  {
    sleep.sleep(SleepsIn::wait);
    if (deliver)
      deliver();
  }
};

/** Collective operation that ranks join. */
struct CollectiveFileCall {
  int missing;
  std::vector<RankPart> parts;                              ///< by rank
  std::vector<std::shared_ptr<FileCompletion>> completions; ///< by rank
  /// By rank, for ordered accesses: gets the rank's position in the file, in etypes, and returns the next rank's.
  std::vector<std::function<std::int64_t(std::int64_t)>> place;

  explicit CollectiveFileCall(std::size_t ranks)
      : missing(static_cast<int>(ranks)), parts(ranks), completions(ranks), place(ranks)
  {
  }
  /** Returns the first rank that has not joined. */
  int first_missing() const { return static_cast<int>(std::ranges::find(completions, nullptr) - completions.begin()); }
};

/** Lock that is granted in FIFO order. */
class FileLock {
  bool held_ = false;
  std::deque<FileSteps::Then> waiting_;

public:
  void take(FileSteps::Then then)
  {
    if (held_)
      waiting_.push_back(std::move(then));
    else {
      held_ = true;
      then();
    }
  }
  void release()
  {
    if (waiting_.empty()) {
      held_ = false;
      return;
    }
    const FileSteps::Then next = std::move(waiting_.front());
    waiting_.pop_front();
    next();
  }
};

/** Open file, shared by the ranks of its communicator. */
struct OpenFile {
  std::string name; ///< as given by the program
  FilePath path;
  StoredFile content;
  int world = 0; ///< world of the job that has opened it
  int mode  = 0;
  FileError opened;               ///< result of opening it
  std::int64_t end = 0;           ///< size in bytes when it was opened, the position for MPI_MODE_APPEND on all ranks
  int result       = MPI_SUCCESS; ///< of the last collective change
  bool on_disk     = false;       ///< on the disks of hosts
  StripeLayout layout{};
  RomioHints hints{};
  std::vector<VertexId> hosts; ///< by rank
  std::int64_t shared_position = 0;
  FileLock lock{}; ///< of the shared pointer
  bool atomic            = false;
  FileCounters* counters = nullptr;
  std::map<std::int64_t, std::shared_ptr<CollectiveFileCall>> calls{}; ///< by number, while ranks are missing

  int size() const { return static_cast<int>(hosts.size()); }
};

/** First fields of the objects behind handles, as in SMPI (F2C in src/smpi/include/smpi_f2c.hpp): Fortran's interface
 * and the list of unfreed handles access them. */
class HandleObject {
public:
  HandleObject()                               = default;
  HandleObject(const HandleObject&)            = delete;
  HandleObject& operator=(const HandleObject&) = delete;
  virtual ~HandleObject();
  virtual std::string name() const = 0;

private:
  int number_   = simgrid::smpi::UNNUMBERED;
  bool deleted_ = false; // NOLINT(clang-diagnostic-unused-private-field): SMPI reads it
  std::string call_location_;
};

/** Object behind an MPI_File. */
class FileHandle : public HandleObject {
public:
  FileHandle(std::shared_ptr<OpenFile> its_file, int its_rank, aid_t its_owner)
      : file(std::move(its_file)), rank(its_rank), owner(its_owner)
  {
    etype->ref();
    filetype->ref();
  }
  ~FileHandle() override;
  std::string name() const override { return "MPI_File: " + file->name; }

  const std::shared_ptr<OpenFile> file;
  const int rank;
  const aid_t owner;         ///< the rank's actor
  std::int64_t position = 0; ///< individual pointer, in etypes
  FileView view;
  MPI_Datatype etype      = MPI_BYTE; ///< holds a reference
  MPI_Datatype filetype   = MPI_BYTE; ///< holds a reference
  std::string data_format = "native";
  MPI_Errhandler handler  = MPI_ERRORS_RETURN; ///< holds a reference
  MPI_Group group         = MPI_GROUP_NULL;    ///< holds a reference
  std::int64_t next_call  = 0;                 ///< number of its next collective call
  std::shared_ptr<FileCompletion> split;       ///< split collective access in progress

  VertexId host() const { return file->hosts[static_cast<std::size_t>(rank)]; }
  bool is_external() const { return data_format == "external32"; }

  MPI_File handle() { return reinterpret_cast<MPI_File>(static_cast<HandleObject*>(this)); }
  static FileHandle& of(MPI_File handle) { return static_cast<FileHandle&>(*reinterpret_cast<HandleObject*>(handle)); }
  /** Sets the view; the types get references. */
  void set_view(std::int64_t displacement, MPI_Datatype its_etype, MPI_Datatype its_filetype, std::string format);
};

} // namespace weft
