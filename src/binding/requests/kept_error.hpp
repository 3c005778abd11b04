// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "binding/abi/smpi/requests.hpp"

#include <smpi/smpi.h>

namespace weft {

/** Scope that preserves the error field of a status: only functions that complete several requests change it (MPI 4.1,
 * 3.2.5), and the empty status has none. SMPI always changes it. */
class KeptError {
  MPI_Status* status_;
  int error_;

public:
  explicit KeptError(MPI_Status* status)
      : status_(status), error_(status == MPI_STATUS_IGNORE ? static_cast<int>(MPI_SUCCESS) : status->MPI_ERROR)
  {
  }
  /** For the status of a request; it is empty if the request is not active. */
  KeptError(MPI_Status* status, const MPI_Request* request)
      : KeptError(request && simgrid::smpi::is_active(*request) ? status : MPI_STATUS_IGNORE)
  {
  }
  KeptError(const KeptError&)            = delete;
  KeptError& operator=(const KeptError&) = delete;
  /** Stops preserving the field, because the status is empty. */
  void drop() { status_ = MPI_STATUS_IGNORE; }
  ~KeptError()
  {
    if (status_ != MPI_STATUS_IGNORE)
      status_->MPI_ERROR = error_;
  }
};

/** Calls @p call, which completes one of several requests and sets @p index, with storage for its status. @return its
 * result, or the error of the status. */
template <class Call> int with_error_of_status(MPI_Status* status, const int* index, Call&& call)
{
  KeptError kept(status);
  MPI_Status unused;
  MPI_Status* const its = status == MPI_STATUS_IGNORE ? &unused : status;
  its->MPI_ERROR        = MPI_SUCCESS;
  const int result      = call(its);
  if (index && *index == MPI_UNDEFINED)
    kept.drop();
  return result == MPI_SUCCESS && its->MPI_ERROR == MPI_ERR_TRUNCATE ? MPI_ERR_TRUNCATE : result;
}

} // namespace weft
