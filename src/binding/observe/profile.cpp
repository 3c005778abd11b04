// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/observe/profile.hpp"

#include "base/prefetch.hpp"
#include "binding/observe/computation_clock.hpp"
#include "binding/observe/json/json_rows.hpp"
#include "binding/observe/rank_counters.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string_view>
#include <utility>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {

bool progresses(const MpiFunction& function)
{
  const std::string_view name = function.name;
  const auto has              = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const bool starts           = name.starts_with("MPI_I") || name.ends_with("_init");
  switch (function.kind) {
    case CallKind::waits:
    case CallKind::polls:
    case CallKind::one_sided:
      return true;
    case CallKind::communicators:
      return not has("_idup");
    case CallKind::collectives:
      return not starts;
    case CallKind::io: // collective calls wait for ranks; all others wait for the file system
      return (has("_all") && not has("_iread") && not has("_iwrite")) || has("_ordered") || has("_open") ||
             has("_close") || has("_sync") || has("_set_") || has("_preallocate");
    case CallKind::point_to_point:
      return false;
    case CallKind::other:
      return name != "MPI_Wtime";
  }
  return false;
}

Profile& Profile::get()
{
  static auto* profile = new Profile; // leaked, since ranks may end during static destruction
  return *profile;
}

void Profile::rank_begins(aid_t actor)
{
  by_actor_[actor] = &ranks_.emplace_back(
      RankActivity{.rank = static_cast<int>(ranks_.size()), .actor = actor, .begun = sg::Engine::get_clock()});
}

std::int64_t Profile::completed_calls(aid_t actor) const
{
  const RankActivity* const rank = by_actor_.get(actor);
  std::int64_t all               = 0;
  for (std::size_t kind = 0; kind < times_.size(); ++kind)
    if (kind != static_cast<std::size_t>(CallKind::other))
      all += known_time_of(*rank, kind).calls;
  return rank->inside && rank->inside->kind != CallKind::other ? all - 1 : all;
}

void Profile::rank_ends(aid_t actor)
{
  RankActivity* const rank = by_actor_.get(actor);
  const double now         = sg::Engine::get_clock();
  if (not rank || rank->over)
    return;
  close(*rank, now);
  rank->over  = true;
  rank->since = now;
}

KindTime& Profile::time_of(const RankActivity& rank, CallKind kind)
{
  auto& times   = times_[static_cast<std::size_t>(kind)];
  const auto at = static_cast<std::size_t>(rank.rank);
  if (at >= times.size()) {
    if (times.empty())
      times.reserve(ranks_.size()); // exact size, since doubling would waste memory
    times.resize(ranks_.size());
  }
  return times[at];
}

/** Returns the activity of the current simulated thread of a rank, other than the main thread. */
RankActivity* Profile::activity_of_thread(aid_t actor)
{
  const RankActivity* const rank = by_actor_.get(actor);
  return rank ? &threads_.try_emplace(thread_actor, RankActivity{.rank = rank->rank, .actor = actor}).first->second
              : nullptr;
}

void Profile::attend(RankActivity& caller)
{
  caller.attends = true;
  if (thread_actor != 0)
    ++threads_attending_[caller.actor];
  if (on_entry_)
    on_entry_(caller.actor);
}

void Profile::no_longer_attend(RankActivity& caller, double now)
{
  caller.attends = false;
  if (threads_.empty()) [[likely]] {
    caller.attended = now;
    return;
  }
  if (&caller != by_actor_.get(caller.actor))
    if (const auto found = threads_attending_.find(caller.actor); --found->second == 0)
      threads_attending_.erase(found);
  by_actor_.get(caller.actor)->attended = now;
}

RankActivity* Profile::enter(MpiFunction& function)
{
  const bool begun   = threads_may_call && begin_call();
  const aid_t actor  = current_actor();
  RankActivity* rank = thread_actor == 0 ? by_actor_.get(actor) : activity_of_thread(actor);
  if (not rank || rank->inside) {
    if (begun)
      end_call();
    return nullptr;
  }
  // Ranks mostly arrive in the order of their actors.
  if (constexpr aid_t NEXT = 4; RankActivity* const next = by_actor_.get(actor + NEXT))
    prefetch(next, sizeof(RankActivity));
  if (not function.known_to_profile) {
    function.known_to_profile = true;
    function.progresses       = progresses(function);
    functions_.push_back(&function);
  }
  settle_computation();
  rank->inside = &function;
  rank->since  = time_of_rank();
  function.calls += 1;
  time_of(*rank, function.kind).calls += 1;
  if (function.progresses)
    attend(*rank);
  return rank;
}

bool Profile::begin_attending(aid_t actor)
{
  RankActivity* const rank = thread_actor == 0 ? by_actor_.get(actor) : activity_of_thread(actor);
  if (not rank || rank->attends)
    return false;
  attend(*rank);
  return true;
}

void Profile::end_attending(aid_t actor)
{
  no_longer_attend(thread_actor == 0 ? *by_actor_.get(actor) : *activity_of_thread(actor), sg::Engine::get_clock());
}

std::int64_t Profile::calls() const
{
  return std::accumulate(functions_.begin(), functions_.end(), std::int64_t{0},
                         [](std::int64_t sum, const MpiFunction* function) { return sum + function->calls; });
}

void Profile::leave(RankActivity& rank)
{
  close(rank, time_of_rank());
  if (threads_may_call) [[unlikely]]
    end_call();
}

void Profile::close(RankActivity& rank, double now)
{
  if (not rank.inside)
    return;
  if (rank.attends)
    no_longer_attend(rank, now);
  MpiFunction& function = *rank.inside;
  const double time     = now - rank.since;
  rank.inside           = nullptr;
  time_of(rank, function.kind).time += time;
  function.total_time += time;
  function.max_time = std::max(function.max_time, time);
  if (RankCounters::exist()) [[unlikely]]
    RankCounters::count_function(rank.actor, function, time);
  if (keep_slices && not function.traced && time > 0)
    slices_.push_back({rank.rank, &function, rank.since, now});
}

void Profile::stop()
{
  for (RankActivity& rank : ranks_)
    close(rank, sg::Engine::get_clock());
  for (auto& [actor, thread] : threads_)
    close(thread, sg::Engine::get_clock());
}

Json Profile::row(const std::string& kind, std::int64_t calls, const std::vector<double>& times) const
{
  double total = 0;
  for (const double time : times)
    total += time;
  const auto [least, most] = std::ranges::minmax(times);
  return {{"kind", kind},     {"calls", calls},
          {"least_s", least}, {"mean_s", total / static_cast<double>(times.size())},
          {"most_s", most},   {"ranks_s", times}};
}

KindTime Profile::known_time_of(const RankActivity& rank, std::size_t kind) const
{
  const auto at = static_cast<std::size_t>(rank.rank);
  return at < times_[kind].size() ? times_[kind][at] : KindTime();
}

/** Returns the times of some ranks within an interval of the run. */
Json Profile::kinds_of(const std::vector<const RankActivity*>& ranks, double begin, double end) const
{
  Json rows = Json::array();
  if (functions_.empty() || ranks.empty())
    return rows;
  std::vector<double> before;
  std::vector<double> outside;
  std::vector<double> after;
  for (const RankActivity* rank : ranks) {
    const double until = rank->over ? rank->since : end;
    double in_calls    = 0;
    for (std::size_t kind = 0; kind < CALL_KINDS; ++kind)
      in_calls += known_time_of(*rank, kind).time;
    before.push_back(rank->begun - begin);
    outside.push_back(std::max(0.0, until - rank->begun - in_calls));
    after.push_back(end - until);
  }
  for (std::size_t kind = 0; kind < CALL_KINDS; ++kind) {
    std::vector<double> times;
    std::int64_t calls = 0;
    for (const RankActivity* rank : ranks) {
      const KindTime known = known_time_of(*rank, kind);
      times.push_back(known.time);
      calls += known.calls;
    }
    if (calls > 0)
      rows.push_back(row(KIND_NAMES[kind], calls, times));
  }
  const auto any = [](const std::vector<double>& times) {
    return std::ranges::any_of(times, [](double time) { return time > 0; });
  };
  if (any(before))
    rows.push_back(row("not begun", 0, before));
  rows.push_back(row("outside MPI", 0, outside));
  if (any(after))
    rows.push_back(row("ended", 0, after));
  return rows;
}

Json Profile::kinds_to_json(double simulated_time) const
{
  std::vector<const RankActivity*> ranks;
  ranks.reserve(ranks_.size());
  for (const RankActivity& rank : ranks_)
    ranks.push_back(&rank);
  return kinds_of(ranks, 0, simulated_time);
}

Json Profile::kinds_to_json(double end, const std::vector<aid_t>& actors) const
{
  std::vector<const RankActivity*> ranks;
  ranks.reserve(actors.size());
  for (const aid_t actor : actors)
    ranks.push_back(by_actor_.get(actor));
  return kinds_of(ranks, ranks.empty() ? 0 : ranks.front()->begun, end);
}

Json Profile::functions_to_json() const
{
  std::vector<const MpiFunction*> sorted(functions_.begin(), functions_.end());
  std::ranges::sort(sorted, {}, [](const MpiFunction* function) { return std::string_view(function->name); });
  return rows_of(sorted, [](const MpiFunction* function) -> Json {
    return {{"call", function->name},
            {"kind", KIND_NAMES[static_cast<std::size_t>(function->kind)]},
            {"calls", function->calls},
            {"total_time_s", function->total_time},
            {"max_time_s", function->max_time}};
  });
}

Json Profile::slices_to_json() const
{
  return rows_of(slices_, [](const CallSlice& slice) -> Json {
    return {{"rank", slice.rank}, {"call", slice.function->name}, {"start_s", slice.start}, {"end_s", slice.end}};
  });
}

} // namespace weft
