// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI numbers the messages of a communicator by sender, receiver and tag, so that none overtakes another on its way
 * through another mailbox. Its tables have texts as keys, which it makes five times a message, and keep them as long as
 * the communicator lives. These keep what is on its way alone.
 *
 * Once as many messages have come as have been sent nobody holds a number, and both may begin again at 0.
 */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace weft {
namespace {

struct NumberedPair {
  std::int64_t communicator; ///< its number, which SMPI never uses again; the same at sender and receiver
  int sender;
  int receiver;
  int tag;
  bool operator==(const NumberedPair&) const = default;
};

struct HashOfPair {
  std::size_t operator()(const NumberedPair& pair) const
  {
    constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15; // 2^64 by the golden ratio: multiplication spreads what differs
    auto mixed                  = static_cast<std::uint64_t>(pair.communicator) * ODD;
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

/** Of all communicators; ranks may still end while the process's static objects are destroyed. */
NumberTable& number_table()
{
  static auto* const ALL = new NumberTable;
  return *ALL;
}

/** Whether messages are counted here: not where communicators have no number of their own, which are those that SMPI is
 *  making, MPI_COMM_SELF, and where several programs run the worlds of each. */
bool numbers_here(const simgrid::smpi::Comm* comm)
{
  const int number = comm->id();
  return number >= 0 || (number != MPI_UNDEFINED && comm == MPI_COMM_WORLD);
}

unsigned messages_between(const simgrid::smpi::Comm* comm, int sender, int receiver, int tag,
                          unsigned PairCounts::* which)
{
  const auto found = number_table().find({comm->id(), sender, receiver, tag});
  return found == number_table().end() ? 0 : found->second.*which;
}

void number_one_more(const simgrid::smpi::Comm* comm, int sender, int receiver, int tag, unsigned PairCounts::* which)
{
  const auto found = number_table().try_emplace({comm->id(), sender, receiver, tag}).first;
  found->second.*which += 1;
  if (found->second.sent == found->second.received)
    number_table().erase(found);
}

/** SMPI's function of a communicator. */
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
  if (not is_smp_comm()) // whose receivers look at no number (Request::match_recv)
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

/** Where a call stands in the program, for SimGrid's model checker alone, which does not run here: SMPI writes it out
 * for each message that begins and each wait. */
// NOLINTNEXTLINE(modernize-use-string-view): SMPI's signature
WEFT_INTERPOSED std::string smpi_trace_call_location_t::get_call_location() const
{
  return {};
}
