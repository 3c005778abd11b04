// SPDX-License-Identifier: LGPL-2.1-only
/* Training iteration as a job of a run: its ranks are on the job's hosts, their messages on the run's network. */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "workload/iteration.hpp"

#include <memory>
#include <optional>
#include <simgrid/s4u/Semaphore.hpp>
#include <string>
#include <vector>

namespace weft {

class RunContext;

class TrainingJob : public JobWork, Due {
  Job& job_;
  const Workload workload_;
  const IterationOptions options_;
  const std::vector<std::string> hosts_; // by rank
  RunContext* context_ = nullptr;        // set once the job has begun
  simgrid::s4u::SemaphorePtr over_;
  std::unique_ptr<Iteration>
      iteration_; // set once the job has begun; the target of events that may still be due after its end
  std::optional<IterationTimes> times_; // set once it is over

  void end();
  void due(std::uint64_t what) override;

public:
  /** @p hosts: the host of each rank. @p job must outlive the object. Throws UserError. */
  TrainingJob(Job& job, Workload workload, IterationOptions options, std::vector<std::string> hosts);
  void run(RunContext& context) override;
  void stop(const Outcome& outcome) override;
  std::string waits() const override;
  void add_to(Json& row) const override;
};

} // namespace weft
