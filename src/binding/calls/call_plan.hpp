// SPDX-License-Identifier: LGPL-2.1-only
/* Plan of a persistent collective: its checked arguments, description and communicator. The first start makes the
 * non-blocking call, which fills the plan; later starts only enter the call. */
#pragma once

#include <smpi/smpi.h>

#include <functional>
#include <utility>

namespace weft {

class CallPlan {
  std::function<int(MPI_Request*)> start_;

public:
  bool made() const { return static_cast<bool>(start_); }
  void make(std::function<int(MPI_Request*)> start) { start_ = std::move(start); }
  int start(MPI_Request* request) const { return start_(request); }
};

/** Scope in which the current rank makes the call to which a plan belongs. */
class PlanScope {
  static inline const PlanScope* innermost = nullptr;

  CallPlan& plan_;
  MPI_Comm comm_;
  aid_t actor_;

public:
  PlanScope(CallPlan& plan, MPI_Comm comm);
  PlanScope(const PlanScope&)            = delete;
  PlanScope& operator=(const PlanScope&) = delete;
  /** Other ranks may have opened scopes meanwhile; these get no plan until their next start. */
  ~PlanScope() { innermost = nullptr; }

  /** Returns the plan of the call that the current rank makes on @p comm; usually null. */
  static CallPlan* plan_of(MPI_Comm comm)
  {
    return innermost ? innermost->if_own(comm) : nullptr; // out of line for the rare case
  }

private:
  [[gnu::noinline]] CallPlan* if_own(MPI_Comm comm) const;
};

} // namespace weft
