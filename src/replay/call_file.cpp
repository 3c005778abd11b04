// SPDX-License-Identifier: LGPL-2.1-only
#include "replay/call_file.hpp"

#include "mpi/names.hpp"
#include "replay/user_operation.hpp"

#include <charconv>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace weft::replay {
namespace {

constexpr std::string_view DERIVED = "derived:";

template <class Number> Number parsed(std::string_view word)
{
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size())
    throw std::runtime_error("a trace has '" + std::string(word) + "' instead of a number");
  return number;
}

/** Calls @p take with each item of a list and its repeat count. */
template <class Take> void each(std::string_view list, Take&& take)
{
  while (not list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const auto star = item.find('*');
    take(item.substr(0, star), star == std::string_view::npos ? 1 : parsed<std::size_t>(item.substr(star + 1)));
  }
}

/** Returns a datatype of @p size bytes; traces record only the size of derived datatypes. */
MPI_Datatype derived(int size)
{
  static std::map<int, MPI_Datatype> known;
  const auto [place, is_new] = known.try_emplace(size, MPI_DATATYPE_NULL);
  if (is_new) {
    MPI_Type_contiguous(size, MPI_BYTE, &place->second);
    MPI_Type_commit(&place->second);
  }
  return place->second;
}

MPI_Datatype datatype_of(std::string_view word)
{
  if (word.starts_with(DERIVED))
    return derived(parsed<int>(word.substr(DERIVED.size())));
  return named_datatype(std::string(word)).value();
}

} // namespace

std::string_view Words::ahead() const
{
  const std::string_view rest = std::string_view(line_).substr(std::min(at_, line_.size()));
  return rest.substr(0, rest.find(' '));
}

std::string_view Words::next()
{
  const std::string_view word = ahead();
  if (word.empty())
    throw std::runtime_error("a line of the trace is truncated: " + line_);
  at_ += word.size() + 1;
  return word;
}

int Words::integer()
{
  return parsed<int>(next());
}

long long Words::bytes()
{
  return parsed<long long>(next());
}

double Words::real()
{
  return std::strtod(std::string(next()).c_str(), nullptr);
}

int Words::integer_or(std::string_view name, int meaning)
{
  const std::string_view word = next();
  return word == name ? meaning : parsed<int>(word);
}

std::vector<int> Words::numbers()
{
  std::vector<int> all;
  if (const std::string_view list = next(); list != "-")
    each(list, [&all](std::string_view item, std::size_t times) { all.insert(all.end(), times, parsed<int>(item)); });
  return all;
}

std::vector<int> Words::places()
{
  std::vector<int> all;
  const std::string_view list = next();
  if (list == "-")
    return all;
  each(list, [&all](std::string_view item, std::size_t /*once*/) {
    const auto dash = item.find('-');
    const int first = parsed<int>(item.substr(0, dash));
    const int last  = dash == std::string_view::npos ? first : parsed<int>(item.substr(dash + 1));
    for (int place = first; place <= last; ++place)
      all.push_back(place);
  });
  return all;
}

MPI_Datatype Words::datatype()
{
  return datatype_of(next());
}

std::vector<MPI_Datatype> Words::datatypes()
{
  std::vector<MPI_Datatype> all;
  if (const std::string_view list = next(); list != "-")
    each(list, [&all](std::string_view item, std::size_t times) { all.insert(all.end(), times, datatype_of(item)); });
  return all;
}

MPI_Op Words::operation()
{
  const std::string_view word = next();
  if (word == "user" || word == "user-ordered")
    return user_operation(word == "user");
  return named_operation(std::string(word)).value();
}

CallFile::CallFile(const std::string& path, int ranks) : file_(path), ahead_(static_cast<std::size_t>(ranks))
{
  std::string header;
  if (not std::getline(file_, header))
    throw std::runtime_error(path + " cannot be read");
}

std::optional<Words> CallFile::next(int rank)
{
  std::deque<std::string>& mine = ahead_.at(static_cast<std::size_t>(rank));
  for (std::string line; mine.empty() && std::getline(file_, line);) {
    if (line.front() < '0' || line.front() > '9') // the line of a communicator, or the end
      continue;
    const auto space = line.find(' ');
    const auto whose = parsed<std::size_t>(std::string_view(line).substr(0, space));
    ahead_.at(whose).push_back(line.substr(space + 1));
  }
  if (mine.empty())
    return std::nullopt;
  Words words(std::move(mine.front()));
  mine.pop_front();
  return words;
}

} // namespace weft::replay
