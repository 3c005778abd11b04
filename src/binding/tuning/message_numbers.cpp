// SPDX-License-Identifier: LGPL-2.1-only
/* Sequence numbers of messages between two ranks of a communicator.
 *
 * SMPI numbers the messages of a communicator by sender, receiver and tag, so that messages in different mailboxes do
 * not overtake each other. SMPI's tables have string keys, which it builds five times per message, and keep every entry
 * for the life of the communicator. The table here keeps only pairs with messages in flight.
 *
 * Once all sent messages have been received, no message in flight has a number, and both counts can restart at 0.
 */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/call_locations.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/settings/tunings.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace weft {
namespace {

struct NumberedPair {
  aid_t first;      ///< actor of the communicator's rank 0, which distinguishes the programs
  int communicator; ///< SMPI's id, which a program never reuses; the same at sender and receiver
  int sender;
  int receiver;
  int tag;
  bool operator==(const NumberedPair&) const = default;
};

struct HashOfPair {
  std::size_t operator()(const NumberedPair& pair) const
  {
    constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15; // 2^64 divided by the golden ratio; multiplying spreads bits
    auto mixed                  = static_cast<std::uint64_t>(pair.first) * ODD;
    mixed                       = (mixed ^ static_cast<std::uint32_t>(pair.communicator)) * ODD;
    mixed                       = (mixed ^ static_cast<std::uint32_t>(pair.sender)) * ODD;
    mixed                       = (mixed ^ static_cast<std::uint32_t>(pair.receiver)) * ODD;
    mixed                       = (mixed ^ static_cast<std::uint32_t>(pair.tag)) * ODD;
    return mixed ^ (mixed >> 32U);
  }
};

struct PairCounts {
  unsigned sent     = 0;
  unsigned received = 0;
};

using NumberTable = std::unordered_map<NumberedPair, PairCounts, HashOfPair>;

/** Table for all communicators, leaked: ranks may end during static destruction. */
NumberTable& number_table()
{
  static auto* const ALL = new NumberTable;
  return *ALL;
}

/** Returns whether messages of @p comm are numbered here. SMPI numbers the messages of communicators without a unique
 * id: those that SMPI is creating, MPI_COMM_SELF, and the worlds of a run with several programs. */
bool numbers_here(simgrid::smpi::Comm* comm)
{
  if (not is_on(TuningId::message_numbers))
    return false;
  const int number = comm->id();
  return number >= 0 || (number != MPI_UNDEFINED && comm == MPI_COMM_WORLD);
}

/** Returns the key of a pair. An intercommunicator has actors instead of ranks: neither side's own rank is in its
 * group. */
NumberedPair pair_of(simgrid::smpi::Comm* comm, int sender, int receiver, int tag)
{
  if (const Intercommunicator* const its = intercommunicator_of(comm)) [[unlikely]] {
    const MPI_Group remote = comm->group();
    const auto actor       = [&](int rank) {
      return static_cast<int>(rank == MPI_UNDEFINED ? its->owner : remote->actor(rank));
    };
    return {0, comm->id(), actor(sender), actor(receiver), tag};
  }
  return {comm->group()->actor(0), comm->id(), sender, receiver, tag};
}

unsigned messages_between(simgrid::smpi::Comm* comm, int sender, int receiver, int tag, unsigned PairCounts::* which)
{
  const auto found = number_table().find(pair_of(comm, sender, receiver, tag));
  return found == number_table().end() ? 0 : found->second.*which;
}

void number_one_more(simgrid::smpi::Comm* comm, int sender, int receiver, int tag, unsigned PairCounts::* which)
{
  const auto found = number_table().try_emplace(pair_of(comm, sender, receiver, tag)).first;
  found->second.*which += 1;
  if (found->second.sent == found->second.received)
    number_table().erase(found);
}

/** Signature of SMPI functions on a communicator. */
template <class Result> using TheirsOfComm = Result (*)(simgrid::smpi::Comm*, int, int, int);

} // namespace
} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED unsigned Comm::get_sent_messages_count(int sender, int receiver, int tag)
{
  static const auto THEIRS =
      weft::original<weft::TheirsOfComm<unsigned>>("_ZN7simgrid4smpi4Comm23get_sent_messages_countEiii");
  if (not weft::numbers_here(this))
    return THEIRS(this, sender, receiver, tag);
  return weft::messages_between(this, sender, receiver, tag, &weft::PairCounts::sent);
}

WEFT_INTERPOSED void Comm::increment_sent_messages_count(int sender, int receiver, int tag)
{
  static const auto THEIRS =
      weft::original<weft::TheirsOfComm<void>>("_ZN7simgrid4smpi4Comm29increment_sent_messages_countEiii");
  if (not weft::numbers_here(this))
    return THEIRS(this, sender, receiver, tag);
  if (not is_smp_comm()) // whose receivers ignore the number (Request::match_recv)
    weft::number_one_more(this, sender, receiver, tag, &weft::PairCounts::sent);
}

WEFT_INTERPOSED unsigned Comm::get_received_messages_count(int sender, int receiver, int tag)
{
  static const auto THEIRS =
      weft::original<weft::TheirsOfComm<unsigned>>("_ZN7simgrid4smpi4Comm27get_received_messages_countEiii");
  if (not weft::numbers_here(this))
    return THEIRS(this, sender, receiver, tag);
  return weft::messages_between(this, sender, receiver, tag, &weft::PairCounts::received);
}

WEFT_INTERPOSED void Comm::increment_received_messages_count(int sender, int receiver, int tag)
{
  static const auto THEIRS =
      weft::original<weft::TheirsOfComm<void>>("_ZN7simgrid4smpi4Comm33increment_received_messages_countEiii");
  if (not weft::numbers_here(this))
    return THEIRS(this, sender, receiver, tag);
  weft::number_one_more(this, sender, receiver, tag, &weft::PairCounts::received);
}

} // namespace simgrid::smpi

/** Source location of a call, used only by SimGrid's model checker, which does not run here: SMPI formats it for each
 * message start and each wait. */
// NOLINTNEXTLINE(modernize-use-string-view): SMPI's signature
WEFT_INTERPOSED std::string smpi_trace_call_location_t::get_call_location() const
{
  static const auto THEIRS = weft::original<std::string (*)(const smpi_trace_call_location_t*)>(
      "_ZNK26smpi_trace_call_location_t17get_call_locationB5cxx11Ev");
  return weft::is_on(weft::TuningId::call_locations) ? std::string() : THEIRS(this);
}
