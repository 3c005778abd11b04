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
      rules_;                             // by collective, since each rank searches them for nested calls
  std::shared_ptr<const Selection> base_; // applies if none of rules_ matches
  std::shared_ptr<const Selection>
      library_;                     // applies if a rule of a file names an algorithm that cannot execute a call
  std::optional<TunedRules> tuned_; // take precedence over the rules of tuned, for blocking calls

public:
  struct Choice {
    const Algorithm* algorithm; ///< null if no rule matches
    Tuning tuning;
    /// Decided instead of the rule or name that applies, whose algorithm cannot execute the call, and selects the
    /// algorithms of nested calls; null: this selection.
    const Selection* library = nullptr;
    /// Plan of the call, if NCCL executes it.
    std::shared_ptr<const NcclPlan> nccl = {};

    /** Returns the algorithm's name, with that of `library` if there is one. */
    std::string name() const;
  };
  /** Default selection. */
  static constexpr const char* DEFAULT = "openmpi-5.0";

  /** Loads a selection of presets/mpi by name, or a file by path: a selection (.toml), or Open MPI's
   * own rules for its component tuned. Cases that such rules leave open follow Open MPI 4.1, 5.0 if
   * the file has version 2, or the selection named before the file: "openmpi-5.0+FILE". Throws
   * UserError. */
  static Selection load(const std::string& name_or_path);
  static Selection read(const OptionTable& file, std::string name);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  /** Returns whether the hosts' fastest algorithm is sought among those that it selects, too. */
  bool in_best() const { return in_best_; }

  /** Returns the algorithm for a call; null if no rule matches. If a rule names an algorithm that cannot execute it,
   * the base decides, or the default selection. */
  Choice choose(const HostCall& call) const;
  /** Returns the choice for a call that the algorithm asked for cannot execute: choose()'s, else the default
   * selection's, with that library. */
  Choice choose_instead(const HostCall& call) const;
  /** Returns the tunings of @p algorithm in its rules and those of its base. */
  std::vector<Tuning> tunings(const Algorithm& algorithm) const;
  /** Returns what @p choice executes for @p call: the algorithm whose steps its own executes, if
   * that is another one. */
  Choice executed(Choice choice, const HostCall& call) const;
  /** Returns the call with nested calls resolved by this selection, which it refers to. */
  HostCall resolved(HostCall call) const;
  /** Returns the steps of one rank. @p call, returned by resolved(), must outlive them. Throws
   * UserError if no rule matches, or if calls contain each other without end. */
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
