// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/diagnosis.hpp"

#include "binding/platform/flow_result.hpp"
#include "binding/threads/futexes.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns the first ranks as text: "0, 1, 2 and 61 more". */
std::string some_of(const std::vector<int>& ranks)
{
  constexpr std::size_t SHOWN = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(SHOWN, ranks.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > SHOWN)
    text += " and " + std::to_string(ranks.size() - SHOWN) + " more";
  return text;
}

int mpi_rank(const sg::Actor& actor)
{
  const char* rank = actor.get_property("rank");
  return rank ? static_cast<int>(std::strtol(rank, nullptr, 10)) : -1;
}

/** Returns the simulated time as text: "0.001 s". */
std::string seconds_now()
{
  std::ostringstream text;
  text << sg::Engine::get_clock() << " s";
  return text.str();
}

/** Returns the ranks in a call as text: "MPI_Barrier() holds ranks 0, 1 and waits for 2." */
std::string holders_of(const CallInFlight& call)
{
  std::vector<int> inside;
  std::vector<int> missing;
  for (int rank = 0; std::cmp_less(rank, call.inside.size()); ++rank) {
    if (call.inside[static_cast<std::size_t>(rank)])
      inside.push_back(rank);
    else if (std::cmp_less(call.entered, call.inside.size()))
      missing.push_back(rank);
  }
  const std::string waits = missing.empty() ? "" : " and waits for " + some_of(missing);
  return call.call->text() + " holds ranks " + some_of(inside) + waits + ".";
}

} // namespace

std::string describe_deadlock(const Communicators& communicators, const ConcernsRank& concerns,
                              const std::string& messages)
{
  static const std::deque<std::shared_ptr<CallInFlight>> NONE;
  std::ostringstream text;
  text << "deadlock at " << seconds_now() << " of simulated time: no rank can proceed.";
  for (const auto& [key, communicator] : communicators.all())
    for (const auto& call : concerns(communicator->actors.front()) ? communicator->pending() : NONE)
      text << " On " << communicator->text() << ", " << holders_of(*call);
  text << messages;
  if (const std::size_t threads = threads_at_futexes(); threads > 0)
    text << ' ' << threads << (threads == 1 ? " thread of the program waits" : " threads of the program wait")
         << " for others (pthread_mutex_lock, pthread_cond_wait, …).";
  if (const std::size_t threads = waiting_threads(); threads > 0)
    text << ' ' << threads << (threads == 1 ? " thread of the program waits" : " threads of the program wait")
         << " for another thread of the same rank to leave MPI (MPI_THREAD_SERIALIZED).";
  std::vector<int> alive;
  for (const sg::ActorPtr& actor : sg::Engine::get_instance()->get_all_actors())
    if (const int rank = mpi_rank(*actor); rank >= 0 && concerns(actor->get_pid()))
      alive.push_back(rank);
  std::ranges::sort(alive);
  const auto repeated = std::ranges::unique(alive); // simulated threads of a rank
  alive.erase(repeated.begin(), repeated.end());
  text << " Ranks that have not ended: " << some_of(alive)
       << ". Look for a receive without a matching send, or a collective that not all ranks of a communicator call.";
  return text.str();
}

std::string describe_mismatch(const Communicator& communicator, const std::string& calls)
{
  return "on " + communicator.text() + ", " + calls +
         ". All ranks of a communicator must call the same collectives in the same order.";
}

std::string describe_broken_call(const Communicator& communicator, const CallDescriptor& call,
                                 const std::string& failure)
{
  return failure + " at " + seconds_now() + " of simulated time, and " + call.text() + " on " + communicator.text() +
         " needs it";
}

std::string describe_broken_message(const std::string& whose, const std::string& failure)
{
  const std::string off   = links_off(sg::Engine::get_instance()->get_all_links());
  const std::string known = off.empty() ? "the network has failed" : off;
  return (failure.empty() ? known : failure) + " at " + seconds_now() + " of simulated time, and " + whose +
         " waits for a message that needs it";
}

std::optional<std::string> describe_missing_rank(const Communicator& communicator,
                                                 const std::unordered_set<aid_t>& ended)
{
  for (int rank = 0; not ended.empty() && rank < communicator.size(); ++rank) {
    const CallInFlight* call = communicator.waiting_for(rank);
    if (call && ended.contains(communicator.actors[static_cast<std::size_t>(rank)]))
      return describe_mismatch(communicator, "rank " + std::to_string(call->first_rank) + " called " +
                                                 call->call->text() + " as collective number " +
                                                 std::to_string(communicator.calls_made(rank) + 1) + ", and rank " +
                                                 std::to_string(rank) + " has ended without it");
  }
  return std::nullopt;
}

const Communicator* waiting_for(const Communicators& communicators, aid_t rank)
{
  for (const auto& [key, communicator] : communicators.all())
    if (not communicator->pending().empty())
      if (const std::optional<int> number = communicator->rank_of(rank); number && communicator->waiting_for(*number))
        return communicator.get();
  return nullptr;
}

} // namespace weft
