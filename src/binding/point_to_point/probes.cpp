// SPDX-License-Identifier: LGPL-2.1-only
/* Probes for messages of weft's transport. If smpi/iprobe is set, a probe takes the same time as SMPI's Request::iprobe
 * (src/smpi/mpi/smpi_request.cpp); otherwise entries/polls/polls.cpp accounts for it. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/abi/status_bytes.hpp"
#include "binding/point_to_point/own_messages.hpp"

#include <optional>
#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Cost of a probe by smpi/iprobe, which grows with each consecutive failed probe. */
class ProbeCost {
  int failures_ = 0;

public:
  void pay() const
  {
    using simgrid::config::get_value;
    const double duration = get_value<double>("smpi/iprobe");
    if (duration <= 0)
      return;
    const double speed = sg::this_actor::get_host()->get_speed();
    const auto usage   = get_value<double>("smpi/iprobe-cpu-usage");
    sg::this_actor::exec_init((failures_ + 1) * duration * speed * usage)
        ->set_name("iprobe")
        ->set_bound(usage * speed)
        ->start()
        ->wait();
  }
  void note(bool found)
  {
    if (found)
      failures_ = 0;
    else if (simgrid::config::get_value<bool>("smpi/grow-injected-times"))
      ++failures_;
  }
};

ProbeCost& probe_cost()
{
  static ProbeCost cost;
  return cost;
}

} // namespace
} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED void Request::iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
  static const auto THEIRS = weft::original(&Request::iprobe);
  if (status != MPI_STATUS_IGNORE)
    status->cancelled = 0;
  if (not weft::OwnMessages::get())
    return THEIRS(source, tag, comm, flag, status);
  weft::probe_cost().pay();
  const aid_t sender = source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : comm->group()->actor(source);
  const auto seen    = weft::OwnMessages::get()->probe(sender, tag, comm);
  weft::probe_cost().note(seen.has_value());
  *flag = seen ? 1 : 0;
  if (not seen || status == MPI_STATUS_IGNORE)
    return;
  status->MPI_SOURCE = comm->group()->rank(seen->source);
  status->MPI_TAG    = seen->tag;
  status->MPI_ERROR  = MPI_SUCCESS;
  weft::set_status_bytes(*status, static_cast<std::int64_t>(seen->size));
}

} // namespace simgrid::smpi
