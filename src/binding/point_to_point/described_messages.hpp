// SPDX-License-Identifier: LGPL-2.1-only
/* Text descriptions of the messages that ranks wait for: for a deadlock, and for a run that exceeds its memory. */
#pragma once

#include "binding/point_to_point/sent_messages.hpp"
#include "binding/requests/endpoints.hpp"
#include "binding/requests/message_waits.hpp"
#include "binding/run/run_context.hpp"
#include "protocol/message_matching.hpp"

#include <cstddef>
#include <string>

namespace weft {

class DescribedMessages {
  const MessageMatching& matching_;
  const Endpoints& endpoints_;
  const SentMessages& sent_;
  const MessageWaits& waits_;
  std::size_t noted_messages_ = 0; // messages and copied bytes at the last call of note_longest_queue()
  std::size_t noted_kept_     = 0;
  std::size_t noted_bytes_    = 0; // memory of the longest queue reported so far

  std::string begin_of_wait(aid_t actor) const;
  void note_longest_queue();

public:
  DescribedMessages(const MessageMatching& matching, const Endpoints& endpoints, const SentMessages& sent,
                    const MessageWaits& waits)
      : matching_(matching), endpoints_(endpoints), sent_(sent), waits_(waits)
  {
  }

  /** Returns sentences about the waits that concern the given ranks, and about messages that they have not received. */
  std::string describe_waits(const ConcernsRank& concerns) const;
  /** Called when messages may take more memory than before: from time to time, writes a file about the longest queue
   * of unexpected messages. */
  void note_growth();
};

} // namespace weft
