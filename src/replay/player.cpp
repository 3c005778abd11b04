// SPDX-License-Identifier: LGPL-2.1-only
#include "replay/player.hpp"

#include "replay/scratch.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <numeric>
#include <smpi/smpi_helpers_internal.h> // smpi_nanosleep, with which SMPI replaces nanosleep
#include <string_view>
#include <unordered_map>

namespace weft::replay {
namespace {

std::size_t bytes_of(std::int64_t count, MPI_Datatype type)
{
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

void* to_send(std::int64_t count, MPI_Datatype type)
{
  return Scratch::to_send().of(bytes_of(count, type));
}

void* to_receive(std::int64_t count, MPI_Datatype type)
{
  return Scratch::to_receive().of(bytes_of(count, type));
}

std::int64_t sum_of(const std::vector<int>& counts)
{
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/** Returns zero offsets: parts may overlap. */
std::vector<int> no_offsets(const std::vector<int>& counts)
{
  return std::vector<int>(counts.size(), 0);
}

} // namespace

struct Player::Message {
  int partner;
  int tag;
  int count;
  MPI_Datatype type;
};

Player::Message Player::read_message(Action& action) const
{
  const int partner = action.integer();
  const int tag     = action.integer();
  const int count   = action.integer();
  return {partner, tag, count, action.datatype()};
}

MPI_Request* Player::open(const Key& key)
{
  return &requests_[key].emplace_back(MPI_REQUEST_NULL);
}

template <class Blocking, class NonBlocking, class... Arguments>
void Player::call(const Action& action, Blocking blocking, NonBlocking non_blocking, Arguments... arguments)
{
  if (action.name().front() == 'i')
    non_blocking(arguments..., &collectives_.emplace_back(MPI_REQUEST_NULL));
  else
    blocking(arguments...);
}

void Player::send(Action& action)
{
  const Message to = read_message(action);
  MPI_Send(to_send(to.count, to.type), to.count, to.type, to.partner, to.tag, MPI_COMM_WORLD);
}

void Player::synchronous_send(Action& action)
{
  const Message to = read_message(action);
  MPI_Ssend(to_send(to.count, to.type), to.count, to.type, to.partner, to.tag, MPI_COMM_WORLD);
}

void Player::start_send(Action& action)
{
  const Message to = read_message(action);
  MPI_Isend(to_send(to.count, to.type), to.count, to.type, to.partner, to.tag, MPI_COMM_WORLD,
            open({rank_, to.partner, to.tag}));
}

void Player::start_synchronous_send(Action& action)
{
  const Message to = read_message(action);
  MPI_Issend(to_send(to.count, to.type), to.count, to.type, to.partner, to.tag, MPI_COMM_WORLD,
             open({rank_, to.partner, to.tag}));
}

void Player::receive(Action& action)
{
  const Message from = read_message(action);
  MPI_Recv(to_receive(from.count, from.type), from.count, from.type, from.partner, from.tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

void Player::start_receive(Action& action)
{
  const Message from = read_message(action);
  MPI_Irecv(to_receive(from.count, from.type), from.count, from.type, from.partner, from.tag, MPI_COMM_WORLD,
            open({from.partner, rank_, from.tag}));
}

void Player::send_and_receive(Action& action)
{
  const int count               = action.integer();
  const int destination         = action.integer();
  const int received            = action.integer();
  const int source              = action.integer();
  const MPI_Datatype type       = action.datatype();
  const MPI_Datatype other_type = action.datatype();
  MPI_Sendrecv(to_send(count, type), count, type, destination, 0, to_receive(received, other_type), received,
               other_type, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void Player::wait(Action& action)
{
  const int source      = action.integer();
  const int destination = action.integer();
  auto& open_ones       = requests_[{source, destination, action.integer()}];
  if (open_ones.empty()) // an MPI_Test has found it complete
    return;
  MPI_Wait(&open_ones.front(), MPI_STATUS_IGNORE);
  open_ones.pop_front();
}

void Player::wait_for_all(Action& /*action*/)
{
  std::vector<MPI_Request> all;
  for (const auto& [key, open_ones] : requests_)
    all.insert(all.end(), open_ones.begin(), open_ones.end());
  all.insert(all.end(), collectives_.begin(), collectives_.end());
  MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  collectives_.clear();
}

/** Calls MPI_Waitany on all open requests; the trace does not record which of them were listed. */
void Player::wait_for_any(Action& /*action*/)
{
  std::vector<std::deque<MPI_Request>*> origins;
  std::vector<MPI_Request> all;
  for (auto& [key, open_ones] : requests_)
    for (const MPI_Request request : open_ones) {
      all.push_back(request);
      origins.push_back(&open_ones);
    }
  for (const MPI_Request request : collectives_) {
    all.push_back(request);
    origins.push_back(&collectives_);
  }
  const std::vector<MPI_Request> before = all;
  int index                             = MPI_UNDEFINED;
  MPI_Waitany(static_cast<int>(all.size()), all.data(), &index, MPI_STATUS_IGNORE);
  if (index == MPI_UNDEFINED)
    return;
  const auto ended = static_cast<std::size_t>(index);
  std::erase(*origins[ended], before[ended]);
}

/** Calls MPI_Waitall on the listed requests, and on all non-blocking collectives if the list contains any. */
void Player::wait_for_list(Action& action)
{
  std::vector<MPI_Request> all;
  if (action.integer() > 0) {
    all.assign(collectives_.begin(), collectives_.end());
    collectives_.clear();
  }
  while (not action.at_end()) {
    const int source      = action.integer();
    const int destination = action.integer();
    auto& open_ones       = requests_[{source, destination, action.integer()}];
    if (open_ones.empty()) // an MPI_Test has found it complete
      continue;
    all.push_back(open_ones.front());
    open_ones.pop_front();
  }
  MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
}

void Player::wait_for_collective(Action& action)
{
  const auto one = std::next(collectives_.begin(), action.integer());
  MPI_Wait(&*one, MPI_STATUS_IGNORE);
  collectives_.erase(one);
}

void Player::test(Action& action)
{
  const int source      = action.integer();
  const int destination = action.integer();
  auto& open_ones       = requests_[{source, destination, action.integer()}];
  int done              = 0;
  if (not open_ones.empty())
    MPI_Test(&open_ones.front(), &done, MPI_STATUS_IGNORE);
  if (done != 0)
    open_ones.pop_front();
}

void Player::compute(Action& action)
{
  smpi_execute_flops_benched(action.real());
}

void Player::sleep(Action& action)
{
  double seconds        = 0;
  const double fraction = std::modf(action.real(), &seconds);
  const timespec time{static_cast<time_t>(seconds), std::lround(fraction * 1e9)};
  smpi_nanosleep(&time, nullptr);
}

void Player::barrier(Action& action)
{
  call(action, MPI_Barrier, MPI_Ibarrier, MPI_COMM_WORLD);
}

void Player::bcast(Action& action)
{
  const int count         = action.integer();
  const int root          = action.integer();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Bcast, MPI_Ibcast, rank_ == root ? to_send(count, type) : to_receive(count, type), count, type, root,
       MPI_COMM_WORLD);
}

void Player::reduce(Action& action)
{
  const int count         = action.integer();
  const int root          = action.integer();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Reduce, MPI_Ireduce, to_send(count, type), to_receive(count, type), count, type, action.operation(),
       root, MPI_COMM_WORLD);
}

void Player::allreduce(Action& action)
{
  const int count         = action.integer();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Allreduce, MPI_Iallreduce, to_send(count, type), to_receive(count, type), count, type,
       action.operation(), MPI_COMM_WORLD);
}

void Player::scan(Action& action)
{
  const int count         = action.integer();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Scan, MPI_Iscan, to_send(count, type), to_receive(count, type), count, type, action.operation(),
       MPI_COMM_WORLD);
}

void Player::exscan(Action& action)
{
  const int count         = action.integer();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Exscan, MPI_Iexscan, to_send(count, type), to_receive(count, type), count, type, action.operation(),
       MPI_COMM_WORLD);
}

void Player::gather(Action& action)
{
  const int sent          = action.integer();
  const int count         = action.integer();
  const int root          = action.integer();
  const MPI_Datatype from = action.datatype();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Gather, MPI_Igather, to_send(sent, from), sent, from, to_receive(std::int64_t{count} * size_, type),
       count, type, root, MPI_COMM_WORLD);
}

void Player::scatter(Action& action)
{
  const int sent          = action.integer();
  const int count         = action.integer();
  const int root          = action.integer();
  const MPI_Datatype from = action.datatype();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Scatter, MPI_Iscatter, to_send(std::int64_t{sent} * size_, from), sent, from,
       to_receive(count, type), count, type, root, MPI_COMM_WORLD);
}

void Player::allgather(Action& action)
{
  const int sent          = action.integer();
  const int count         = action.integer();
  const MPI_Datatype from = action.datatype();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Allgather, MPI_Iallgather, to_send(sent, from), sent, from,
       to_receive(std::int64_t{count} * size_, type), count, type, MPI_COMM_WORLD);
}

void Player::alltoall(Action& action)
{
  const int sent          = action.integer();
  const int count         = action.integer();
  const MPI_Datatype from = action.datatype();
  const MPI_Datatype type = action.datatype();
  call(action, MPI_Alltoall, MPI_Ialltoall, to_send(std::int64_t{sent} * size_, from), sent, from,
       to_receive(std::int64_t{count} * size_, type), count, type, MPI_COMM_WORLD);
}

void Player::reduce_scatter(Action& action)
{
  const std::vector<int> counts = action.integers(size_);
  const MPI_Datatype type       = action.datatype();
  const std::int64_t sum        = sum_of(counts);
  call(action, MPI_Reduce_scatter, MPI_Ireduce_scatter, to_send(sum, type), to_receive(sum, type), counts.data(), type,
       action.operation(), MPI_COMM_WORLD);
}

void Player::reduce_scatter_block(Action& action)
{
  const int count         = action.integer();
  const MPI_Datatype type = action.datatype();
  const std::int64_t sum  = std::int64_t{count} * size_;
  call(action, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, to_send(sum, type), to_receive(sum, type), count,
       type, action.operation(), MPI_COMM_WORLD);
}

void Player::gatherv(Action& action)
{
  const int sent                = action.integer();
  const std::vector<int> counts = action.integers(size_);
  const int root                = action.integer();
  const MPI_Datatype from       = action.datatype();
  const MPI_Datatype type       = action.datatype();
  call(action, MPI_Gatherv, MPI_Igatherv, to_send(sent, from), sent, from, to_receive(sum_of(counts), type),
       counts.data(), no_offsets(counts).data(), type, root, MPI_COMM_WORLD);
}

void Player::scatterv(Action& action)
{
  const std::vector<int> counts = action.integers(size_);
  const int count               = action.integer();
  const int root                = action.integer();
  const MPI_Datatype from       = action.datatype();
  const MPI_Datatype type       = action.datatype();
  call(action, MPI_Scatterv, MPI_Iscatterv, to_send(sum_of(counts), from), counts.data(), no_offsets(counts).data(),
       from, to_receive(count, type), count, type, root, MPI_COMM_WORLD);
}

void Player::allgatherv(Action& action)
{
  const int sent                = action.integer();
  const std::vector<int> counts = action.integers(size_);
  const MPI_Datatype from       = action.datatype();
  const MPI_Datatype type       = action.datatype();
  call(action, MPI_Allgatherv, MPI_Iallgatherv, to_send(sent, from), sent, from, to_receive(sum_of(counts), type),
       counts.data(), no_offsets(counts).data(), type, MPI_COMM_WORLD);
}

void Player::alltoallv(Action& action)
{
  const std::vector<int> sent   = action.integers(size_);
  const std::vector<int> counts = action.integers(size_);
  const MPI_Datatype from       = action.datatype();
  const MPI_Datatype type       = action.datatype();
  call(action, MPI_Alltoallv, MPI_Ialltoallv, to_send(sum_of(sent), from), sent.data(), no_offsets(sent).data(), from,
       to_receive(sum_of(counts), type), counts.data(), no_offsets(counts).data(), type, MPI_COMM_WORLD);
}

void Player::play(Action& action)
{
  using P = Player;
  static const std::unordered_map<std::string_view, void (P::*)(Action&)> ACTIONS{
      {"send", &P::send},
      {"ssend", &P::synchronous_send},
      {"isend", &P::start_send},
      {"issend", &P::start_synchronous_send},
      {"recv", &P::receive},
      {"irecv", &P::start_receive},
      {"sendrecv", &P::send_and_receive},
      {"wait", &P::wait},
      {"waitall", &P::wait_for_all},
      {"waitany", &P::wait_for_any},
      {"waitlist", &P::wait_for_list},
      {"wait_collective", &P::wait_for_collective},
      {"test", &P::test},
      {"compute", &P::compute},
      {"sleep", &P::sleep},
      {"barrier", &P::barrier},
      {"ibarrier", &P::barrier},
      {"bcast", &P::bcast},
      {"ibcast", &P::bcast},
      {"reduce", &P::reduce},
      {"ireduce", &P::reduce},
      {"allreduce", &P::allreduce},
      {"iallreduce", &P::allreduce},
      {"scan", &P::scan},
      {"iscan", &P::scan},
      {"exscan", &P::exscan},
      {"iexscan", &P::exscan},
      {"gather", &P::gather},
      {"igather", &P::gather},
      {"scatter", &P::scatter},
      {"iscatter", &P::scatter},
      {"allgather", &P::allgather},
      {"iallgather", &P::allgather},
      {"alltoall", &P::alltoall},
      {"ialltoall", &P::alltoall},
      {"reduce_scatter", &P::reduce_scatter},
      {"ireduce_scatter", &P::reduce_scatter},
      {"reduce_scatter_block", &P::reduce_scatter_block},
      {"ireduce_scatter_block", &P::reduce_scatter_block},
      {"gatherv", &P::gatherv},
      {"igatherv", &P::gatherv},
      {"scatterv", &P::scatterv},
      {"iscatterv", &P::scatterv},
      {"allgatherv", &P::allgatherv},
      {"iallgatherv", &P::allgatherv},
      {"alltoallv", &P::alltoallv},
      {"ialltoallv", &P::alltoallv},
  };
  (this->*ACTIONS.at(action.name()))(action);
}

} // namespace weft::replay
