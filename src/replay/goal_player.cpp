// SPDX-License-Identifier: LGPL-2.1-only
#include "replay/goal_player.hpp"

#include "replay/scratch.hpp"

#include <algorithm>
#include <climits>
#include <fstream>
#include <iomanip>
#include <simgrid/engine.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Host.hpp>
#include <smpi/smpi_helpers_internal.h>
#include <sstream>
#include <stdexcept>

namespace weft::replay {
namespace {

constexpr double NANOSECOND = 1e-9;

std::vector<std::size_t> numbers_of(const std::string& list)
{
  std::vector<std::size_t> all;
  std::istringstream words(list == "-" ? "" : list);
  for (std::string word; std::getline(words, word, ',');)
    all.push_back(std::stoul(word));
  return all;
}

/** Datatype and count of a message: counts are ints. */
struct Elements {
  MPI_Datatype type;
  int count;
};

Elements elements_of(std::int64_t bytes)
{
  constexpr std::int64_t DOUBLE = sizeof(double);
  if (bytes <= INT_MAX)
    return {MPI_BYTE, static_cast<int>(bytes)};
  return {MPI_DOUBLE, static_cast<int>((bytes + DOUBLE - 1) / DOUBLE)};
}

} // namespace

GoalFile::GoalFile(const std::string& path, int ranks) : operations_(static_cast<std::size_t>(ranks))
{
  std::ifstream file(path);
  if (not file)
    throw std::runtime_error(path + " cannot be read");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::size_t rank = 0;
    GoalLine one;
    std::string ends;
    std::string starts;
    words >> rank >> one.kind >> one.size >> one.peer >> one.tag >> one.cpu >> ends >> starts;
    one.after_ends   = numbers_of(ends);
    one.after_starts = numbers_of(starts);
    operations_.at(rank).push_back(std::move(one));
  }
}

void RankEnds::note(int rank, const char* path)
{
  seconds_.at(static_cast<std::size_t>(rank)) = simgrid_get_clock();
  if (--left_ > 0)
    return;
  std::ofstream file(path);
  file << std::setprecision(15) << '[';
  for (std::size_t one = 0; one < seconds_.size(); ++one)
    file << (one > 0 ? ", " : "") << seconds_[one];
  file << "]\n";
}

GoalPlayer::GoalPlayer(const std::vector<GoalLine>& lines) : lines_(lines), states_(lines.size()), left_(lines.size())
{
  for (std::size_t own = 0; own < lines.size(); ++own) {
    for (const std::size_t other : lines[own].after_ends)
      states_.at(other).at_end.push_back(own);
    for (const std::size_t other : lines[own].after_starts)
      states_.at(other).at_start.push_back(own);
    states_[own].missing = lines[own].after_ends.size() + lines[own].after_starts.size();
    if (states_[own].missing == 0)
      ready_.insert(own);
  }
}

void GoalPlayer::play()
{
  while (left_ > 0) {
    start_ready();
    const bool computes = std::ranges::any_of(cpus_, [](const auto& cpu) { return not cpu.second.empty(); });
    if (computes)
      compute();
    finish_messages(not computes);
  }
}

void GoalPlayer::start_ready()
{
  while (not ready_.empty()) {
    const std::size_t operation = *ready_.begin();
    ready_.erase(ready_.begin());
    start(operation);
  }
}

void GoalPlayer::start(std::size_t operation)
{
  const GoalLine& its = lines_[operation];
  release(states_[operation].at_start);
  if (its.kind == "calc") {
    cpus_[its.cpu].push_back(operation);
    return;
  }
  const Elements all   = elements_of(its.size);
  const auto bytes     = static_cast<std::size_t>(its.size);
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  if (its.kind == "send")
    MPI_Isend(Scratch::to_send().of(bytes), all.count, all.type, its.peer, its.tag, MPI_COMM_WORLD, &request);
  else
    MPI_Irecv(Scratch::to_receive().of(bytes), all.count, all.type, its.peer, its.tag, MPI_COMM_WORLD, &request);
  of_requests_.push_back(operation);
}

/** Computes until the first of the concurrent computations ends. */
void GoalPlayer::compute()
{
  double first = -1;
  for (const auto& [cpu, waiting] : cpus_) {
    if (waiting.empty())
      continue;
    const auto size = static_cast<double>(lines_[waiting.front()].size);
    const double of = remaining_.try_emplace(cpu, size * NANOSECOND).first->second;
    first           = first < 0 ? of : std::min(first, of);
  }
  if (first > 0)
    smpi_execute_flops_benched(first * simgrid::s4u::this_actor::get_host()->get_speed());
  std::vector<std::size_t> ended;
  for (auto& [cpu, waiting] : cpus_) {
    if (waiting.empty())
      continue;
    double& rest = remaining_.at(cpu);
    rest -= first;
    if (rest > NANOSECOND / 2)
      continue;
    ended.push_back(waiting.front());
    waiting.pop_front();
    remaining_.erase(cpu);
  }
  for (const std::size_t operation : ended)
    end(operation);
}

/** Completes the operations whose messages have arrived; @p wait: at least one, if there is any. */
void GoalPlayer::finish_messages(bool wait)
{
  const auto is_awaited = [this](std::size_t operation) { return not states_[operation].at_end.empty(); };
  if (requests_.empty() || (not wait && std::ranges::none_of(of_requests_, is_awaited)))
    return; // a test takes time
  int found = 0;
  std::vector<int> indices(requests_.size());
  const auto count = static_cast<int>(requests_.size());
  (wait ? MPI_Waitsome : MPI_Testsome)(count, requests_.data(), &found, indices.data(), MPI_STATUSES_IGNORE);
  std::vector<std::size_t> ended;
  ended.reserve(requests_.size());
  for (int one = 0; one < found; ++one)
    ended.push_back(of_requests_[static_cast<std::size_t>(indices[static_cast<std::size_t>(one)])]);
  std::size_t kept = 0;
  for (std::size_t one = 0; one < requests_.size(); ++one)
    if (requests_[one] != MPI_REQUEST_NULL) {
      requests_[kept]      = requests_[one];
      of_requests_[kept++] = of_requests_[one];
    }
  requests_.resize(kept);
  of_requests_.resize(kept);
  std::ranges::sort(ended);
  for (const std::size_t operation : ended)
    end(operation);
}

void GoalPlayer::end(std::size_t operation)
{
  --left_;
  release(states_[operation].at_end);
}

void GoalPlayer::release(const std::vector<std::size_t>& waiting)
{
  for (const std::size_t operation : waiting)
    if (--states_[operation].missing == 0)
      ready_.insert(operation);
}

} // namespace weft::replay
