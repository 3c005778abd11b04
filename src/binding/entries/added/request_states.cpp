// SPDX-License-Identifier: LGPL-2.1-only
/* Polls of several requests that do not change them (MPI 4.1, section 3.7.6), which SMPI lacks. A poll that finds no
 * complete request takes the time of one MPI_Test. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/smpi/statuses.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/polls/polls.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/run/request.hpp"

#include <string>
#include <vector>

namespace weft {
namespace {

/** The active requests of a list. */
class LookedAt {
  std::vector<MPI_Request> requests_;
  PersistentScope scope_;

public:
  LookedAt(int count, const MPI_Request* requests, int most_statuses, MPI_Status* statuses)
      : requests_(requests, requests + count), scope_(count, requests_.data(), most_statuses, statuses)
  {
  }

  std::size_t size() const { return requests_.size(); }
  bool is_active(std::size_t place) const { return simgrid::smpi::is_active(requests_[place]); }
  bool has_ended(std::size_t place, MPI_Status* status) const { return look_at_request(requests_[place], status); }
  void pay() const { pay_for_poll(requests_); }
};

int check_requests(int count, const MPI_Request* requests)
{
  if (count < 0)
    return wrong(MPI_ERR_COUNT, "the number of requests is " + std::to_string(count));
  return count > 0 ? check_present(requests, "the list of requests") : static_cast<int>(MPI_SUCCESS);
}

MPI_Status* status_at(MPI_Status* statuses, std::size_t place)
{
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + place;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses)
{
  static MpiFunction function{"MPI_Request_get_status_all", CallKind::polls, false};
  return own_function<trace::calls::Request_get_status>(
      function,
      [&] {
        return first_error([&] { return check_requests(count, requests); },
                           [&] { return check_present(flag, "flag"); });
      },
      [&] {
        const LookedAt all(count, requests, count, statuses);
        *flag = 1;
        for (std::size_t place = 0; *flag != 0 && place < all.size(); ++place)
          *flag = all.has_ended(place, status_at(statuses, place)) ? 1 : 0;
        if (*flag == 0)
          all.pay();
        return static_cast<int>(MPI_SUCCESS);
      },
      count, requests, flag, statuses);
}

WEFT_INTERPOSED int PMPI_Request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                                                MPI_Status* status)
{
  static MpiFunction function{"MPI_Request_get_status_any", CallKind::polls, false};
  return own_function<trace::calls::Request_get_status>(
      function,
      [&] {
        return first_error([&] { return check_requests(count, requests); },
                           [&] { return check_present(index, "index"); }, [&] { return check_present(flag, "flag"); });
      },
      [&] {
        const LookedAt all(count, requests, 1, status);
        *index = MPI_UNDEFINED;
        *flag  = 1;
        for (std::size_t place = 0; place < all.size(); ++place) {
          if (not all.is_active(place))
            continue;
          *flag = all.has_ended(place, status) ? 1 : 0;
          if (*flag != 0) {
            *index = static_cast<int>(place);
            return static_cast<int>(MPI_SUCCESS);
          }
        }
        if (*flag == 0)
          all.pay();
        else
          simgrid::smpi::Status::empty(status);
        return static_cast<int>(MPI_SUCCESS);
      },
      count, requests, index, flag, status);
}

WEFT_INTERPOSED int PMPI_Request_get_status_some(int count, const MPI_Request* requests, int* ended, int* indices,
                                                 MPI_Status* statuses)
{
  static MpiFunction function{"MPI_Request_get_status_some", CallKind::polls, false};
  return own_function<trace::calls::Request_get_status>(
      function,
      [&] {
        return first_error([&] { return check_requests(count, requests); },
                           [&] { return check_present(ended, "outcount"); },
                           [&] { return count > 0 ? check_present(indices, "the list of indices") : MPI_SUCCESS; });
      },
      [&] {
        const LookedAt all(count, requests, count, statuses);
        bool active       = false;
        bool pending      = false;
        std::size_t found = 0;
        for (std::size_t place = 0; place < all.size(); ++place) {
          if (not all.is_active(place))
            continue;
          active = true;
          if (all.has_ended(place, status_at(statuses, found)))
            indices[found++] = static_cast<int>(place);
          else
            pending = true;
        }
        *ended = active ? static_cast<int>(found) : MPI_UNDEFINED;
        if (pending) // even if some are complete: the requests stay, and programs wait for the rest
          all.pay();
        return static_cast<int>(MPI_SUCCESS);
      },
      count, requests, ended, indices, statuses);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
