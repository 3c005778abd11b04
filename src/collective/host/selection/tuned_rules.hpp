// SPDX-License-Identifier: LGPL-2.1-only
/* Open MPI's own files of rules for its component tuned (--mca coll_tuned_use_dynamic_rules 1
 * --mca coll_tuned_dynamic_rules_filename FILE), read as it reads them.
 *
 * A file is a row of whole numbers; `#` begins a comment that ends with its line:
 *
 *   number of collectives, and for each:
 *     its number (7 is Bcast), number of communicator sizes, and for each:
 *       ranks, number of message sizes, and for each:
 *         bytes, algorithm, fan-out, segment in bytes
 *
 * `rule-file-version-2` before that (Open MPI 5.0) allows a fifth number on the last lines, of the requests that an
 * algorithm keeps open, which changes no message. The layout, what sizes are compared with and which rule holds are
 * those of ompi/mca/coll/tuned/coll_tuned_dynamic_file.c, coll_tuned_dynamic_rules.c and coll_tuned_decision_dynamic.c
 * of Open MPI 4.1.4. */
#pragma once

#include "collective/host/selection/algorithms.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** From so many bytes on, up to the next rule. */
struct TunedRule {
  Bytes from;
  const Algorithm* algorithm; ///< null: the file leaves it to Open MPI (algorithm 0)
  Tuning tuning;
  std::string place; ///< "FILE:LINE: ", where the algorithm stands
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
  /** Both throw UserError, with the line. */
  static TunedRules read_file(const std::string& path);
  static TunedRules read_text(std::string_view text, const std::string& place);

  /** Of the file: 1, or 2 where it says so. */
  int version() const { return version_; }
  /** Null where the file says nothing of the call. */
  const TunedRule* rule_for(const HostCall& call) const;
};

} // namespace weft
