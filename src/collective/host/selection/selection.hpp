// SPDX-License-Identifier: LGPL-2.1-only
/* Which algorithm an MPI library takes for a call: rules by collective, operation, ranks and bytes, read from
 * presets/mpi or a file of the user's. */
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
  std::map<std::string, std::vector<SelectionRule>, std::less<>>
      rules_;                             // by collective: each rank asks, where calls consist of calls
  std::shared_ptr<const Selection> base_; // chooses where none of rules_ holds
  std::optional<TunedRules> tuned_;       // which go before the rules of tuned, for calls that block

public:
  struct Choice {
    const Algorithm* algorithm; ///< null where no rule holds
    Tuning tuning;
    const Selection* library = nullptr; ///< decides on the calls within it; null: the one that is asked
  };
  /** The selection where a run names none. */
  static constexpr const char* DEFAULT = "openmpi-5.0";

  /** Of presets/mpi by its name, or a file by its path: a selection (.toml), or Open MPI's own rules for its component
   *  tuned. What those leave open is decided as Open MPI decides it: 4.1, or 5.0 where the file is of version 2, or
   * what stands before it: "openmpi-5.0+FILE". Throws UserError. */
  static Selection load(const std::string& name_or_path);
  static Selection read(const OptionTable& file, std::string name);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }

  /** Throws UserError, with file and line, where a rule names an algorithm that cannot do the call. */
  Choice choose(const HostCall& call) const;
  /** How its rules, and those of its base, tune @p algorithm. */
  std::vector<Tuning> tunings(const Algorithm& algorithm) const;
  /** What @p choice executes for @p call: the algorithm whose steps its own takes, if that is another one. */
  Choice executed(Choice choice, const HostCall& call) const;
  /** The same call, of which calls within it are chosen here, too. It keeps a reference to this selection. */
  HostCall resolved(HostCall call) const;
  /** The steps of one rank. @p call, which resolved() has made, must outlive them. Throws UserError as choose(), and
   * where no rule holds. */
  Schedule schedule(const HostCall& call, int rank) const;

private:
  Choice chosen(const HostCall& call) const;
  Choice choose_by_rules(const HostCall& call) const;
};

} // namespace weft
