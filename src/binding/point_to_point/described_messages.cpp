// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/described_messages.hpp"

#include "binding/abi/smpi/requests.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/requests/request_list.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

constexpr std::size_t SHOWN_WAITS    = 8;
constexpr std::size_t SHOWN_MESSAGES = 4;
/** Memory per message in addition to its data, in bytes. */
constexpr std::size_t A_MESSAGE = 500;
/** Memory size from which an unexpected message queue is reported. */
constexpr std::size_t WORTH_NOTING = 8U << 20U;

int rank_of_actor(aid_t actor)
{
  const sg::ActorPtr its = sg::Actor::by_pid(actor);
  const char* const rank = its ? its->get_property("rank") : nullptr;
  return rank ? static_cast<int>(std::strtol(rank, nullptr, 10)) : -1;
}

std::string text_of_rank(aid_t actor)
{
  if (actor == MPI_ANY_SOURCE)
    return "any rank";
  const int rank = rank_of_actor(actor);
  return rank < 0 ? "a rank that has ended" : "rank " + std::to_string(rank);
}

/** Returns " with tag 7 on MPI_COMM_WORLD". */
std::string text_of_envelope(int tag, const Endpoints::Owner& owner)
{
  std::string text = " with tag " + std::to_string(tag);
  if (tag == MPI_ANY_TAG)
    text = " with any tag";
  else if (tag < INTERCOMMUNICATOR_TAG)
    text = " of MPI_Intercomm_create";
  else if (tag < 0) // SMPI's
    text = " of a collective";
  if (owner.communicator < 0)
    return text + " on MPI_COMM_WORLD";
  if (owner.remote > 0)
    return text + " on intercommunicator " + std::to_string(owner.communicator) + " (of " +
           std::to_string(owner.ranks) + " local and " + std::to_string(owner.remote) + " remote ranks)";
  return text + " on communicator " + std::to_string(owner.communicator) + " (of " + std::to_string(owner.ranks) +
         " ranks)";
}

std::string text_of_time(double seconds)
{
  std::ostringstream text;
  text << seconds << " s";
  return text.str();
}

/** One rank's wait, with the rank to sort by. */
using Wait = std::pair<int, std::string>;

/** Returns the first texts, each as a sentence, and the number of the remaining ones. */
std::string sentences(std::vector<Wait> waits)
{
  std::ranges::stable_sort(waits, {}, &Wait::first);
  std::string text;
  for (std::size_t i = 0; i < std::min(SHOWN_WAITS, waits.size()); ++i)
    text += " " + waits[i].second + ".";
  if (waits.size() > SHOWN_WAITS)
    text += " There are " + std::to_string(waits.size() - SHOWN_WAITS) + " more such waits.";
  return text;
}

std::string text_of_message(const SentMessage& message, int tag, const Endpoints::Owner& owner)
{
  return std::to_string(message.size) + (message.size == 1 ? " byte" : " bytes") + " from " +
         text_of_rank(message.source) + text_of_envelope(tag, owner);
}

bool is_awaited(MPI_Request request)
{
  const RequestLayout& fields = layout_of(request);
  return (fields.flags & simgrid::smpi::AWAITED_FLAG) != 0 || fields.action ||
         RequestList::awaits(request, owner_of(request));
}

} // namespace

std::string DescribedMessages::begin_of_wait(aid_t actor) const
{
  const double since     = waits_.since(actor);
  const std::string text = since >= 0 ? " since " + text_of_time(since) : "";
  return "Rank " + std::to_string(rank_of_actor(actor)) + " has waited" + text + " for ";
}

std::string DescribedMessages::describe_waits(const ConcernsRank& concerns) const
{
  std::vector<Wait> waits;
  matching_.for_each_receive([&](MessageMatching::Endpoint endpoint, std::uint64_t receive, int /*source*/, int) {
    const RequestLayout& fields = layout_of(request_of(receive));
    if (concerns(fields.destination) && is_awaited(request_of(receive)))
      waits.emplace_back(rank_of_actor(fields.destination),
                         begin_of_wait(fields.destination) + "a message from " + text_of_rank(fields.source) +
                             text_of_envelope(fields.tag, endpoints_.owner(endpoint)));
  });
  std::size_t unexpected = 0;
  std::string messages;
  matching_.for_each_message([&](MessageMatching::Endpoint endpoint, std::uint64_t number, int /*source*/, int tag) {
    const SentMessage& message    = sent_[number];
    const Endpoints::Owner& owner = endpoints_.owner(endpoint);
    if (not concerns(owner.actor))
      return;
    if (message.sender != MPI_REQUEST_NULL && not message.detached && is_awaited(message.sender))
      waits.emplace_back(rank_of_actor(message.source), begin_of_wait(message.source) + text_of_rank(owner.actor) +
                                                            " to receive " + text_of_message(message, tag, owner));
    else if (++unexpected <= SHOWN_MESSAGES)
      messages += (unexpected == 1 ? "" : "; ") + text_of_rank(owner.actor) + " has not received " +
                  text_of_message(message, tag, owner) + ", sent at " + text_of_time(message.sent);
  });
  for (const auto& [caller, probe] : waits_.probes())
    if (concerns(probe.rank))
      waits.emplace_back(rank_of_actor(probe.rank), begin_of_wait(probe.rank) + "a message to probe, from " +
                                                        text_of_rank(probe.source) +
                                                        text_of_envelope(probe.tag, probe.owner));
  if (unexpected > SHOWN_MESSAGES)
    messages += "; and there are " + std::to_string(unexpected - SHOWN_MESSAGES) + " more such messages";
  return sentences(std::move(waits)) + (messages.empty() ? "" : " Unexpected messages: " + messages + ".");
}

void DescribedMessages::note_growth()
{
  const std::size_t grown = sent_.kept_bytes() - noted_kept_ + A_MESSAGE * (sent_.most() - noted_messages_);
  if (grown < std::max(WORTH_NOTING, noted_bytes_ / 4))
    return;
  noted_kept_     = sent_.kept_bytes();
  noted_messages_ = sent_.most();
  note_longest_queue();
}

/** Writes a file about the largest unexpected message queue, for the error of a run that is killed because it has
 * exceeded its memory. */
void DescribedMessages::note_longest_queue()
{
  struct Queue {
    std::size_t messages     = 0;
    std::size_t bytes        = 0;
    const SentMessage* first = nullptr;
    int tag                  = 0;
    std::size_t memory() const { return bytes + A_MESSAGE * messages; }
  };
  std::unordered_map<MessageMatching::Endpoint, Queue> queues;
  matching_.for_each_message([&](MessageMatching::Endpoint endpoint, std::uint64_t number, int /*source*/, int tag) {
    Queue& queue = queues[endpoint];
    if (queue.messages++ == 0) {
      queue.first = &sent_[number];
      queue.tag   = tag;
    }
    queue.bytes += sent_[number].kept ? sent_[number].size : 0;
  });
  const auto longest = std::ranges::max_element(queues, {}, [](const auto& one) { return one.second.memory(); });
  if (longest == queues.end() || longest->second.memory() < std::max(WORTH_NOTING, noted_bytes_) ||
      settings().record.empty())
    return;
  const auto& [endpoint, queue] = *longest;
  noted_bytes_                  = queue.memory();
  const Endpoints::Owner& owner = endpoints_.owner(endpoint);
  std::ofstream(settings().record + ".queue")
      << text_of_rank(owner.actor) << " had not received " << queue.messages << " messages, the first of "
      << text_of_message(*queue.first, queue.tag, owner) << ", sent at " << text_of_time(queue.first->sent)
      << std::flush;
}

} // namespace weft
