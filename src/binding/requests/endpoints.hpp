// SPDX-License-Identifier: LGPL-2.1-only
/* Dense endpoint numbers for the matching; an endpoint is one rank in one communicator. Numbers of endpoints without
 * messages are reused if a rank uses many communicators. */
#pragma once

#include "binding/ranks/actor_map.hpp"
#include "protocol/message_matching.hpp"

#include <cstddef>
#include <smpi/smpi.h>
#include <vector>

namespace weft {

class Endpoints {
public:
  /** Rank and communicator of an endpoint. */
  struct Owner {
    aid_t actor;
    int communicator;
    int ranks;  ///< size of the communicator, or of the local group of an intercommunicator
    int remote; ///< size of its remote group; 0: an intracommunicator
  };

private:
  struct Known {
    int communicator;
    MessageMatching::Endpoint endpoint;
  };
  struct OfActor {
    std::vector<Known> known;
    std::size_t last  = 0; // index of the last lookup
    std::size_t limit = 0; // size at which unused endpoints are dropped
  };
  const MessageMatching& matching_;
  ActorMap<OfActor> by_actor_;
  std::vector<MessageMatching::Endpoint> idle_;
  std::vector<Owner> owners_; // by endpoint

  void give_up_unused(OfActor& actor);

public:
  explicit Endpoints(const MessageMatching& matching) : matching_(matching) {}
  /** Returns the endpoint of @p actor in @p comm. It is stable while a receive or message is queued there. */
  MessageMatching::Endpoint of(aid_t actor, MPI_Comm comm);
  /** Returns the owner of an endpoint. */
  const Owner& owner(MessageMatching::Endpoint endpoint) const { return owners_[endpoint]; }
};

} // namespace weft
