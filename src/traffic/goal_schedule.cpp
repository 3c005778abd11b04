// SPDX-License-Identifier: LGPL-2.1-only
#include "traffic/goal_schedule.hpp"

#include <stdexcept>
#include <utility>

namespace weft {

GoalExecution::GoalExecution(const GoalSchedule& schedule, GoalPort& port, Bytes eager) : port_(port), eager_(eager)
{
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    const std::size_t first = states_.size();
    for (const GoalOperation& operation : schedule[rank]) {
      if (operation.kind != GoalOperation::Kind::compute &&
          (operation.peer < 0 || std::cmp_greater_equal(operation.peer, schedule.size())))
        throw std::logic_error("a GOAL schedule names rank " + std::to_string(operation.peer));
      states_.push_back({&operation, static_cast<int>(rank), 0, {}, {}});
    }
    for (std::size_t own = first; own < states_.size(); ++own) {
      const GoalOperation& operation = *states_[own].operation;
      for (const int other : operation.after_ends)
        states_.at(first + static_cast<std::size_t>(other)).at_end.push_back(own);
      for (const int other : operation.after_starts)
        states_.at(first + static_cast<std::size_t>(other)).at_start.push_back(own);
    }
  }
}

void GoalExecution::begin()
{
  left_ = states_.size();
  for (std::size_t number = 0; number < states_.size(); ++number) {
    const GoalOperation& operation = *states_[number].operation;
    states_[number].missing        = static_cast<int>(operation.after_ends.size() + operation.after_starts.size());
    if (states_[number].missing == 0)
      ready_.push_back(number);
  }
  run_ready();
}

/** Starts all ready operations, and those that become ready thereby; iterative, since a chain may be long. */
void GoalExecution::run_ready()
{
  while (not ready_.empty()) {
    const std::size_t operation = ready_.back();
    ready_.pop_back();
    start(operation);
  }
}

void GoalExecution::start(std::size_t operation)
{
  const State& state       = states_[operation];
  const GoalOperation& its = *state.operation;
  release(state.at_start);
  switch (its.kind) {
    case GoalOperation::Kind::compute:
      compute(operation);
      break;
    case GoalOperation::Kind::send:
      port_.send(state.rank, its.peer, its.bytes, operation);
      if (its.bytes < eager_)
        end(operation);
      break;
    case GoalOperation::Kind::receive:
      if (matching_.post(static_cast<MessageMatching::Endpoint>(state.rank), operation, its.peer, its.tag).found)
        end(operation);
  }
}

void GoalExecution::compute(std::size_t operation)
{
  const State& state = states_[operation];
  Cpu& cpu           = cpus_[{state.rank, state.operation->cpu}];
  if (std::exchange(cpu.busy, true))
    cpu.waiting.push_back(operation);
  else
    port_.compute(state.operation->time, operation);
}

void GoalExecution::computed(std::size_t operation)
{
  const State& state = states_[operation];
  Cpu& cpu           = cpus_[{state.rank, state.operation->cpu}];
  cpu.busy           = false;
  if (not cpu.waiting.empty()) {
    const std::size_t next = cpu.waiting.front();
    cpu.waiting.pop_front();
    compute(next);
  }
  end(operation);
  run_ready();
}

void GoalExecution::arrived(std::size_t operation)
{
  const State& state       = states_[operation];
  const GoalOperation& its = *state.operation;
  if (not(its.bytes < eager_))
    end(operation);
  const auto to = static_cast<MessageMatching::Endpoint>(its.peer);
  if (const auto receive = matching_.arrive(to, operation, state.rank, its.tag))
    end(*receive);
  run_ready();
}

void GoalExecution::end(std::size_t operation)
{
  --left_;
  release(states_[operation].at_end);
}

void GoalExecution::release(const std::vector<std::size_t>& waiting)
{
  for (const std::size_t operation : waiting)
    if (--states_[operation].missing == 0)
      ready_.push_back(operation);
}

} // namespace weft
