// SPDX-License-Identifier: LGPL-2.1-only
/* How long the hosts would take for a collective: the smallest of the closed forms of its well-known algorithms, or
 * that of the one that SMPI's selector `ompi` takes, where it is known which.
 *
 * A prediction for `--offload auto`, which needs the order of two times and not their digits: a round of an algorithm
 * lasts as long as its slowest message on a quiet fabric; rounds follow each other; ranks arrive together; adding up
 * takes no time, as SMPI has it. Switches between the hosts' cables and the far side are not shared out.
 *
 * The time is the mean of all ranks, as tables and records have it. In a Reduce or a Bcast of eager messages most ranks
 * leave long before the last: nobody waits for what he sends.
 *
 *   R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH. Int. J. High
 *   Perform. Comput. Appl. 19(1), 2005: recursive doubling and halving, Bruck, ring, pairwise, all at once, binomial
 * trees, scatter + allgather, Rabenseifner's Reduce and Allreduce. E. Chan, M. Heimlich, A. Purkayastha, R. van de
 * Geijn: Collective communication: theory, practice, and experience. Concurr. Comput. 19(13), 2007: the ring (bucket)
 * Allreduce, what each costs. D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization. Int. J.
 * Parallel Program. 17(1), 1988: dissemination.
 */
#pragma once

#include "fabric/fabric.hpp"
#include "kinds/collective_kind.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/** What the ranks of one communicator cost each other. Made once per communicator, in O(ranks x log ranks) steps. */
class HostCost {
public:
  /** The messages of one round, in which every rank sends to one other. */
  struct Round {
    Seconds latency;            ///< of the longest way
    BytesPerSecond bandwidth;   ///< of the slowest way
    int ranks_a_host   = 0;     ///< that send over one host's cable at the same time
    bool between_hosts = false; ///< else all messages stay within hosts
  };

  /** @p rank_hosts: the host of each rank; more than one rank of a host may be there. */
  HostCost(const Fabric& fabric, std::span<const VertexId> rank_hosts);

  /** The predicted time of a call. @p message is what a rank contributes, of Reduce_scatter and Alltoall all of it, of
   * Bcast what the root sends, of Allgatherv the mean. Throws std::logic_error where switches do nothing for @p kind.
   */
  Seconds time(const CollectiveKind& kind, Bytes message) const;

  /** The same with the @p algorithm of SMPI's that the hosts run: "ompi", or any other, which says nothing more. */
  Seconds time(const CollectiveKind& kind, Bytes message, const std::string& algorithm) const;

private:
  const Fabric& fabric_;
  int ranks_;
  std::vector<Round> doubling_; ///< by exponent j: ranks that differ in bit j exchange; 2^j < ranks
  Round neighbours_;            ///< every rank sends to the next

  Seconds message_time(const Round& round, Bytes size) const;
  Seconds tree_time(std::size_t exponent, Bytes size) const;
  Seconds folding(Bytes size) const;
  std::size_t exchanges() const;

  Seconds recursive_doubling(Bytes message) const;
  Seconds halving(Bytes message) const;
  bool eager(Bytes message) const;
  int ranks_at_height(std::size_t exponent) const;
  Seconds binomial(Bytes message) const;
  Seconds binomial_reduce(Bytes message, Bytes segment) const;
  Seconds binomial_bcast(Bytes message) const;
  std::optional<Seconds> as_open_mpi_has_it(const CollectiveKind& kind, Bytes message) const;
  Seconds binomial_scatter(Bytes message) const;
  Seconds ring(Bytes block) const;
  Seconds pairwise(Bytes block) const;
  Seconds bruck(Bytes block) const;
  Seconds bruck_to_each(Bytes block) const;
  Seconds all_at_once(Bytes block) const;
  Seconds dissemination() const;
};

} // namespace weft
