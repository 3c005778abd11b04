// SPDX-License-Identifier: LGPL-2.1-only
#include "model/host/mpi_model.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft {

namespace {

/** Returns the keys that [mpi] and [[mpi.overheads]] share. */
template <class M> std::vector<Option<M>> costs()
{
  return {
      {"send_overhead", "host time for sending a message, besides the network", &M::send_overhead, Need::optional,
       Allowed::non_negative},
      {"send_copy_rate", "rate at which a sender copies an eager message", &M::send_copy_rate, Need::optional},
      {"receive_overhead", "host time for receiving an eager message, besides the network", &M::receive_overhead,
       Need::optional, Allowed::non_negative},
      {"receive_copy_rate", "rate at which a receiver copies an eager message", &M::receive_copy_rate, Need::optional},
  };
}

template <class M> std::vector<Option<M>> with_costs(Option<M> first)
{
  std::vector<Option<M>> rows = costs<M>();
  rows.insert(rows.begin(), std::move(first));
  return rows;
}

/** Rounds times below SimGrid's resolution of 1 ns (option precision/timing) down to zero, since SimGrid warns about
 * them. */
Seconds told(Seconds time)
{
  constexpr Seconds LEAST{1e-9};
  return time < LEAST ? Seconds{} : time;
}

std::vector<MpiOverheads> read_overheads(const OptionTable& mpi)
{
  std::vector<MpiOverheads> all;
  for (const OptionTable& table : mpi.tables("overheads")) {
    MpiOverheads row;
    require_options(table, mpi_overheads_options(), read_options(table, mpi_overheads_options(), {}, row));
    if (not all.empty() && row.from <= all.back().from)
      table.fail("from", "found " + table.found("from") +
                             "; allowed: more than in the [[mpi.overheads]] before, which is " +
                             to_text(all.back().from));
    all.push_back(row);
  }
  return all;
}

} // namespace

Seconds MpiModel::send_time(Bytes size) const
{
  const MpiOverheads* row = overheads_of(size);
  return told(row == nullptr ? send_overhead + copy_time(size, send_copy_rate)
                             : row->send_overhead + copy_time(size, row->send_copy_rate));
}

Seconds MpiModel::receive_time(Bytes size) const
{
  const MpiOverheads* row = overheads_of(size);
  return told(row == nullptr ? receive_overhead + copy_time(size, receive_copy_rate)
                             : row->receive_overhead + copy_time(size, row->receive_copy_rate));
}

const MpiOverheads* MpiModel::overheads_of(Bytes size) const
{
  const auto after = std::ranges::upper_bound(overheads, size, {}, &MpiOverheads::from);
  return after == overheads.begin() ? nullptr : &*std::prev(after);
}

const std::vector<Option<MpiModel>>& mpi_options()
{
  static const auto ROWS = [] {
    auto rows = with_costs<MpiModel>({"eager_threshold", "size from which messages use the rendezvous protocol",
                                      &MpiModel::eager_threshold, Need::optional});
    rows.emplace_back("reduction_overhead",
                      "core time before a host collective reduces a received vector, whatever its size",
                      &MpiModel::reduction_overhead, Need::optional, Allowed::non_negative);
    rows.emplace_back("progress",
                      "progress of rendezvous messages, and of non-blocking collectives on the hosts: thread: in the "
                      "background; calls: only inside MPI calls",
                      &MpiModel::progress, Need::optional);
    rows.emplace_back("rendezvous",
                      "who answers a rendezvous message inside MPI calls: get: the receiver, which reads the data by "
                      "RDMA; put: receiver and then sender, which writes it",
                      &MpiModel::rendezvous, Need::optional);
    rows.emplace_back("poll_overhead", "time of MPI_Test, MPI_Iprobe and similar calls that find nothing",
                      &MpiModel::poll_overhead, Need::optional, Allowed::positive);
    rows.emplace_back("spawn_latency", "time from MPI_Comm_spawn until the ranks that it starts begin",
                      &MpiModel::spawn_latency, Need::optional, Allowed::non_negative);
    return rows;
  }();
  return ROWS;
}

const std::vector<Option<MpiOverheads>>& mpi_overheads_options()
{
  static const auto ROWS = with_costs<MpiOverheads>(
      {"from", "smallest message that its keys apply to, instead of those of [mpi]", &MpiOverheads::from});
  return ROWS;
}

std::optional<MpiModel> read_mpi(const OptionTable& file)
{
  if (not file.has("mpi"))
    return std::nullopt;
  return read_device<MpiModel>(file.table("mpi"), "messages", mpi_options(), {"overheads"},
                               [](const OptionTable& table, MpiModel& model) {
                                 if (auto rows = read_overheads(table); not rows.empty())
                                   model.overheads = std::move(rows);
                               });
}

} // namespace weft
