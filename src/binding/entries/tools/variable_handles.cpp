// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/tools/variable_handles.hpp"
#include "binding/entries/polls/idle_calls.hpp"

#include "binding/abi/smpi/handles.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/places.hpp"

#include <utility>

namespace weft {

OpenedCounter::OpenedCounter(const PerformanceVariable& variable, MPI_Comm comm)
    : variable_(variable), counters_(variable.continuous() ? nullptr : &variable.counters(comm))
{
}

std::uint64_t OpenedCounter::counter() const
{
  if (variable_.what == CountedWhat::calls)
    return counters_->calls;
  return variable_.what == CountedWhat::bytes ? counters_->bytes : counters_->offloaded;
}

double OpenedCounter::clock() const
{
  return counters_ ? counters_->time : time_of_rank();
}

void OpenedCounter::start()
{
  if (std::exchange(running_, true))
    return;
  if (variable_.what == CountedWhat::longest)
    counters_->longest.push_back(&time_);
  else if (variable_.is_time())
    time_from_ = clock();
  else
    from_ = counter();
}

void OpenedCounter::stop()
{
  if (not std::exchange(running_, false))
    return;
  if (variable_.what == CountedWhat::longest)
    std::erase(counters_->longest, &time_);
  else if (variable_.is_time())
    time_ += clock() - time_from_;
  else
    count_ += counter() - from_;
}

void OpenedCounter::read(void* buffer) const
{
  const bool adds = running_ && variable_.what != CountedWhat::longest;
  if (variable_.continuous())
    *static_cast<double*>(buffer) = clock();
  else if (variable_.is_time())
    *static_cast<double*>(buffer) = time_ + (adds ? clock() - time_from_ : 0.0);
  else
    *static_cast<unsigned long long*>(buffer) = count_ + (adds ? counter() - from_ : 0);
}

void OpenedCounter::write(const void* buffer)
{
  const bool ran = running_;
  stop();
  if (variable_.is_time())
    time_ = *static_cast<const double*>(buffer);
  else
    count_ = *static_cast<const unsigned long long*>(buffer);
  if (ran)
    start();
}

void OpenedCounter::reset()
{
  constexpr double NO_TIME              = 0;
  constexpr unsigned long long NO_CALLS = 0;
  write(variable_.is_time() ? static_cast<const void*>(&NO_TIME) : &NO_CALLS);
}

namespace {

/** Calls @p act for a handle of a session, or for all handles accepted by @p allows. Returns @p refusal for a handle
 * that it does not accept. */
template <class Allows, class Act>
int for_counters(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int refusal, Allows&& allows, Act&& act)
{
  return for_tools([&]() -> int {
    const CounterSession* const its = ToolUse::of_this_rank().opened.find<CounterSession>(session);
    if (not its)
      return MPI_T_ERR_INVALID_SESSION;
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
      its->counters.for_each<OpenedCounter>([&](OpenedCounter& one) {
        if (allows(one))
          act(one);
      });
      return MPI_SUCCESS;
    }
    auto* const one = its->counters.find<OpenedCounter>(handle);
    if (not one)
      return MPI_T_ERR_INVALID_HANDLE;
    if (not allows(*one))
      return refusal;
    act(*one);
    return MPI_SUCCESS;
  });
}

/** As above, for a single handle and a buffer. */
template <class Allows, class Act>
int for_value(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buffer, int refusal, Allows&& allows,
              Act&& act)
{
  if (handle != MPI_T_PVAR_ALL_HANDLES && buffer)
    return for_counters(session, handle, refusal, allows, act);
  return for_tools([&]() -> int { return buffer ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID; });
}

bool every_counter(const OpenedCounter& /*one*/)
{
  return true;
}

bool changes(const OpenedCounter& one)
{
  return not one.variable().continuous();
}

/** Sets the communicator to which a handle is bound. */
int bound_communicator(const PerformanceVariable& variable, const void* object, MPI_Comm* comm)
{
  if (variable.bind() == MPI_T_BIND_NO_OBJECT)
    return MPI_SUCCESS;
  if (not object || not is_in_mpi())
    return MPI_T_ERR_INVALID;
  *comm            = *static_cast<const MPI_Comm*>(object);
  const auto freed = [](const void* handle) {
    return static_cast<const simgrid::smpi::HandleLayout*>(handle)->deleted;
  };
  return *comm == MPI_COMM_NULL || freed(*comm) ? MPI_T_ERR_INVALID : MPI_SUCCESS;
}

int open_counter(CounterSession& session, const PerformanceVariable& variable, const void* object,
                 MPI_T_pvar_handle* handle)
{
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int result = bound_communicator(variable, object, &comm); result != MPI_SUCCESS)
    return result;
  *handle = reinterpret_cast<MPI_T_pvar_handle>(session.counters.add<OpenedCounter>(variable, comm));
  return MPI_SUCCESS;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(pvar_session_create, (MPI_T_pvar_session * pe_session))
{
  return for_tools([&]() -> int {
    if (not pe_session)
      return MPI_T_ERR_INVALID;
    *pe_session = reinterpret_cast<MPI_T_pvar_session>(ToolUse::of_this_rank().opened.add<CounterSession>());
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(pvar_session_free, (MPI_T_pvar_session * pe_session))
{
  return for_tools([&]() -> int {
    ToolUse& use                    = ToolUse::of_this_rank();
    const CounterSession* const its = pe_session ? use.opened.find<CounterSession>(*pe_session) : nullptr;
    if (not its)
      return MPI_T_ERR_INVALID_SESSION;
    use.opened.remove(its);
    *pe_session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(pvar_handle_alloc, (MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle,
                                       MPI_T_pvar_handle* handle, int* count))
{
  return for_tools([&]() -> int {
    auto* const its = ToolUse::of_this_rank().opened.find<CounterSession>(pe_session);
    if (not its)
      return MPI_T_ERR_INVALID_SESSION;
    if (not has_index(performance_variables(), pvar_index))
      return MPI_T_ERR_INVALID_INDEX;
    if (not handle)
      return MPI_T_ERR_INVALID;
    set_output(count, 1);
    return open_counter(*its, performance_variables()[static_cast<std::size_t>(pvar_index)], obj_handle, handle);
  });
}

WEFT_TOOL_FUNCTION(pvar_handle_free, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle))
{
  return for_tools([&]() -> int {
    auto* const its = ToolUse::of_this_rank().opened.find<CounterSession>(pe_session);
    if (not its)
      return MPI_T_ERR_INVALID_SESSION;
    const OpenedCounter* const one = handle ? its->counters.find<OpenedCounter>(*handle) : nullptr;
    if (not one)
      return MPI_T_ERR_INVALID_HANDLE;
    its->counters.remove(one);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(pvar_start, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle))
{
  return for_counters(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, changes,
                      [](OpenedCounter& one) { one.start(); });
}

WEFT_TOOL_FUNCTION(pvar_stop, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle))
{
  return for_counters(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, changes, [](OpenedCounter& one) { one.stop(); });
}

WEFT_TOOL_FUNCTION(pvar_read, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf))
{
  note_call(CallIdentity("pvar_read", {number_of_handle(handle)}));
  return for_value(pe_session, handle, buf, MPI_SUCCESS, every_counter, [buf](OpenedCounter& one) { one.read(buf); });
}

WEFT_TOOL_FUNCTION(pvar_write, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf))
{
  return for_value(pe_session, handle, buf, MPI_T_ERR_PVAR_NO_WRITE, changes,
                   [buf](OpenedCounter& one) { one.write(buf); });
}

WEFT_TOOL_FUNCTION(pvar_reset, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle))
{
  return for_counters(pe_session, handle, MPI_T_ERR_PVAR_NO_WRITE, changes, [](OpenedCounter& one) { one.reset(); });
}

WEFT_TOOL_FUNCTION(pvar_readreset, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf))
{
  return for_value(pe_session, handle, buf, MPI_T_ERR_PVAR_NO_ATOMIC, changes, [buf](OpenedCounter& one) {
    one.read(buf);
    one.reset();
  });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
