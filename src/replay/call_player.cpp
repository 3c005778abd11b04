// SPDX-License-Identifier: LGPL-2.1-only
#include "replay/call_player.hpp"

#include "replay/play_call.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <smpi/smpi_helpers_internal.h> // smpi_nanosleep, with which SMPI replaces nanosleep
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace weft::replay {
namespace {

void compute(CallPlayer& /*player*/, Words& words)
{
  smpi_execute_flops_benched(words.real());
}

void sleep(CallPlayer& /*player*/, Words& words)
{
  double seconds        = 0;
  const double fraction = std::modf(words.real(), &seconds);
  const timespec time{static_cast<time_t>(seconds), std::lround(fraction * 1e9)};
  smpi_nanosleep(&time, nullptr);
}

/** Groups the same ranks as in the recording, regardless of which ranks share hosts now. */
void split_by_host(CallPlayer& player, Words& words)
{
  MPI_Comm made       = MPI_COMM_NULL;
  const MPI_Comm comm = player.communicator(words.next());
  const int colour    = words.integer_or("undefined", MPI_UNDEFINED);
  MPI_Comm_split(comm, colour, words.integer(), &made);
  player.add_communicator(words.next(), made);
}

template <class Call, auto function> void play_call(CallPlayer& player, Words& words)
{
  Turn turn{player, words};
  play_roles(typename Call::Roles(), function, turn);
}

using Play = void (*)(CallPlayer&, Words&);

std::unordered_map<std::string_view, Play> make_table()
{
  std::unordered_map<std::string_view, Play> table{
#define WEFT_PLAYED(name, ...) {#name, &play_call<trace::calls::name, &MPI_##name>},
      WEFT_TRACED_CALLS(WEFT_PLAYED)
#undef WEFT_PLAYED
  };
  table["compute"]         = &compute;
  table["sleep"]           = &sleep;
  table["Comm_split_type"] = &split_by_host;
  return table;
}

} // namespace

void CallPlayer::play(Words& words)
{
  static const std::unordered_map<std::string_view, Play> TABLE = make_table();
  TABLE.at(words.next())(*this, words);
}

MPI_Comm CallPlayer::communicator(std::string_view word) const
{
  if (word == "0")
    return MPI_COMM_WORLD;
  return word == "self" ? MPI_COMM_SELF : communicators_.at(std::stoi(std::string(word)));
}

void CallPlayer::add_communicator(std::string_view word, MPI_Comm made)
{
  if ((word == "null") != (made == MPI_COMM_NULL))
    throw std::logic_error("a call creates a different communicator than in the recorded run");
  if (made != MPI_COMM_NULL)
    communicators_[std::stoi(std::string(word))] = made;
}

MPI_Request& CallPlayer::request(int number)
{
  const auto at = static_cast<std::size_t>(number);
  if (at >= requests_.size())
    requests_.resize(at + 1);
  requests_[at].has_ended = false;
  return requests_[at].handle;
}

std::vector<MPI_Request> CallPlayer::handles(const std::vector<int>& numbers) const
{
  std::vector<MPI_Request> all;
  all.reserve(numbers.size());
  for (const int number : numbers)
    all.push_back(number < 0 ? MPI_REQUEST_NULL : requests_.at(static_cast<std::size_t>(number)).handle);
  return all;
}

bool CallPlayer::is_open(int number) const
{
  if (number < 0)
    return false;
  const Request& request = requests_.at(static_cast<std::size_t>(number));
  return request.handle != MPI_REQUEST_NULL && not request.has_ended;
}

void CallPlayer::take_back(const std::vector<int>& numbers, const std::vector<MPI_Request>& handles,
                           const std::vector<int>& ended)
{
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] >= 0)
      requests_[static_cast<std::size_t>(numbers[i])].handle = handles[i];
  for (const int place : ended)
    if (const int number = numbers[static_cast<std::size_t>(place)]; number >= 0)
      requests_[static_cast<std::size_t>(number)].has_ended = true;
}

} // namespace weft::replay
