// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/observe/call_trace.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/observe/profile.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"
#include "mpi/names.hpp"
#include "trace/calls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <simgrid/s4u.hpp>
#include <stdexcept>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Time differences below this are rounding; SimGrid's own precision is 1 ns. */
constexpr double NO_TIME = 1e-10;

CallTrace*& the_trace()
{
  static CallTrace* trace = nullptr;
  return trace;
}

template <class Number> void append(std::string& text, Number number)
{
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

std::string name_of(MPI_Datatype type)
{
  if (type == MPI_DATATYPE_NULL || is_predefined(type))
    return datatype_name(type == MPI_DATATYPE_NULL ? MPI_BYTE : type);
  int size = 0;
  PMPI_Type_size(type, &size);
  return "derived:" + std::to_string(size);
}

/** Formats a sequence with run-length encoding: "value*count". */
template <class Value, class Write> std::string repeated(const Value* all, int count, Write&& write)
{
  std::string text;
  for (int i = 0; i < count;) {
    int same = 1;
    while (i + same < count && all[i + same] == all[i])
      ++same;
    if (not text.empty())
      text += ',';
    write(text, all[i]);
    if (same > 1) {
      text += '*';
      append(text, same);
    }
    i += same;
  }
  return text.empty() ? "-" : text;
}

} // namespace

TraceLine::TraceLine(TracedRank& its_rank, const char* its_call) : call(its_call), rank(its_rank)
{
  append(text_, rank.rank);
  word(call);
}

TraceLine& TraceLine::word(std::string_view word)
{
  text_ += ' ';
  text_ += word;
  return *this;
}

TraceLine& TraceLine::number(long long number)
{
  text_ += ' ';
  append(text_, number);
  return *this;
}

TraceLine& TraceLine::real(double number)
{
  text_ += ' ';
  append(text_, number);
  return *this;
}

TraceLine& TraceLine::numbers(const int* all, int count)
{
  return word(repeated(all, count, [](std::string& text, int number) { append(text, number); }));
}

TraceLine& TraceLine::places(const std::vector<int>& all)
{
  if (all.empty())
    return word("-");
  for (std::size_t i = 0; i < all.size();) {
    std::size_t last = i;
    while (last + 1 < all.size() && all[last + 1] == all[last] + 1)
      ++last;
    text_ += i == 0 ? ' ' : ',';
    append(text_, all[i]);
    if (last > i) {
      text_ += '-';
      append(text_, all[last]);
    }
    i = last + 1;
  }
  return *this;
}

TraceLine& TraceLine::datatype(MPI_Datatype type)
{
  return word(name_of(type));
}

TraceLine& TraceLine::datatypes(const MPI_Datatype* types, int count)
{
  return word(repeated(types, count, [](std::string& text, MPI_Datatype type) { text += name_of(type); }));
}

bool TraceLine::at_root() const
{
  return comm->rank() == root;
}

CallTrace::CallTrace(const std::string& path) : file_(path)
{
  if (not file_)
    throw std::runtime_error("cannot write " + path);
  sg::Actor::on_creation_cb([this](const sg::Actor& actor) {
    if (not Profile::get().knows(actor.get_pid()))
      return;
    TracedRank& rank           = ranks_.emplace_back(TracedRank{Profile::get().rank_of(actor.get_pid())});
    by_actor_[actor.get_pid()] = &rank;
    actor.on_exit([this, &rank](bool /*killed*/) { flush(rank); });
  });
  sg::Exec::on_start_cb([this](const sg::Exec& exec) {
    if (exec.get_name() == "computation") // from smpi_execute; the time of a poll belongs to its call
      compute(sg::this_actor::get_pid(), exec.get_cost());
  });
  sg::Exec::on_completion_cb([this](const sg::Exec& /*exec*/) {
    TracedRank* const rank = by_actor_.get(sg::this_actor::get_pid());
    if (rank && not rank->in_call)
      rank->since = sg::Engine::get_clock();
  });
}

CallTrace* CallTrace::get()
{
  return the_trace();
}

void CallTrace::begin(const std::string& path)
{
  the_trace() = new CallTrace(path);
}

std::ostream& CallTrace::file()
{
  if (not has_header_) // the set of ranks is complete only now
    file_ << trace::FORMAT << ' ' << trace::VERSION << ' ' << ranks_.size() << '\n';
  has_header_ = true;
  return file_;
}

void CallTrace::write(const TraceLine& line)
{
  if (unfit_)
    return;
  ++lines_;
  unfit_ = not line.unfit.empty();
  if (unfit_)
    file() << "unfit rank " << line.rank.rank << " calls MPI_" << line.call << ", " << line.unfit << '\n';
  else
    file() << line.text() << '\n';
}

/** Writes the computation and sleep of the rank since its last call. */
void CallTrace::flush(TracedRank& rank)
{
  if (rank.operations > 0)
    write(TraceLine(rank, "compute").real(rank.operations));
  const double now = sg::Engine::get_clock();
  if (now - rank.since > NO_TIME)
    write(TraceLine(rank, "sleep").real(now - rank.since));
  rank.operations = 0;
  rank.since      = now;
}

void CallTrace::compute(aid_t actor, double operations)
{
  TracedRank* const rank = by_actor_.get(actor);
  if (not rank)
    return;
  if (rank->in_call) // computed before the call; SMPI simulates it at the start of the call
    return write(TraceLine(*rank, "compute").real(operations));
  if (sg::Engine::get_clock() - rank->since > NO_TIME)
    flush(*rank);
  rank->operations += operations;
}

TraceLine CallTrace::enter(const char* call)
{
  TracedRank& rank = *by_actor_.get(sg::this_actor::get_pid());
  if (thread_actor != 0) { // calls of a rank are sequential in a trace
    TraceLine line(rank, call);
    line.unfit = "from another thread than main's, which traces do not support";
    return line;
  }
  flush(rank);
  rank.in_call = true;
  return {rank, call};
}

void CallTrace::leave(const TraceLine& line, bool done)
{
  line.rank.in_call = false;
  if (not done && line.unfit.empty())
    return;
  line.rank.since = sg::Engine::get_clock();
  write(line);
}

void CallTrace::introduce(MPI_Comm comm)
{
  const int number = traced_number(comm);
  if (not communicators_.insert(number).second || unfit_)
    return;
  TracedRank nobody{0};
  TraceLine line(nobody, "");
  std::vector<int> members;
  for (const aid_t member : members_of(comm))
    members.push_back(Profile::get().rank_of(member));
  line.places(members);
  file() << "communicator " << number << line.text().substr(line.text().rfind(' ')) << '\n';
}

void CallTrace::end()
{
  if (not unfit_)
    file() << "end " << lines_ << '\n';
  file_.close();
}

int traced_number(MPI_Comm comm)
{
  return number_of(comm) + 1;
}

} // namespace weft
