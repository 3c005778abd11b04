// SPDX-License-Identifier: LGPL-2.1-only
/* Selection of algorithms by an MPI library: rules by collective, operation, ranks and bytes, read
 * from presets/mpi or a user's file. */
#pragma once

#include "collective/host/selection/selection_rule.hpp"
#include "collective/host/selection/tuned_rules.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class Selection {
  std::string name_;
  std::string description_;
  bool in_best_ = true;
  std::map<std::string, std::vector<SelectionRule>, std::less<>>
      rules_;                             // by collective, since each rank searches the rules for nested calls
  std::shared_ptr<const Selection> base_; // applies if none of rules_ matches
  std::shared_ptr<const Selection>
      library_;                     // applies if a rule in a file names an algorithm that cannot execute a call
  std::optional<TunedRules> tuned_; // for blocking calls, takes precedence over the rules of tuned

public:
  struct Choice {
    const Algorithm* algorithm; ///< null if no rule matches
    Tuning tuning;
    /// Selection that decided instead, because the algorithm of the rule or name that applies cannot execute the call.
    /// Nested calls use the same selection. Null: this selection.
    const Selection* library = nullptr;
    /// Plan of the call, if NCCL executes it.
    std::shared_ptr<const NcclPlan> nccl = {};

    /** Returns the algorithm's name, with the name of `library` if there is one. */
    std::string name() const;
  };
  /** Default selection. */
  static constexpr const char* DEFAULT = "openmpi-5.0";

  /** Loads a selection of presets/mpi by name, or a file by path: a selection (.toml), or Open MPI's
   * own rules for its component tuned. Cases that such rules leave open follow Open MPI 4.1, or 5.0 for files of
   * version 2, or the selection named before the file: "openmpi-5.0+FILE". Throws UserError. */
  static Selection load(const std::string& name_or_path);
  static Selection read(const OptionTable& file, std::string name);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  /** Returns whether the search for the hosts' fastest algorithm includes this selection's choices. */
  bool in_best() const { return in_best_; }

  /** Returns the algorithm for a call; null if no rule matches. If a rule names an algorithm that cannot execute the
   * call, the base decides, or the default selection. */
  Choice choose(const HostCall& call) const;
  /** Returns the choice for a call that the requested algorithm cannot execute: the result of choose(), else the
   * default selection's, with that library. */
  Choice choose_instead(const HostCall& call) const;
  /** Returns the tunings of @p algorithm in this selection's rules and those of its base. */
  std::vector<Tuning> tunings(const Algorithm& algorithm) const;
  /** Returns the algorithm that @p choice executes for @p call: the substitute whose steps it executes, or its own. */
  Choice executed(Choice choice, const HostCall& call) const;
  /** Returns the call with nested calls resolved by this selection, which must outlive the result. */
  HostCall resolved(HostCall call) const;
  /** Returns the steps of one rank. @p call, returned by resolved(), must outlive them. Throws UserError if no rule
   * matches, or if calls nest endlessly. */
  Schedule schedule(const HostCall& call, int rank) const;

private:
  /** Returns the default selection. */
  static const Selection& preset();
  Choice chosen(const HostCall& call) const;
  /** Returns the algorithm that a rule names, or the choice of another selection if it cannot execute the call. */
  Choice followed(const Algorithm& algorithm, const HostCall& call, const Tuning& tuning) const;
  Choice choose_by_rules(const HostCall& call) const;
};

} // namespace weft
