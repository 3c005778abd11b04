// SPDX-License-Identifier: LGPL-2.1-only
/* Calls over a reduction tree. Mechanisms define their timing. */
#pragma once

#include "binding/mechanisms/hosts_instead.hpp"
#include "binding/mechanisms/offload.hpp"
#include "binding/mechanisms/offload_stage.hpp"
#include "binding/mechanisms/tree_state.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

class TreeOffload : public OffloadedCall, Staged, Repeated {
  TreeOffload(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call,
              TreeState& state);
  TreeOffload(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call,
              TreeState& state, const std::shared_ptr<const CommunicatorTree>& its_tree, const HostWork& work);
  void contributed(int member) override { member_ready(member); }
  void stage_ended(int rank) override { end(rank); }
  void stage_failed(const std::string& why) override { fail({why}); }
  std::shared_ptr<void> kept() override { return shared_from_this(); }

protected:
  TreeState& state_;
  std::shared_ptr<const CommunicatorTree> kept_tree_; // the tree in effect when the call began
  const TreeCall call_;
  HostWork host_work_;
  std::size_t trees_ = 1; // number of kept trees over which the call is divided

private:
  std::unique_ptr<OffloadStage> stage_; // null if every rank contributes its own data
  std::unique_ptr<HostsInstead> instead_;
  std::vector<int> left_; // by member: ranks that have not finished the hosts' repetition

  void add_hit(double hit, const char* what);
  void repetition_ended(int rank) override;
  void repetition_failed(const std::string& why) override { fail({why}); }

protected:
  const ReductionTree& tree(std::size_t number = 0) const { return kept_tree_->at(number); }
  void enter(int rank) override;
  /** Called from a rank or SimGrid's kernel when the contributions of all ranks of @p member have been combined. */
  virtual void member_ready(int member) = 0;
  /** Reports that the result of @p member has arrived. Called from a rank or SimGrid's kernel. */
  void member_done(int member);

  /* Only in runs with faults: */

  CallRecovery* recovery() { return context_.call_recovery ? &*context_.call_recovery : nullptr; }
  /** Returns whether all switches and cables of its trees are up. */
  bool tree_is_up() const;
  /** Switches to the current tree and acquires its channels, if the policy is to rebuild it. Returns false if no tree
   * is available. */
  bool find_tree();
  /** Counts that the call, which was hit at time @p hit, continues over a tree. Its progress since @p since is lost. */
  void count_restart(double hit, double since);
  /** Makes the hosts repeat the call, with the same parameters. All ranks must have entered it. */
  void repeat_on_hosts(double hit, double since);
  /** Fails the call, which was hit at time @p hit. */
  void give_up(double hit, const std::string& why);
  /** Called when the hosts have repeated the part of @p member. */
  virtual void member_repeated(int member) { member_done(member); }

public:
  TreeOffload(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call);

  Seconds host_overhead() const override;
};

} // namespace weft
