/* One run: the fabric, its network, its switches' state, the communicators, the record.
 *
 * SMPI calls the registered algorithms without a context, and SimGrid's engine is one per process; so there is one
 * Simulation, made by load_platform() and never deleted (SMPI frees communicators after everything else).
 */
#pragma once

#include "fabric/fabric.hpp"
#include "simgrid/communicator.hpp"
#include "simgrid/decider.hpp"
#include "simgrid/network.hpp"
#include "simgrid/record.hpp"
#include "smart_switch/aggregation.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft {

/** The name of the actors that speak for a rank while it computes (message granularity). */
constexpr const char* SPEAKER_NAME = "weft.speaker";

class Simulation {
  std::unordered_map<int, std::shared_ptr<Communicator>> communicators_; // by id
  std::string record_path_;
  int attribute_key_ = MPI_KEYVAL_INVALID;
  int ranks_         = 0;
  std::set<const simgrid::s4u::Host*> hosts_used_;
  std::unordered_set<aid_t> ended_; // ranks that came to their end by themselves

  void watch_ranks_from_now_on();
  std::shared_ptr<Communicator> describe(MPI_Comm comm) const;
  void attach(MPI_Comm comm, int rank, Communicator& communicator);
  std::string describe_deadlock() const;
  void write_record() const;

public:
  const Fabric fabric;
  const OffloadMode mode; ///< what the run asks for
  Network* network = nullptr;
  std::vector<Aggregation> switches; // by index in the fabric
  Record record;
  std::map<std::string, std::string> algorithms; ///< collective -> the SMPI algorithm that it falls back to
  Decider decider;

  /** Make the process's simulation; its network is the caller's to set. @p record_path may be empty: no record. */
  static Simulation& create(Fabric fabric, OffloadMode mode, std::string record_path, bool keep_events);
  static Simulation& get();
  Simulation(Fabric its_fabric, OffloadMode its_mode, std::string record_path);

  /** The state of a communicator of more than one rank, as seen by its rank @p rank. */
  const std::shared_ptr<Communicator>& communicator(MPI_Comm comm, int rank);
  /** A rank frees a communicator. */
  void release(Communicator& communicator);
  /** Where all ranks have freed it and no call is in flight on it, its channels are given back. */
  void release_if_done(Communicator& communicator);

  /** A rank has come to its end by itself: calls in flight need not wait for it. */
  void rank_ended(aid_t actor);
  /** End the process where a rank has ended that a call in flight on @p communicator waits for. */
  void check_members(const Communicator& communicator);

  /** End the process because not all ranks of @p communicator make the same calls; @p calls says which. */
  [[noreturn]] void mismatch(const Communicator& communicator, const std::string& calls);
  /** End the process with @p status: the program cannot go on. The record says why. */
  [[noreturn]] void abort(const std::string& kind, const std::string& message, int status = 1);
};

} // namespace weft
