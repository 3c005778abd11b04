// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Testany, MPI_Testsome and MPI_Waitsome.
 *
 * SMPI's MPI_Testany considers only requests with an activity (Request::testany in src/smpi/mpi/smpi_request.cpp).
 * Detached sends, generalized requests (MPI_Grequest_start) and non-blocking SMPI collectives have none: MPI_Testany
 * never finds their completion, and treats a list of them as having no active request. Its MPI_Testsome and
 * MPI_Waitsome repeatedly report persistent requests that have not been started as complete (Request::testsome,
 * waitsome). Here all three functions consider the active requests as defined by MPI (MPI 4.1, 3.7.3), and SMPI tests
 * them one by one, except for activities, which SMPI's MPI_Testany tests together. */
#include "binding/entries/requests/some_requests.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/requests.hpp"

#include <smpi/smpi.h>

namespace weft {
namespace {

/** Returns the status of the @p number-th completed request. */
MPI_Status* place_of_status(MPI_Status* statuses, int number)
{
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + number;
}

int& waitsome_error()
{
  static int error = MPI_SUCCESS;
  return error;
}

/** Completes requests for MPI_Waitsome, and records their errors. */
class SomeStatuses {
  MPI_Status* statuses_;
  MPI_Status unused_{};

public:
  explicit SomeStatuses(MPI_Status* statuses) : statuses_(statuses) { waitsome_error() = MPI_SUCCESS; }
  /** Returns the status of the @p number-th completed request, before it is set. */
  MPI_Status* begin(int number)
  {
    MPI_Status* const status = statuses_ == MPI_STATUSES_IGNORE ? &unused_ : statuses_ + number;
    status->MPI_ERROR        = MPI_SUCCESS;
    return status;
  }
  void end(const MPI_Status* status)
  {
    if (status->MPI_ERROR == MPI_ERR_TRUNCATE)
      waitsome_error() = MPI_ERR_IN_STATUS;
  }
};

} // namespace

int error_of_last_waitsome()
{
  return waitsome_error();
}

int wait_for_some(RequestList& list, int* indices, MPI_Status* statuses)
{
  SomeStatuses all(statuses);
  MPI_Status* status = all.begin(0);
  const int first    = list.wait(status);
  if (first == MPI_UNDEFINED)
    return MPI_UNDEFINED;
  all.end(status);
  int ended        = 0;
  indices[ended++] = first;
  for (auto next = list.next_ended(0); next; next = list.next_ended(*next + 1)) {
    int flag = 0;
    status   = all.begin(ended);
    list.test(*next, status, &flag);
    if (flag == 0)
      continue;
    all.end(status);
    indices[ended++] = static_cast<int>(*next);
  }
  return ended;
}

int test_some(RequestList& list, int* ended, int* indices, MPI_Status* statuses)
{
  int error = MPI_SUCCESS;
  *ended    = 0;
  for (auto next = list.next_ended(0); next; next = list.next_ended(*next + 1)) {
    int flag = 0;
    if (list.test(*next, place_of_status(statuses, *ended), &flag) != MPI_SUCCESS)
      error = MPI_ERR_IN_STATUS;
    if (flag != 0)
      indices[(*ended)++] = static_cast<int>(*next);
  }
  return error;
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED int Request::testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::testany);
  bool with_activity       = false;
  bool without             = false;
  for (int i = 0; i < count; ++i) {
    if (not is_active(requests[i]))
      continue;
    if (layout_of(requests[i]).action) {
      with_activity = true;
      continue;
    }
    const int error = test(requests + i, status, flag);
    if (*flag != 0) {
      *index = i;
      return error;
    }
    without = true;
  }
  if (with_activity || not without)
    return THEIRS(count, requests, index, flag, status);
  *index = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int Request::testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses)
{
  bool any  = false;
  int error = MPI_SUCCESS;
  *ended    = 0;
  for (int i = 0; i < count; ++i) {
    if (not is_active(requests[i]))
      continue;
    any      = true;
    int flag = 0;
    if (test(requests + i, weft::place_of_status(statuses, *ended), &flag) != MPI_SUCCESS)
      error = MPI_ERR_IN_STATUS;
    if (flag != 0)
      indices[(*ended)++] = i;
  }
  if (not any)
    *ended = MPI_UNDEFINED;
  return error;
}

WEFT_INTERPOSED int Request::waitsome(int count, MPI_Request* requests, int* indices, MPI_Status* statuses)
{
  weft::SomeStatuses all(statuses);
  MPI_Status* status = all.begin(0);
  const int first    = waitany(count, requests, status);
  if (first == MPI_UNDEFINED)
    return MPI_UNDEFINED;
  all.end(status);
  int ended        = 0;
  indices[ended++] = first;
  for (int i = 0; i < count; ++i) {
    if (i == first || not is_active(requests[i]))
      continue;
    int flag = 0;
    MPI_Status one;
    test(requests + i, &one, &flag);
    if (flag == 0)
      continue;
    status  = all.begin(ended);
    *status = one;
    all.end(status);
    indices[ended++] = i;
  }
  return ended;
}

} // namespace simgrid::smpi
