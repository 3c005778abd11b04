// SPDX-License-Identifier: LGPL-2.1-only
/* Charged like MPICH's messages (MPIR_Get_intercomm_contextid in its src/mpi/comm/contextid.c, MPIR_Comm_split_impl in
 * comm_split.c, MPIR_Intercomm_merge_impl in comm_impl.c): each group agrees on a context id by an Allreduce, the first
 * ranks exchange the ids, and a Bcast distributes them in each group. */
#include "binding/entries/intercommunicators/making.hpp"

#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/calls/call.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <simgrid/s4u/Actor.hpp>
#include <utility>
#include <vector>

namespace colls = simgrid::smpi::colls;

namespace weft {
namespace {

/** Integers that libraries reduce to find a context id (communicator_making.cpp). */
constexpr int CONTEXT_INTEGERS = 65;

int size_of_group(MPI_Group group)
{
  int size = 0;
  PMPI_Group_size(group, &size);
  return size;
}

/** Agreement of the ranks of both groups, with ranks counted through both. */
struct Wish {
  int colour; ///< MPI_Comm_split; for MPI_Intercomm_merge, true if the rank's group is to come second
  int key;
};

class PairAgreement : public Agreement<Wish> {
  std::map<int, std::unique_ptr<NewIntercommunicator>> made_; // by colour; null: ranks of one group only
  std::unique_ptr<NewIntercommunicator> copy_;
  OwnGroup merged_;

  /** Returns the ranks of a colour among [begin, end), relative to that group, ordered by key. */
  std::vector<int> ranks_of(int colour, int begin, int end) const
  {
    std::vector<int> ranks;
    for (int rank = begin; rank < end; ++rank)
      if (said[static_cast<std::size_t>(rank)].colour == colour)
        ranks.push_back(rank);
    std::ranges::stable_sort(ranks, {}, [this](int rank) { return said[static_cast<std::size_t>(rank)].key; });
    return ranks;
  }

public:
  using Agreement::Agreement;

  /** Returns the intercommunicator of a colour; null if only one of the groups has it. */
  const NewIntercommunicator* part(MPI_Comm both, int first_size, int colour)
  {
    const auto [place, is_new] = made_.try_emplace(colour);
    if (is_new) {
      const std::vector<int> first  = ranks_of(colour, 0, first_size);
      const std::vector<int> second = ranks_of(colour, first_size, both->size());
      if (not first.empty() && not second.empty())
        place->second = std::make_unique<NewIntercommunicator>(make_group(both, first), make_group(both, second));
    }
    return place->second.get();
  }
  const NewIntercommunicator& copy(MPI_Group first, MPI_Group second)
  {
    if (not copy_)
      copy_ = std::make_unique<NewIntercommunicator>(copy_of(first), copy_of(second));
    return *copy_;
  }
  /** Returns the group of all ranks, with the group that is not high first. */
  MPI_Group merged(MPI_Group first, MPI_Group second)
  {
    const bool turned = said.front().colour != 0 && said.back().colour == 0;
    if (not merged_)
      merged_ = turned ? union_of(second, first) : union_of(first, second);
    return merged_.get();
  }
};

/** Key of the communicator of both groups: its first member, since several programs use the same numbers, and its
 * number. */
using PairKey = std::pair<aid_t, int>;

std::map<PairKey, AgreementSlots<PairAgreement>>& pair_agreements()
{
  static std::map<PairKey, AgreementSlots<PairAgreement>> all;
  return all;
}

/** Participation of the current rank in an agreement of both groups. */
class PairMeeting {
  PairKey id_;
  AgreementSlots<PairAgreement>& slots_;
  AgreementSlots<PairAgreement>::Place place_;

public:
  explicit PairMeeting(MPI_Comm both)
      : id_(both->group()->actor(0), number_of(both)), slots_(pair_agreements()[id_]),
        place_(slots_.join(both->rank(), both->size(), [both] { return PairAgreement(both->size()); }))
  {
  }
  PairMeeting(const PairMeeting&)            = delete;
  PairMeeting& operator=(const PairMeeting&) = delete;
  ~PairMeeting()
  {
    slots_.leave(place_);
    if (slots_.empty())
      pair_agreements().erase(id_);
  }
  PairAgreement* operator->() const { return &place_->shared; }
};

/** The two groups, in the order of the communicator of both. */
std::pair<MPI_Group, MPI_Group> groups_in_order(MPI_Comm comm, const Intercommunicator& its)
{
  const std::pair groups(its.local->group(), comm->group());
  return its.first ? groups : std::pair(groups.second, groups.first);
}

void charge_bcast(MPI_Comm local, int bytes)
{
  std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
  if (local->size() > 1)
    colls::bcast(buffer.data(), bytes, MPI_BYTE, 0, local);
}

} // namespace

MPI_Comm communicator_of(MPI_Group group)
{
  const CommonCreationScope common(group);
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_create(own_world(), group, &made);
  return made;
}

OwnGroup union_of(MPI_Group first, MPI_Group second)
{
  MPI_Group made = MPI_GROUP_NULL;
  PMPI_Group_union(first, second, &made);
  return OwnGroup(made);
}

NewIntercommunicator::NewIntercommunicator(OwnGroup first, OwnGroup second)
    : sides_{std::move(first), std::move(second)}, both_(union_of(sides_[0].get(), sides_[1].get())),
      number_(new_communicator_number())
{
}

int NewIntercommunicator::size() const
{
  return size_of_group(both_.get());
}

MPI_Comm NewIntercommunicator::make(bool first) const
{
  MPI_Comm made = MPI_COMM_NULL;
  make(first, [&] { return PMPI_Comm_create(own_world(), both_.get(), &made); }, &made);
  return made;
}

int NewIntercommunicator::make(bool first, const std::function<int()>& create, MPI_Comm* made) const
{
  MPI_Comm local = communicator_of(sides_[first ? 0 : 1].get());
  MPI_Comm both  = communicator_of(both_.get());
  const IntercommunicatorScope remote(sides_[first ? 1 : 0].get(), number_);
  const int result = create();
  if (result == MPI_SUCCESS) {
    add_intercommunicator(*made, {local, both, first, simgrid::s4u::this_actor::get_pid()});
  } else { // error of a user-defined function that copies an attribute
    PMPI_Comm_free(&local);
    PMPI_Comm_free(&both);
  }
  return result;
}

OwnGroup copy_of(MPI_Group group)
{
  std::vector<int> ranks(static_cast<std::size_t>(size_of_group(group)));
  std::iota(ranks.begin(), ranks.end(), 0);
  return make_group(group, ranks);
}

bool overlap(MPI_Group one, MPI_Group other)
{
  const OwnGroup all = union_of(one, other);
  return size_of_group(all.get()) < size_of_group(one) + size_of_group(other);
}

void charge_context_id(MPI_Comm comm)
{
  const std::vector<int> sent(CONTEXT_INTEGERS);
  std::vector<int> received(CONTEXT_INTEGERS);
  if (comm->size() > 1)
    colls::allreduce(sent.data(), received.data(), CONTEXT_INTEGERS, MPI_INT, MPI_BAND, comm);
}

void charge_exchange(MPI_Comm comm, const Intercommunicator& its, int own, int others)
{
  if (its.local->rank() == 0) {
    const std::vector<std::byte> sent(static_cast<std::size_t>(own));
    std::vector<std::byte> received(static_cast<std::size_t>(others));
    simgrid::smpi::Request::sendrecv(sent.data(), own, MPI_BYTE, 0, INTERCOMMUNICATOR_TAG, received.data(), others,
                                     MPI_BYTE, 0, INTERCOMMUNICATOR_TAG, comm, MPI_STATUS_IGNORE);
  }
  charge_bcast(its.local, others);
}

void charge_context_id(MPI_Comm comm, const Intercommunicator& its)
{
  charge_context_id(its.local);
  charge_exchange(comm, its, sizeof(int), sizeof(int));
}

MPI_Comm split_intercommunicator(MPI_Comm comm, const Intercommunicator& its, int colour, int key)
{
  constexpr int WISH = sizeof(Wish);
  const PairMeeting meeting(its.both);
  meeting->say(its.both->rank(), {colour, key});
  const int own    = its.local->size();
  const int others = comm->size();
  if (own > 1) {
    const std::array<int, 2> sent{colour, key};
    std::vector<int> received(2 * static_cast<std::size_t>(own));
    colls::allgather(sent.data(), 2, MPI_INT, received.data(), 2, MPI_INT, its.local);
  }
  charge_exchange(comm, its, own * WISH, others * WISH);
  meeting->wait();
  if (colour == MPI_UNDEFINED)
    return MPI_COMM_NULL;
  const NewIntercommunicator* const part = meeting->part(its.both, its.first ? own : others, colour);
  return part ? part->make(its.first) : MPI_COMM_NULL;
}

MPI_Comm create_intercommunicator(MPI_Comm comm, const Intercommunicator& its, MPI_Group group)
{
  int rank = MPI_UNDEFINED;
  PMPI_Group_rank(group, &rank);
  const PairMeeting meeting(its.both);
  meeting->say(its.both->rank(), {rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, rank});
  const int own    = its.local->size();
  const int others = comm->size();
  // The size of the part, and the rank of each of its members.
  constexpr int A_RANK = sizeof(int);
  charge_exchange(comm, its, (1 + size_of_group(group)) * A_RANK, (1 + others) * A_RANK);
  meeting->wait();
  if (rank == MPI_UNDEFINED)
    return MPI_COMM_NULL;
  const NewIntercommunicator* const part = meeting->part(its.both, its.first ? own : others, 0);
  return part ? part->make(its.first) : MPI_COMM_NULL;
}

int copy_intercommunicator(MPI_Comm comm, const Intercommunicator& its, const std::function<int()>& copy,
                           MPI_Comm* made)
{
  const PairMeeting meeting(its.both);
  const auto [first, second] = groups_in_order(comm, its);
  return meeting->copy(first, second).make(its.first, copy, made);
}

void free_intercommunicator(const simgrid::smpi::Comm* comm)
{
  const Intercommunicator* const its = intercommunicator_of(comm);
  if (not its)
    return;
  MPI_Comm local = its->local;
  MPI_Comm both  = its->both;
  remove_intercommunicator(comm);
  PMPI_Comm_free(&local);
  PMPI_Comm_free(&both);
}

MPI_Comm merge_intercommunicator(MPI_Comm comm, const Intercommunicator& its, bool high)
{
  const PairMeeting meeting(its.both);
  meeting->say(its.both->rank(), {high ? 1 : 0, 0});
  charge_exchange(comm, its, sizeof(int), sizeof(int));
  meeting->wait();
  const auto [first, second] = groups_in_order(comm, its);
  return communicator_of(meeting->merged(first, second));
}

} // namespace weft
