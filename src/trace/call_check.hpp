// SPDX-License-Identifier: LGPL-2.1-only
/* Validates a trace (trace/calls.hpp) before replay: checks that the file is complete and that each line has the fields
 * of its call. Mismatches between calls of different ranks are only detected during replay. */
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::trace {

class CallCheck {
public:
  using Names = std::set<std::string, std::less<>>;

  /** @p datatypes and @p operations are the names allowed in lines. */
  CallCheck(int ranks, Names datatypes, Names operations);

  /** Adds the next part of the file; parts may end within a line. Throws UserError with the number of the line. */
  void add(std::string_view text);
  /** Marks the end of the file and returns the number of lines to replay. Throws UserError if the file is truncated. */
  long long end();

private:
  struct Line;
  using Take = void (CallCheck::*)(Line& line);
  struct Role {
    Take before = nullptr;
    Take after  = nullptr;
  };
  struct Call {
    std::vector<Role> roles;
    bool has_communicator = false;
  };
  struct Rank {
    int requests   = 0; ///< request numbers used so far
    int windows    = 0; ///< window numbers used so far
    bool has_ended = false;
  };

  int ranks_;
  Names datatypes_;
  Names operations_;
  std::map<std::string, Call, std::less<>> calls_;
  std::vector<Rank> state_;
  std::map<int, std::set<int>> members_; ///< ranks of each communicator
  std::string rest_;                     ///< beginning of an incomplete line
  long long number_ = 0;                 ///< lines read
  long long played_ = 0;
  bool is_whole_    = false;

  static const std::map<std::string, Role, std::less<>>& roles();
  void add_call(const std::string& name, std::string roles);
  void add_line(std::string_view text);
  void add_communicator(Line& line);
  void add_calls_line(Line& line);

  int rank_in(Line& line, int number) const;
  void data(Line& line);
  void parts(Line& line);
  void typed_parts(Line& line);
  void reduction(Line& line);
  void reduction_parts(Line& line);
  void partner(Line& line);
  void tag(Line& line);
  void root(Line& line);
  void number(Line& line);
  void colour(Line& line);
  void operation(Line& line);
  void group(Line& line);
  void grid(Line& line);
  void kept(Line& line);
  std::size_t ranks_listed(Line& line);
  void graph(Line& line);
  void edges(Line& line);
  void neighbors(Line& line);
  void neighbor_parts(Line& line);
  void neighbor_typed_parts(Line& line);
  void opened(Line& line);
  void flag(Line& line);
  void made(Line& line);
  void made_by_host(Line& line);
  void request(Line& line);
  void requests(Line& line);
  void requests_and_ended(Line& line);
  void communicator(Line& line);
  void memory(Line& line);
  void target(Line& line);
  void world_group(Line& line);
  void displacement(Line& line);
  void remote(Line& line);
  void type(Line& line);
  void window(Line& line);
  void made_window(Line& line);
  void datatype(Line& line, std::string_view word);
  int known_request(Line& line, std::string_view word);
};

} // namespace weft::trace
