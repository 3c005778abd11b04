// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/simulated_team.hpp"

#include "binding/process/process.hpp"
#include "binding/threads/futexes.hpp"
#include "binding/threads/system_futex.hpp"

namespace weft {
namespace {

template <class Function> Function openmp_function(const char* name)
{
  return reinterpret_cast<Function>(openmp_symbol(name));
}

int team_size()
{
  static const auto THEIRS = openmp_function<int (*)()>("omp_get_num_threads");
  return THEIRS();
}

int own_number()
{
  static const auto THEIRS = openmp_function<int (*)()>("omp_get_thread_num");
  return THEIRS();
}

/** Waits for the team, and executes the remaining tasks. */
void wait_for_team()
{
  static const auto THEIRS = openmp_function<void (*)()>("GOMP_barrier");
  THEIRS();
}

} // namespace

void SimulatedTeam::execute_as_master(void (*code)(void*), void* data)
{
  constexpr double NEVER = -1;
  const SimulatedFutexes simulated;
  const int size = team_size();
  for (int number = 1; number < size; ++number)
    members_.push_back(std::make_unique<SimulatedThread>(false));
  size_.store(static_cast<std::uint32_t>(size)); // members then await their turns, which come once they have started
  wake_system_futex(&size_);
  for (const auto& member : members_)
    member->start();
  code(data);
  if (members_.empty())
    return;
  wait_for_team();
  for (const auto& member : members_)
    member->join(NEVER);
}

void SimulatedTeam::execute_as_member(void (*code)(void*), void* data)
{
  while (size_.load() == 0)
    wait_for_system_futex(&size_, 0);
  filter_this_thread();
  SimulatedThread& own = *members_[static_cast<std::size_t>(own_number()) - 1];
  own.begin();
  code(data);
  wait_for_team();
  own.finish();
}

void SimulatedTeam::execute(bool is_master, void (*code)(void*), void* data)
{
  if (is_master)
    execute_as_master(code, data);
  else
    execute_as_member(code, data);
}

} // namespace weft
