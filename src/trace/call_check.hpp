// SPDX-License-Identifier: LGPL-2.1-only
/* Proves of a file of calls (trace/calls.hpp) that it can be played: that it is whole, and that each line says what its
 * call needs. Whether the ranks' calls go together is seen when it is played. */
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

  /** @p datatypes and @p operations are the names that lines may have. */
  CallCheck(int ranks, Names datatypes, Names operations);

  /** Take in a part of the file, wherever it is cut. Throws UserError, which names the line. */
  void add(std::string_view text);
  /** Prove that nothing is missing; return the number of lines that are played. Throws UserError. */
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
    int requests   = 0; ///< how many numbers they have
    int windows    = 0; ///< likewise
    bool has_ended = false;
  };

  int ranks_;
  Names datatypes_;
  Names operations_;
  std::map<std::string, Call, std::less<>> calls_;
  std::vector<Rank> state_;
  std::map<int, std::set<int>> members_; ///< of communicators
  std::string rest_;                     ///< of a line that is not whole yet
  long long number_ = 0;                 ///< of lines of the file
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
