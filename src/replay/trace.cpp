// SPDX-License-Identifier: LGPL-2.1-only
#include "replay/trace.hpp"

#include "mpi/names.hpp"
#include "replay/user_operation.hpp"

#include <sstream>
#include <stdexcept>

namespace weft::replay {
Action::Action(const std::string& line)
{
  std::istringstream words(line);
  for (std::string word; words >> word;)
    words_.push_back(word);
}

int Action::rank() const
{
  return std::stoi(words_.at(0));
}

int Action::integer()
{
  return std::stoi(words_.at(at_++));
}

double Action::real()
{
  return std::stod(words_.at(at_++));
}

std::vector<int> Action::integers(int count)
{
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int& one : all)
    one = integer();
  return all;
}

MPI_Datatype Action::datatype()
{
  return named_datatype(words_.at(at_++)).value();
}

MPI_Op Action::operation()
{
  const std::optional<MPI_Op> named = named_operation(words_.at(at_++));
  return named ? *named : user_operation(true);
}

Trace::Trace(const std::string& path, int ranks) : file_(path), ahead_(static_cast<std::size_t>(ranks))
{
  if (not file_)
    throw std::runtime_error(path + " cannot be read");
}

std::optional<Action> Trace::next(int rank)
{
  std::deque<Action>& mine = ahead_.at(static_cast<std::size_t>(rank));
  for (std::string line; mine.empty() && std::getline(file_, line);) {
    Action action(line);
    ahead_.at(static_cast<std::size_t>(action.rank())).push_back(std::move(action));
  }
  if (mine.empty())
    return std::nullopt;
  Action action = std::move(mine.front());
  mine.pop_front();
  return action;
}

} // namespace weft::replay
