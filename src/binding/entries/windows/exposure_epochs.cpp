// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/windows/exposure_epochs.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/smpi/windows.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/polls/idle_calls.hpp"
#include "binding/entries/polls/polls.hpp"
#include "binding/ranks/current.hpp"

#include <map>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Tag of the message by which an origin completes its epoch (Win::complete in smpi_win.cpp). */
constexpr int COMPLETION_TAG = -6666 + 5;

/** Origins of the exposure epoch of a rank's window. */
using Origins = std::vector<aid_t>;

std::map<std::pair<aid_t, MPI_Win>, Origins>& exposure_epochs()
{
  static auto& all = *new std::map<std::pair<aid_t, MPI_Win>, Origins>; // leaked, since ranks may end late
  return all;
}

/** Probes like PMPI_Iprobe, which refuses SMPI's internal tags. */
int probe_any_tag(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
  simgrid::smpi::Request::iprobe(source, tag, comm, flag, status);
  return MPI_SUCCESS;
}

/** Returns whether the messages of all origins that complete the epoch have arrived. */
bool is_completed(MPI_Win win, const Origins& origins)
{
  MPI_Comm comm    = win->comm();
  const aid_t here = current_actor();
  for (const aid_t origin : origins) {
    int arrived = 1;
    if (origin != here)
      polled_Iprobe(probe_any_tag, comm->group()->rank(origin), COMPLETION_TAG, comm, &arrived, MPI_STATUS_IGNORE);
    if (arrived == 0)
      return false;
  }
  return true;
}

int test_exposure(MPI_Win win, int* flag)
{
  const auto epoch = exposure_epochs().find({current_actor(), win});
  if (epoch == exposure_epochs().end())
    return wrong(MPI_ERR_RMA_SYNC, "MPI_Win_post has not been called");
  *flag = is_completed(win, epoch->second) ? 1 : 0;
  if (*flag == 0)
    return MPI_SUCCESS;
  exposure_epochs().erase(epoch);
  return PMPI_Win_wait(win);
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
int exposed_Win_post(decltype(&PMPI_Win_post) next_definition, MPI_Group group, int assertion, MPI_Win win)
{
  const int result = next_definition(group, assertion, win);
  if (result == MPI_SUCCESS) {
    Origins origins;
    int size = 0;
    PMPI_Group_size(group, &size);
    for (int rank = 0; rank < size; ++rank)
      origins.push_back(group->actor(rank));
    exposure_epochs()[{current_actor(), win}] = std::move(origins);
  }
  return result;
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

/** SMPI warns that it lacks this function. All ranks share one memory, which one thread writes. */
WEFT_INTERPOSED int PMPI_Win_sync(MPI_Win win)
{
  if (win == MPI_WIN_NULL)
    return wrong(MPI_ERR_WIN, "the window is MPI_WIN_NULL");
  static MpiFunction function{"MPI_Win_sync", CallKind::one_sided, false};
  if (is_idle(CallIdentity("Win_sync", {number_of_handle(win)}))) {
    const TimedCall timed(function); // other errors take no time and do not appear in the record
    pay_for_idle_call();
  }
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Win_test(MPI_Win win, int* flag)
{
  static MpiFunction function{"MPI_Win_test", CallKind::one_sided, false};
  const auto check = [&] {
    return win == MPI_WIN_NULL ? wrong(MPI_ERR_WIN, "the window is MPI_WIN_NULL") : check_present(flag, "flag");
  };
  return own_function<trace::calls::Win_test>(function, check, [&] { return test_exposure(win, flag); }, win);
}

WEFT_INTERPOSED int MPI_Win_test(MPI_Win win, int* flag)
{
  const int result       = PMPI_Win_test(win, flag);
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  if (result != MPI_SUCCESS && win != MPI_WIN_NULL)
    PMPI_Win_get_errhandler(win, &handler);
  if (handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN)
    return handled_by(handler, MPI_COMM_NULL, "MPI_Win_test", result);
  PMPI_Win_call_errhandler(win, result);
  return result;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
