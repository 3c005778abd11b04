// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/communicator_numbers.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Communicators of one program. Programs number theirs independently; the numbers distribute reduction trees over
 * switches. */
struct ProgramNumbers {
  int next = 0;
  std::vector<bool> with_common_group;
};

struct Numbers {
  std::map<std::string, ProgramNumbers, std::less<>> by_program; // by SMPI's name
  std::optional<int> first_shared;                               // number that programs share, once they do
  int next_shared    = 0;
  MPI_Group making   = MPI_GROUP_NULL; // common group of the communicators that the current rank creates
  MPI_Group agreeing = MPI_GROUP_NULL; // common group of the communicator that is being numbered
  int copied         = MPI_UNDEFINED;  // number of the communicator that the current rank copies
  int original       = MPI_UNDEFINED;  // number of the original of the communicator that is being numbered
};

Numbers& numbers()
{
  static Numbers all;
  return all;
}

/** Returns the numbers of the current rank's program. */
ProgramNumbers& program_numbers()
{
  const char* const name = simgrid::s4u::Actor::self()->get_property("instance_id");
  auto& all              = numbers().by_program;
  const auto found       = all.find(std::string_view(name ? name : ""));
  return found != all.end() ? found->second : all[name ? name : ""];
}

/** Returns the number on which the members of @p comm, who all pass the same @p key, agree. */
template <class Key> int agree(std::map<Key, AgreementSlots<int>>& makings, const Key& key, MPI_Comm comm)
{
  auto& meetings  = makings[key];
  const auto here = meetings.join(comm->rank(), comm->size(), new_communicator_number);
  const int id    = here->shared;
  meetings.leave(here);
  if (meetings.empty())
    makings.erase(key);
  return id;
}

} // namespace

int number_of(MPI_Comm comm)
{
  // With several programs, SMPI's MPI_COMM_WORLD is one object that represents each program's.
  return comm == MPI_COMM_WORLD || is_placeholder(comm) ? -1 : comm->id();
}

bool is_being_made(MPI_Comm comm)
{
  // MPI_COMM_SELF never gets a number.
  return number_of(comm) == MPI_UNDEFINED && not comm->is_smp_comm() && not(comm->size() == 1 && comm == MPI_COMM_SELF);
}

int agreed_id(MPI_Comm comm)
{
  if (const MPI_Group group = numbers().agreeing; group != MPI_GROUP_NULL) {
    static std::map<std::pair<MPI_Group, int>, AgreementSlots<int>> makings;
    const int id      = agree(makings, std::pair(group, numbers().original), comm);
    auto& common      = program_numbers().with_common_group;
    const auto number = static_cast<std::size_t>(id);
    common.resize(std::max(common.size(), number + 1));
    common[number] = true;
    return id;
  }
  static std::map<std::pair<std::vector<aid_t>, int>, AgreementSlots<int>> makings; // by member list
  return agree(makings, std::pair(members_of(comm), numbers().original), comm);
}

int new_communicator_number()
{
  return numbers().first_shared ? numbers().next_shared++ : program_numbers().next++;
}

void share_communicator_numbers()
{
  Numbers& all = numbers();
  if (all.first_shared)
    return;
  for (const auto& [name, program] : all.by_program)
    all.next_shared = std::max(all.next_shared, program.next);
  all.first_shared = all.next_shared;
}

bool is_shared_number(int number)
{
  return numbers().first_shared && number >= *numbers().first_shared;
}

MPI_Group common_group(MPI_Comm comm)
{
  constexpr int WORLD  = -1;
  const int number     = number_of(comm);
  const auto& common   = program_numbers().with_common_group;
  const bool is_common = number == WORLD || (number >= 0 && std::cmp_less(number, common.size()) &&
                                             common[static_cast<std::size_t>(number)]);
  return is_common ? comm->group() : MPI_GROUP_NULL;
}

CommonCreationScope::CommonCreationScope(MPI_Group group)
{
  numbers().making = group;
}

CommonCreationScope::~CommonCreationScope()
{
  numbers().making = MPI_GROUP_NULL;
}

MPI_Group CommonCreationScope::group()
{
  return numbers().making;
}

MPI_Group CommonCreationScope::take()
{
  return std::exchange(numbers().making, MPI_GROUP_NULL);
}

CopyScope::CopyScope(MPI_Comm original)
{
  numbers().copied = number_of(original);
}

CopyScope::~CopyScope()
{
  numbers().copied = MPI_UNDEFINED;
}

int CopyScope::take()
{
  return std::exchange(numbers().copied, MPI_UNDEFINED);
}

CommonAgreementScope::CommonAgreementScope(MPI_Group group, int original)
    : group_before_(std::exchange(numbers().agreeing, group)),
      original_before_(std::exchange(numbers().original, original))
{
}

CommonAgreementScope::~CommonAgreementScope()
{
  numbers().agreeing = group_before_;
  numbers().original = original_before_;
}

} // namespace weft
