// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's extension of actors (src/smpi/include/smpi_actor.hpp). */
#pragma once

#include <simgrid/forward.h>
#include <smpi/smpi.h>
#include <xbt/Extendable.hpp>
#include <xbt/xbt_os_time.h>

namespace simgrid::smpi {

class ActorExt {
public:
  static xbt::Extension<s4u::Actor, ActorExt> EXTENSION_ID; // NOLINT(readability-identifier-naming): SimGrid's name
  int sampling() const;                                     ///< true if it is inside an SMPI_SAMPLE_ block
  int initializing() const;
  int initialized() const;
  int finalized() const;
  int finalizing() const;
  bool replaying() const;      ///< true if it replays a trace, without message data
  MPI_Comm comm_world() const; ///< null before MPI_Init
  s4u::ActorPtr get_actor();
  /* Interposed in binding/tuning/started_ranks.cpp. */
  s4u::Mailbox* mailbox_small();
  s4u::MutexPtr mailboxes_mutex() const;
  xbt_os_timer_t timer();
  static void init();
};

/** Fields of an ActorExt, up to those that are created on demand; checked in binding/tuning/started_ranks.cpp. */
struct ActorExtLayout {
  double simulated;
  s4u::Mailbox* mailbox;
  s4u::Mailbox* mailbox_small;
  s4u::MutexPtr mailboxes_mutex;
  xbt_os_timer_t timer;
};

} // namespace simgrid::smpi
