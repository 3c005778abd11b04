// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/call_check.hpp"

#include "base/error.hpp"
#include "trace/calls.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

namespace weft::trace {
namespace {

constexpr std::size_t LONGEST_LINE   = 268'435'456;
constexpr std::size_t MOST_ITEMS     = 1'048'576; // a list has at most one item per rank
constexpr std::size_t LONGEST_QUOTED = 60;
constexpr long long MOST_BYTES       = 1'099'511'627'776; // 1 TiB, more than any rank has
constexpr double MOST_REAL           = 1e30;
constexpr std::string_view DERIVED   = "derived:";

std::string quoted(std::string_view word)
{
  return "'" + on_one_line(std::string(word.substr(0, LONGEST_QUOTED))) + "'";
}

} // namespace

struct CallCheck::Line {
  std::string_view rest;
  long long number; ///< line number in the file
  int rank              = -1;
  std::string_view call = {};
  int size              = 0; ///< size of the communicator

  [[noreturn]] void fail(const std::string& what) const
  {
    throw UserError("line " + std::to_string(number) + ": " + what);
  }
  std::string_view ahead() const { return rest.substr(0, rest.find(' ')); }
  std::string_view next()
  {
    const std::string_view word = ahead();
    if (word.empty())
      fail("found the end of the line" + (call.empty() ? std::string() : " in " + quoted(call)));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
  }
  template <class Number> Number parsed(std::string_view word, Number least, Number most) const
  {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || not(value >= least && value <= most))
      fail("found " + quoted(word) + (call.empty() ? "" : " in " + quoted(call)) + "; allowed is a number from " +
           text_of(least) + " to " + text_of(most));
    return value;
  }
  int whole(std::string_view word, int least = INT32_MIN, int most = INT32_MAX) const
  {
    return parsed<int>(word, least, most);
  }
  /** Calls @p take with each item of a list, repeated items included. */
  template <class Take> void list(std::string_view word, Take&& take) const
  {
    std::size_t items = 0;
    for (std::string_view left = word == "-" ? std::string_view() : word; not left.empty();) {
      const std::string_view item = left.substr(0, left.find(','));
      left.remove_prefix(std::min(left.size(), item.size() + 1));
      const auto star  = item.find('*');
      const auto times = star == std::string_view::npos
                             ? 1
                             : static_cast<std::size_t>(whole(item.substr(star + 1), 1, static_cast<int>(MOST_ITEMS)));
      items += times;
      if (items > MOST_ITEMS)
        fail("found a list of more than " + std::to_string(MOST_ITEMS) + " items");
      take(item.substr(0, star), times);
    }
  }
  /** Returns the number of items; throws unless each is an integer of at least @p least. */
  std::size_t numbers(std::string_view word, int least) const
  {
    std::size_t items = 0;
    list(word, [&](std::string_view item, std::size_t times) {
      whole(item, least);
      items += times;
    });
    return items;
  }
  /** Returns the items; throws unless they are distinct integers below @p limit. */
  std::set<int> places(std::string_view word, int limit) const
  {
    std::set<int> all;
    list(word, [&](std::string_view item, std::size_t /*once*/) {
      const auto dash = item.find('-');
      const int first = whole(item.substr(0, dash), 0, limit - 1);
      const int last  = dash == std::string_view::npos ? first : whole(item.substr(dash + 1), first, limit - 1);
      for (int place = first; place <= last; ++place)
        if (not all.insert(place).second)
          fail("found " + std::to_string(place) + " twice in " + quoted(word));
    });
    return all;
  }
  void expect_items(std::size_t found) const
  {
    if (not std::cmp_equal(found, size))
      fail("found a list of " + std::to_string(found) + " in " + quoted(call) + ", whose communicator has " +
           std::to_string(size) + " ranks");
  }

private:
  static std::string text_of(int number) { return std::to_string(number); }
  static std::string text_of(long long number) { return std::to_string(number); }
  static std::string text_of(double number) { return number == 0 ? "0" : "1e30"; }
};

CallCheck::CallCheck(int ranks, Names datatypes, Names operations)
    : ranks_(ranks), datatypes_(std::move(datatypes)), operations_(std::move(operations)),
      state_(static_cast<std::size_t>(ranks))
{
#define WEFT_ROW(name, ...) add_call(#name, #__VA_ARGS__);
  WEFT_TRACED_CALLS(WEFT_ROW)
#undef WEFT_ROW
}

/** Returns the roles by their names in trace/calls.hpp. */
// NOLINTNEXTLINE(readability-function-size): a table
const std::map<std::string, CallCheck::Role, std::less<>>& CallCheck::roles()
{
  using Self = CallCheck;
  static const std::map<std::string, Role, std::less<>> ROLES{
      {"SendBuffer", {&Self::data}},
      {"SendToEach", {&Self::data}},
      {"SendAtRoot", {&Self::data}},
      {"SendParts", {&Self::parts}},
      {"SendPartsAtRoot", {&Self::parts}},
      {"SendTyped", {&Self::typed_parts}},
      {"RecvBuffer", {&Self::data}},
      {"RecvFromEach", {&Self::data}},
      {"RecvAtRoot", {&Self::data}},
      {"RecvParts", {&Self::parts}},
      {"RecvPartsAtRoot", {&Self::parts}},
      {"RecvTyped", {&Self::typed_parts}},
      {"SendToNeighbors", {&Self::data}},
      {"RecvFromNeighbors", {&Self::data}},
      {"SendNeighborParts", {&Self::neighbor_parts}},
      {"RecvNeighborParts", {&Self::neighbor_parts}},
      {"SendNeighborTyped", {&Self::neighbor_typed_parts}},
      {"RecvNeighborTyped", {&Self::neighbor_typed_parts}},
      {"Reduced", {&Self::reduction}},
      {"ReducedEach", {&Self::reduction}},
      {"ReducedParts", {&Self::reduction_parts}},
      {"Partner", {&Self::partner}},
      {"Tag", {&Self::tag}},
      {"Root", {&Self::root}},
      {"Number", {&Self::number}},
      {"Colour", {&Self::colour}},
      {"Operation", {&Self::operation}},
      {"Comm", {}},
      {"Group", {&Self::group}},
      {"Grid", {&Self::grid}},
      {"Kept", {&Self::kept}},
      {"Graph", {&Self::graph}},
      {"Edges", {&Self::edges}},
      {"Neighbors", {&Self::neighbors}},
      {"Ignored", {}},
      {"Memory", {&Self::memory}},
      {"Extent", {&Self::memory}},
      {"Base", {}},
      {"Window", {&Self::window}},
      {"Target", {&Self::target}},
      {"WorldGroup", {&Self::world_group}},
      {"Displacement", {&Self::displacement}},
      {"Remote", {&Self::remote}},
      {"Fetched", {&Self::type}},
      {"Swapped", {&Self::type}},
      {"MadeWindow", {nullptr, &Self::made_window}},
      {"FreedWindow", {&Self::window}},
      {"Opened", {nullptr, &Self::opened}},
      {"Flag", {nullptr, &Self::flag}},
      {"Made", {nullptr, &Self::made}},
      {"MadeByHost", {nullptr, &Self::made_by_host}},
      {"Started", {&Self::request}},
      {"StartedAll", {&Self::requests}},
      {"Closed", {&Self::request}},
      {"Freed", {&Self::communicator}},
      {"WaitsForAll", {&Self::requests}},
      {"TestsAll", {&Self::requests_and_ended}},
      {"EndsOne", {&Self::requests_and_ended}},
      {"EndsSome", {&Self::requests_and_ended}},
  };
  return ROLES;
}

void CallCheck::add_call(const std::string& name, std::string names)
{
  Call& call = calls_[name];
  std::erase(names, ' ');
  for (std::string_view left = names; not left.empty();) {
    const std::string_view role = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), role.size() + 1));
    call.has_communicator |= role == "Comm";
    call.roles.push_back(roles().at(std::string(role)));
  }
}

void CallCheck::add(std::string_view text)
{
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (rest_.empty()) {
      add_line(text.substr(0, end));
    } else {
      rest_ += text.substr(0, end);
      const std::string line = std::move(rest_);
      rest_.clear();
      add_line(line);
    }
    text.remove_prefix(end + 1);
  }
  rest_ += text;
  if (rest_.size() > LONGEST_LINE)
    throw UserError("found a line of more than " + std::to_string(LONGEST_LINE) + " bytes");
}

long long CallCheck::end()
{
  if (not rest_.empty() || not is_whole_)
    throw UserError("it is truncated: its last line is not 'end' with the number of lines before it");
  return played_;
}

void CallCheck::add_line(std::string_view text)
{
  Line line{text, ++number_};
  if (is_whole_)
    line.fail("found " + quoted(text) + " after the end");
  if (number_ == 1) {
    const std::string header = std::string(FORMAT) + ' ' + std::to_string(VERSION) + ' ' + std::to_string(ranks_);
    if (text != header)
      line.fail("found " + quoted(text) + "; allowed is '" + header + "'");
    return;
  }
  const std::string_view first = line.ahead();
  if (first == "unfit")
    throw UserError(on_one_line(std::string(text.substr(std::min(text.size(), first.size() + 1)))));
  if (first == "communicator") {
    add_communicator(line);
  } else if (first == "end") {
    line.next();
    if (line.whole(line.next(), 0) != played_)
      line.fail("found " + quoted(text) + "; there are " + std::to_string(played_) + " lines");
    is_whole_ = true;
  } else {
    add_calls_line(line);
    ++played_;
  }
  if (not line.rest.empty())
    line.fail("found " + quoted(line.rest) + " after " + quoted(text.substr(0, text.size() - line.rest.size() - 1)) +
              ", where nothing is allowed");
}

void CallCheck::add_communicator(Line& line)
{
  line.next();
  const int number = line.whole(line.next(), 1);
  members_[number] = line.places(line.next(), ranks_);
}

void CallCheck::add_calls_line(Line& line)
{
  line.rank           = line.whole(line.next(), 0, ranks_ - 1);
  line.call           = line.next();
  Rank& rank          = state_[static_cast<std::size_t>(line.rank)];
  const bool computes = line.call == "compute" || line.call == "sleep";
  if (rank.has_ended && not computes)
    line.fail("found " + quoted(line.call) + " of rank " + std::to_string(line.rank) + " after its 'Finalize'");
  if (computes) {
    line.parsed<double>(line.next(), 0, MOST_REAL);
    return;
  }
  const auto found = calls_.find(line.call);
  if (found == calls_.end())
    line.fail("found the call " + quoted(line.call) + ", which traces do not have");
  rank.has_ended = line.call == "Finalize";
  if (found->second.has_communicator)
    communicator(line);
  for (const Role& role : found->second.roles)
    if (role.before)
      (this->*role.before)(line);
  for (const Role& role : found->second.roles)
    if (role.after)
      (this->*role.after)(line);
}

void CallCheck::communicator(Line& line)
{
  const std::string_view word = line.next();
  line.size                   = word == "self" ? 1 : ranks_;
  if (word == "self" || word == "0")
    return;
  const auto found = members_.find(line.whole(word, 0));
  if (found == members_.end() || not found->second.contains(line.rank))
    line.fail("found the communicator " + quoted(word) + ", of which rank " + std::to_string(line.rank) +
              " is no member");
  line.size = static_cast<int>(found->second.size());
}

int CallCheck::rank_in(Line& line, int number) const
{
  if (number < 0 || number >= line.size)
    line.fail("found the rank " + std::to_string(number) + " in " + quoted(line.call) +
              "; those of its communicator are 0 to " + std::to_string(line.size - 1));
  return number;
}

void CallCheck::datatype(Line& line, std::string_view word)
{
  if (word.starts_with(DERIVED))
    line.whole(word.substr(DERIVED.size()), 0);
  else if (not datatypes_.contains(word))
    line.fail("found the datatype " + quoted(word) + " in " + quoted(line.call) +
              "; allowed: MPI names and derived:BYTES");
}

void CallCheck::data(Line& line)
{
  if (const std::string_view word = line.next(); word != "-" && word != "in-place") {
    line.whole(word, 0);
    datatype(line, line.next());
  }
}

void CallCheck::parts(Line& line)
{
  if (const std::string_view word = line.next(); word != "-" && word != "in-place") {
    line.expect_items(line.numbers(word, 0));
    datatype(line, line.next());
  }
}

void CallCheck::typed_parts(Line& line)
{
  const std::string_view word = line.next();
  if (word == "-" || word == "in-place")
    return;
  line.expect_items(line.numbers(word, 0));
  std::size_t types = 0;
  line.list(line.next(), [&](std::string_view item, std::size_t times) {
    datatype(line, item);
    types += times;
  });
  line.expect_items(types);
}

void CallCheck::reduction(Line& line)
{
  if (line.ahead() == "in-place")
    line.next();
  line.whole(line.next(), 0);
  datatype(line, line.next());
}

void CallCheck::reduction_parts(Line& line)
{
  if (line.ahead() == "in-place")
    line.next();
  line.expect_items(line.numbers(line.next(), 0));
  datatype(line, line.next());
}

void CallCheck::partner(Line& line)
{
  if (const std::string_view word = line.next(); word != "any" && word != "null")
    rank_in(line, line.whole(word));
}

void CallCheck::tag(Line& line)
{
  if (const std::string_view word = line.next(); word != "any")
    line.whole(word, 0);
}

void CallCheck::root(Line& line)
{
  rank_in(line, line.whole(line.next()));
}

void CallCheck::number(Line& line)
{
  line.whole(line.next());
}

void CallCheck::colour(Line& line)
{
  if (const std::string_view word = line.next(); word != "undefined")
    line.whole(word, 0);
}

void CallCheck::operation(Line& line)
{
  if (const std::string_view word = line.next();
      word != "user" && word != "user-ordered" && not operations_.contains(word))
    line.fail("found the operation " + quoted(word) + " in " + quoted(line.call) +
              "; allowed: MPI names, user and user-ordered");
}

void CallCheck::group(Line& line)
{
  line.places(line.next(), line.size);
}

void CallCheck::grid(Line& line)
{
  const std::size_t sizes = line.numbers(line.next(), 0);
  if (line.numbers(line.next(), 0) != sizes)
    line.fail("found different numbers of sizes and periods in 'Cart_create'");
}

void CallCheck::kept(Line& line)
{
  line.numbers(line.next(), 0);
}

/** Returns the number of ranks in a list of neighbours. */
std::size_t CallCheck::ranks_listed(Line& line)
{
  std::size_t ranks = 0;
  line.list(line.next(), [&](std::string_view item, std::size_t times) {
    rank_in(line, line.whole(item));
    ranks += times;
  });
  return ranks;
}

void CallCheck::graph(Line& line)
{
  int last = 0;
  line.list(line.next(), [&](std::string_view item, std::size_t /*times*/) { last = line.whole(item, last); });
  if (not std::cmp_equal(ranks_listed(line), last))
    line.fail("found a number of edges that is not the last index in 'Graph_create'");
}

void CallCheck::edges(Line& line)
{
  const std::size_t sources = ranks_listed(line);
  std::size_t degrees       = 0;
  std::size_t edges         = 0;
  line.list(line.next(), [&](std::string_view item, std::size_t times) {
    degrees += times;
    edges += times * static_cast<std::size_t>(line.whole(item, 0, static_cast<int>(MOST_ITEMS)));
  });
  if (degrees != sources || ranks_listed(line) != edges)
    line.fail("found numbers of sources, degrees and destinations that do not agree in 'Dist_graph_create'");
}

void CallCheck::neighbors(Line& line)
{
  ranks_listed(line);
  ranks_listed(line);
}

void CallCheck::neighbor_parts(Line& line)
{
  line.numbers(line.next(), 0);
  datatype(line, line.next());
}

void CallCheck::neighbor_typed_parts(Line& line)
{
  line.size         = static_cast<int>(line.numbers(line.next(), 0));
  std::size_t types = 0;
  line.list(line.next(), [&](std::string_view item, std::size_t times) {
    datatype(line, item);
    types += times;
  });
  if (not std::cmp_equal(types, line.size))
    line.fail("found different numbers of counts and datatypes in " + quoted(line.call));
}

void CallCheck::opened(Line& line)
{
  Rank& rank = state_[static_cast<std::size_t>(line.rank)];
  if (const std::string_view word = line.next(); word != "null")
    rank.requests = std::max(rank.requests, line.whole(word, 0, rank.requests) + 1);
}

void CallCheck::flag(Line& line)
{
  line.whole(line.next(), 0, 1);
}

void CallCheck::made(Line& line)
{
  const std::string_view word = line.next();
  if (word == "null")
    return;
  const auto found = members_.find(line.whole(word, 1));
  if (found == members_.end() || not found->second.contains(line.rank))
    line.fail("found that " + quoted(line.call) + " makes the communicator " + quoted(word) + ", of which rank " +
              std::to_string(line.rank) + " is no member");
}

void CallCheck::memory(Line& line)
{
  line.parsed<long long>(line.next(), 0, MOST_BYTES);
  line.whole(line.next(), 0);
}

void CallCheck::target(Line& line)
{
  if (const std::string_view word = line.next(); word != "null")
    line.whole(word, 0, ranks_ - 1);
}

void CallCheck::world_group(Line& line)
{
  line.places(line.next(), ranks_);
}

void CallCheck::displacement(Line& line)
{
  line.parsed<long long>(line.next(), 0, MOST_BYTES);
}

void CallCheck::remote(Line& line)
{
  line.whole(line.next(), 0);
  datatype(line, line.next());
}

void CallCheck::type(Line& line)
{
  datatype(line, line.next());
}

void CallCheck::window(Line& line)
{
  line.whole(line.next(), 0, state_[static_cast<std::size_t>(line.rank)].windows - 1);
}

void CallCheck::made_window(Line& line)
{
  Rank& rank   = state_[static_cast<std::size_t>(line.rank)];
  rank.windows = std::max(rank.windows, line.whole(line.next(), 0, rank.windows) + 1);
}

void CallCheck::made_by_host(Line& line)
{
  colour(line);
  number(line);
  made(line);
}

int CallCheck::known_request(Line& line, std::string_view word)
{
  const int opened = state_[static_cast<std::size_t>(line.rank)].requests;
  const int number = line.whole(word);
  if (number < 0 || number >= opened)
    line.fail("found the request " + std::to_string(number) + " in " + quoted(line.call) + "; rank " +
              std::to_string(line.rank) + " has opened " + std::to_string(opened));
  return number;
}

void CallCheck::request(Line& line)
{
  known_request(line, line.next());
}

void CallCheck::requests(Line& line)
{
  line.size = 0;
  line.list(line.next(), [&](std::string_view item, std::size_t times) {
    if (item != "-1")
      known_request(line, item);
    line.size += static_cast<int>(times);
  });
}

void CallCheck::requests_and_ended(Line& line)
{
  requests(line);
  line.places(line.next(), line.size);
}

} // namespace weft::trace
