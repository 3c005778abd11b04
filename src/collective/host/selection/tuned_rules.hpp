// SPDX-License-Identifier: LGPL-2.1-only
/* Open MPI's rules files for its component tuned (--mca coll_tuned_use_dynamic_rules 1 --mca
 * coll_tuned_dynamic_rules_filename FILE), interpreted as by Open MPI.
 *
 * A file is a sequence of whole numbers; `#` begins a comment up to the end of the line:
 *
 *   number of collectives, and for each:
 *     its number (7 is Bcast), number of communicator sizes, and for each:
 *       ranks, number of message sizes, and for each:
 *         bytes, algorithm, fan-out, segment in bytes
 *
 * A leading `rule-file-version-2` (Open MPI 5.0) allows a fifth number on the last lines, the
 * maximum number of outstanding requests, which does not change any message. The layout, the compared sizes and the
 * precedence of rules follow ompi/mca/coll/tuned/coll_tuned_dynamic_file.c, coll_tuned_dynamic_rules.c and
 * coll_tuned_decision_dynamic.c of Open MPI 4.1.4. */
#pragma once

#include "collective/host/selection/algorithms.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Rule that applies from its size up to the next rule's. */
struct TunedRule {
  Bytes from;
  const Algorithm* algorithm; ///< null: the file leaves the choice to Open MPI (algorithm 0)
  Tuning tuning;
};

class TunedRules {
  struct ForRanks {
    int ranks;
    std::vector<TunedRule> rules;
  };
  std::map<std::string_view, std::vector<ForRanks>> collectives_;
  int version_ = 1;

  friend class TunedRulesReader;

public:
  /** Reads rules from a file or a text. Throws UserError, with the line. */
  static TunedRules read_file(const std::string& path);
  static TunedRules read_text(std::string_view text, const std::string& place);

  /** Returns the version of the file: 1, or 2 if the file states it. */
  int version() const { return version_; }
  /** Returns the rule for a call; null if the file has none. */
  const TunedRule* rule_for(const HostCall& call) const;
};

} // namespace weft
