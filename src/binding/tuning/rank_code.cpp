// SPDX-License-Identifier: LGPL-2.1-only
/* Shares the entry function among ranks. SMPI builds a function from its program and a rank's
 * arguments, and SimGrid copies it in case the actor is restarted: 0.3 KB per rank, and more for
 * each argument. The first argument (the rank's number) is ignored (smpi_run_entry_point in
 * src/smpi/internals/smpi_global.cpp), and the remaining arguments are never changed: the function copies them for the
 * rank when it starts. Ranks with the same arguments therefore share one function here. */
#include "binding/abi/original.hpp"
#include "binding/process/exit_handlers.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/settings/tunings.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <ranges>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

using RankCode    = std::function<void()>;
using CodeFactory = std::function<RankCode(std::vector<std::string>)>;

/** Runs a rank's function, with the start and the end of its state around it. */
void run_rank(const RankCode& code)
{
  begin_switched_state();
  enter_directory_of_files();
  code();
  run_exit_handlers();
  if (is_forked_child())
    leave_process(0); // any other status has already been reported
}

/** Shares one function among ranks that are created consecutively with the same arguments. */
class SharedCode {
  struct Made {
    std::vector<std::string> arguments;
    RankCode code;
  };

  CodeFactory make_;
  std::shared_ptr<std::deque<Made>> made_ = std::make_shared<std::deque<Made>>(); // a deque: addresses stay valid

public:
  explicit SharedCode(CodeFactory make) : make_(std::move(make)) {}

  RankCode operator()(std::vector<std::string> arguments) const
  {
    if (not is_on(TuningId::rank_code))
      return [code = make_(std::move(arguments))] { run_rank(code); };
    const auto all_but_first = std::views::drop(1);
    if (made_->empty() || not std::ranges::equal(made_->back().arguments | all_but_first, arguments | all_but_first)) {
      RankCode code = make_(arguments);
      made_->push_back({std::move(arguments), std::move(code)});
    }
    return [code = &made_->back().code] { run_rank(*code); };
  }
};

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

namespace simgrid::s4u {

/** SMPI's launcher registers its program for all ranks under an empty name. */
WEFT_INTERPOSED void Engine::register_function(const std::string& name, const kernel::actor::ActorCodeFactory& factory)
{
  using Register           = void (*)(Engine*, const std::string&, const kernel::actor::ActorCodeFactory&);
  static const auto THEIRS = weft::original<Register>("_ZN7simgrid3s4u6Engine17register_functionERKNSt7__cxx1112basic_"
                                                      "stringIcSt11char_traitsIcESaIcEEERKSt8functionIFSA_"
                                                      "IFvvEESt6vectorIS7_SaIS7_EEEE");
  if (name.empty())
    THEIRS(this, name, weft::SharedCode(factory));
  else
    THEIRS(this, name, factory);
}

} // namespace simgrid::s4u
