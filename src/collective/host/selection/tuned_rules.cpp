// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/tuned_rules.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace weft {
namespace {

// COLLTYPE of ompi/mca/coll/base/coll_base_functions.h. The neighbourhood collectives that follow need no name, since
// tuned has no algorithms for them.
constexpr std::array<std::string_view, 22> COLLECTIVES{
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw",      "barrier",
    "bcast",     "exscan",     "gather",    "gatherv",  "reduce",    "reduce_scatter", "reduce_scatter_block",
    "scan",      "scatter",    "scatterv"};

/** Returns the highest number of an algorithm; 0 if tuned has none. */
int last_algorithm(std::string_view collective)
{
  int last = 0;
  for (const Algorithm& one : host_algorithms())
    if (one.collective == collective)
      last = std::max(last, one.number);
  return last;
}

/** Returns the size with which a rule's sizes are compared. */
Bytes bytes_of_rule(const HostCall& call)
{
  const std::string_view name = call.collective;
  if (name == "allreduce" || name == "bcast" || name == "reduce")
    return call.bytes(call.count);
  if (name == "allgather" || name == "alltoall" || name == "gather" || name == "scatter" ||
      name == "reduce_scatter_block")
    return call.bytes(call.count * call.ranks);
  if (name == "allgatherv" || name == "reduce_scatter")
    return bytes_that_select(call);
  if (name == "scan" || name == "exscan")
    return call.bytes(call.ranks); // Open MPI omits the count
  return {};                       // Barrier; and Alltoallv, where a rank knows only its own part
}

} // namespace

class TunedRulesReader {
  struct Word {
    std::string text;
    int line;
  };
  std::string place_;
  std::vector<Word> words_;
  std::size_t next_ = 0;
  int lines_        = 1;
  TunedRules rules_;

public:
  TunedRulesReader(std::string_view text, std::string place) : place_(std::move(place))
  {
    std::istringstream lines{std::string(text)};
    std::string line;
    for (lines_ = 0; std::getline(lines, line);) {
      ++lines_;
      std::istringstream words(line.substr(0, line.find('#')));
      for (std::string word; words >> word;)
        words_.push_back({word, lines_});
    }
  }

  TunedRules read()
  {
    constexpr std::string_view VERSION = "rule-file-version-";
    if (not words_.empty() && words_.front().text.starts_with(VERSION)) {
      words_.front().text.erase(0, VERSION.size());
      rules_.version_ = static_cast<int>(number("version of the file", up_to(2, 1)));
    }
    const long collectives = number("number of collectives", up_to(COLLECTIVES.size()));
    for (long index = 0; index < collectives; ++index)
      read_collective();
    if (next_ < words_.size())
      fail(words_[next_], "what follows the " + std::to_string(collectives) + " collectives", "nothing");
    return std::move(rules_);
  }

private:
  [[noreturn]] void fail(const Word& found, const std::string& what, const std::string& allowed) const
  {
    constexpr std::size_t MOST_SHOWN = 40; // bytes: a file of another kind may be a single word
    throw UserError(on_one_line(place_ + ":" + std::to_string(found.line) + ": " + what + ": found \"" +
                                found.text.substr(0, MOST_SHOWN) + "\"; allowed: " + allowed));
  }

  /** Range of allowed numbers, and its description. */
  struct Range {
    long least;
    long most;
    std::string in_words;
  };
  static Range up_to(long most, long least = 0)
  {
    return {least, most, "a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
  }
  static Range any() { return {0, std::numeric_limits<int>::max(), "a whole number from 0 on"}; }
  static Range algorithms_of(std::string_view collective)
  {
    const int last = last_algorithm(collective);
    return last > 0 ? up_to(last) : Range{0, 0, "0, because Open MPI has one only"};
  }

  long number(const std::string& what, const Range& range)
  {
    if (next_ == words_.size())
      throw UserError(place_ + ":" + std::to_string(std::max(1, lines_)) + ": " + what +
                      ": found the end of the file; allowed: " + range.in_words);
    const Word& word = words_[next_++];
    char* end        = nullptr;
    const long value = std::strtol(word.text.c_str(), &end, 0); // like %li, which Open MPI uses
    if (*end != '\0' || value < range.least || value > range.most)
      fail(word, what, range.in_words);
    return value;
  }
  long number(const std::string& what) { return number(what, any()); }

  void read_collective()
  {
    const auto index = static_cast<std::size_t>(number("collective", up_to(COLLECTIVES.size() - 1)));
    const std::string name =
        COLLECTIVES.at(index).empty() ? "a neighbourhood collective" : std::string(COLLECTIVES.at(index));
    const long sizes = number("number of communicator sizes of " + name);
    std::vector<TunedRules::ForRanks> all;
    for (long size = 0; size < sizes; ++size)
      // No reserve(): the number comes from the file and may be arbitrarily large.
      all.push_back(read_size(COLLECTIVES.at(index), name)); // NOLINT(performance-inefficient-vector-operation)
    rules_.collectives_[COLLECTIVES.at(index)] = std::move(all);
  }

  TunedRules::ForRanks read_size(std::string_view collective, const std::string& name)
  {
    TunedRules::ForRanks size{static_cast<int>(number("communicator size of " + name)), {}};
    const long rules = number("number of message sizes of " + name);
    for (long index = 0; index < rules; ++index)
      size.rules.push_back(read_rule(collective, name, index == 0));
    return size;
  }

  TunedRule read_rule(std::string_view collective, const std::string& name, bool first)
  {
    const Bytes from(static_cast<double>(first ? number("first message size of " + name, {0, 0, "0"})
                                               : number("message size of " + name)));
    const auto algorithm = static_cast<int>(number("algorithm of " + name, algorithms_of(collective)));
    const auto fan_out   = static_cast<int>(number("fan-out of " + name));
    const Bytes segment  = Bytes(static_cast<double>(number("segment of " + name)));
    const int line       = words_[next_ - 1].line;
    const bool fifth     = rules_.version_ > 1 && next_ < words_.size() && words_[next_].line == line;
    if (fifth)
      number("requests of " + name);
    TunedRule rule{from, algorithm > 0 ? find_algorithm(collective, algorithm) : nullptr, {segment}};
    if (rule.algorithm && rule.algorithm->name == "chain")
      rule.tuning.fan_out = fan_out; // ignored by other algorithms
    return rule;
  }
};

TunedRules TunedRules::read_text(std::string_view text, const std::string& place)
{
  return TunedRulesReader(text, place).read();
}

TunedRules TunedRules::read_file(const std::string& path)
{
  return read_text(read_text_file(path, "a file of Open MPI's rules"), path);
}

const TunedRule* TunedRules::rule_for(const HostCall& call) const
{
  const auto found = collectives_.find(call.collective);
  if (found == collectives_.end() || found->second.empty())
    return nullptr;
  // Open MPI uses the last size before the first one that is too large; if all are too large, the first one.
  const ForRanks* ranks = &found->second.front();
  for (const ForRanks& next : found->second) {
    if (next.ranks > call.ranks)
      break;
    ranks = &next;
  }
  const Bytes bytes     = bytes_of_rule(call);
  const TunedRule* rule = nullptr;
  for (const TunedRule& next : ranks->rules) {
    if (next.from > bytes)
      break;
    rule = &next;
  }
  return rule && rule->algorithm ? rule : nullptr;
}

} // namespace weft
