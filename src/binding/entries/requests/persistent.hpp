// SPDX-License-Identifier: LGPL-2.1-only
/* Persistent requests that SMPI lacks: of collectives (MPI 4.1, section 6.13) and of partitioned messages (chapter 4).
 *
 * The program's handle is an inactive persistent SMPI request. MPI_Start creates the active request, which represents a
 * single operation. Functions that complete or test requests get the active request in place of the handle
 * (PersistentScope). */
#pragma once

#include "base/recycling_allocator.hpp"

#include <smpi/smpi.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/** Persistent operation behind a handle. */
class PersistentOperation {
public:
  PersistentOperation()                                      = default;
  PersistentOperation(const PersistentOperation&)            = delete;
  PersistentOperation& operator=(const PersistentOperation&) = delete;
  virtual ~PersistentOperation()                             = default;

  /** Starts the operation. The active request may be MPI_REQUEST_NULL if it is already complete. */
  virtual int start(MPI_Request* active) = 0;
  /** Completes a status of the active request, whose source and tag SMPI does not know. @return false for the status of
   * another request */
  virtual bool complete_status(MPI_Status& /*status*/) const { return false; }
};

/** Creates the handle of an inactive operation. */
int make_persistent(std::unique_ptr<PersistentOperation> operation, MPI_Request* handle);

/** Attaches an operation to a handle, an inactive persistent request. */
void add_persistent(std::unique_ptr<PersistentOperation> operation, MPI_Request handle);

/** Returns the operation behind a handle; null for any other request. */
PersistentOperation* persistent_operation(MPI_Request handle);
/** Returns the active request of an operation; MPI_REQUEST_NULL if it is inactive. */
MPI_Request active_request(MPI_Request handle);

/** Calls @p hook once a function completes @p request, which is not persistent. */
void on_completion(MPI_Request request, std::function<void()> hook);

struct PersistentRequest;

/** Scope in which a list of requests contains active requests in place of persistent handles. */
class PersistentScope {
  /** The program's handle. Once a request is complete, another rank may get one at its address before this scope ends,
   * so the data needed at the end is stored at the beginning. */
  struct Handle {
    MPI_Request handle;
    PersistentRequest* persistent; ///< of an active handle
    std::function<void()> hook;
  };

  std::span<MPI_Request> requests_;
  // Empty if the list contains no operation or hook. A wait for one request allocates no memory.
  std::vector<Handle, RecyclingAllocator<Handle>> handles_;

  // Out of line: programs without such requests never call it.
  [[gnu::noinline]] void replace();
  [[gnu::noinline]] void restore();

  std::span<MPI_Status> statuses_;

public:
  /** @param statuses of the function's requests, at most as many as it may set */
  PersistentScope(int count, MPI_Request* requests, int most_statuses, MPI_Status* statuses);
  PersistentScope(const PersistentScope&)            = delete;
  PersistentScope& operator=(const PersistentScope&) = delete;
  ~PersistentScope()
  {
    if (not handles_.empty())
      restore();
  }
};

// NOLINTBEGIN(readability-identifier-naming): MPI's names
/** Start operations; @p next_definition starts SMPI's requests. */
int persistent_Start(decltype(&PMPI_Start) next_definition, MPI_Request* request);
int persistent_Startall(decltype(&PMPI_Startall) next_definition, int count, MPI_Request* requests);
int persistent_Request_free(decltype(&PMPI_Request_free) next_definition, MPI_Request* request);
// NOLINTEND(readability-identifier-naming)

} // namespace weft
