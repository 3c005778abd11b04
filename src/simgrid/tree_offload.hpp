// SPDX-License-Identifier: LGPL-2.1-only
/* Calls over a reduction tree: the part that stays in the hosts. How the tree is timed is up to the two kinds of them:
 * streams (stream_offload.cpp) and messages (message_offload.cpp). */
#pragma once

#include "simgrid/offload.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace weft {

/** A call over the communicator's reduction tree. */
class TreeOffload : public OffloadedCall {
  std::vector<int> arrived_; // by member: its ranks whose contributions are together

  TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator, const Described& described,
              const HostWork& work);
  /** What goes from a rank to the one that speaks for its member, and back; nothing where that rank has no part. */
  std::optional<Bytes> within_host(int rank, Who who, Share share) const;
  std::optional<Bytes> to_speaker(int rank) const;
  std::optional<Bytes> from_speaker(int rank) const;
  void arrive(int rank);

protected:
  const TreeCall call_;
  const HostWork host_work_;

  void enter(int rank) override;
  /** The contributions of all ranks of @p member are together. From a rank or SimGrid's kernel. */
  virtual void member_ready(int member) = 0;
  /** What @p member gets has come to it. From a rank, an actor or SimGrid's kernel. */
  void member_done(int member);

public:
  TreeOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator, const Described& described);
};

} // namespace weft
