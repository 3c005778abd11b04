// SPDX-License-Identifier: LGPL-2.1-only
/* Schedule of one rank in a host collective: the messages that it posts and waits for, and the data that it combines,
 * in order.
 *
 * An algorithm is a coroutine that yields a rank's steps in the order in which an MPI library would execute them:
 *
 *   Schedule to_the_right(const HostCall& call, int rank)
 *   {
 *     const Request left = co_yield irecv((rank + call.ranks - 1) % call.ranks, call.bytes(call.count));
 *     co_yield send((rank + 1) % call.ranks, call.bytes(call.count));
 *     co_yield wait(left);
 *   }
 *
 * An algorithm includes the steps of another by co_yield of its Schedule. Steps are computed on demand, so that a ring
 * of a thousand ranks needs only the coroutine frames. Schedules are independent of time and data. */
#pragma once

#include "base/units.hpp"
#include "collective/host/engine/frames.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace weft {

/** Number of a message posted by a rank, in order of posting, from 0. */
using Request = int;

/** Set of requests of which any one is awaited. */
struct AnyOf {
  std::vector<Request> requests; ///< if several are complete, the first is taken
  Request ended = -1;            ///< the request that completed the wait
};

/** Reuse of cached data by an algorithm that forwards a vector in segments. */
struct Pipeline {
  Bytes in_flight; ///< bytes of each rank's buffers between the first step of a segment and its last
  double fresh =
      1; ///< fraction of the memory traffic of a step, with single copies, that no earlier step of its segment caused
};

/** Connection of a GPU library: its costs beyond those of the network. */
struct Connection {
  Seconds latency;       ///< added after a message's data; its sender does not wait for it
  BytesPerSecond rate{}; ///< maximum rate of its messages, which are sent one at a time
  Bytes overhead{};      ///< bytes by which a message is longer on the links
};

struct Step {
  enum class Kind {
    send,     ///< posts a message to peer; a wait is optional
    receive,  ///< posts a receive from peer
    wait,     ///< waits for `request`
    wait_all, ///< waits for all requests of this rank
    reduce,   ///< combines `bytes` of two vectors
    copy,     ///< copies `bytes` in memory
    pack,     ///< packs `pieces` of memory into a message, or unpacks it
    wait_any, ///< waits for one of `any`; a wait for it follows
    pause     ///< waits for the latency of `over`
  };

  Kind kind;
  int peer        = -1;
  Bytes bytes     = {};
  Request request = -1;    ///< posted or awaited request
  bool blocking   = false; ///< MPI_Send or MPI_Recv: a wait for the same message follows
  int pieces      = 0;
  int tag         = 0;       ///< only messages with equal tags match
  AnyOf* any      = nullptr; ///< for wait_any
  /// Reuse of cached data; null: caches hold as much of the data as the call's buffers allow. Outlives the step.
  const Pipeline* pipeline = nullptr;
  /// Connection of a message, which then takes no CPU time and leaves once its receive is posted. Outlives the message.
  const Connection* over = nullptr;

  bool is_flag() const;
};
constexpr int TAGS = 4;        ///< tags of MPI libraries are smaller
constexpr int FLAG = TAGS - 1; ///< tag of flags in shared memory, which take no CPU time

inline bool Step::is_flag() const
{
  return tag == FLAG;
}

constexpr Step isend(int to, Bytes bytes)
{
  return {Step::Kind::send, to, bytes};
}
constexpr Step irecv(int from, Bytes bytes)
{
  return {Step::Kind::receive, from, bytes};
}
/** MPI_Send: posts a message and waits for it. */
constexpr Step send(int to, Bytes bytes)
{
  return {Step::Kind::send, to, bytes, -1, true};
}
constexpr Step recv(int from, Bytes bytes)
{
  return {Step::Kind::receive, from, bytes, -1, true};
}
constexpr Step wait(Request request)
{
  return {Step::Kind::wait, -1, {}, request};
}
constexpr Step wait_all()
{
  return {Step::Kind::wait_all};
}
inline Step wait_any(AnyOf& any)
{
  Step step{Step::Kind::wait_any};
  step.any = &any;
  return step;
}
constexpr Step reduce(Bytes bytes)
{
  return {Step::Kind::reduce, -1, bytes};
}
constexpr Step copy(Bytes bytes)
{
  return {Step::Kind::copy, -1, bytes};
}
constexpr Step pack(int pieces)
{
  return {Step::Kind::pack, -1, {}, -1, false, pieces};
}

constexpr Step pause(const Connection& over)
{
  Step step{Step::Kind::pause};
  step.over = &over;
  return step;
}
/** Sends a message over a connection. */
constexpr Step on(const Connection& over, Step send)
{
  send.over = &over;
  return send;
}

constexpr Step flagged(Step step)
{
  step.tag = FLAG;
  return step;
}
/** Sets a flag that another rank of the host watches. */
constexpr Step raise(int watcher)
{
  return flagged(isend(watcher, Bytes()));
}
/** Waits until another rank of the host has set its flag. */
constexpr Step watch(int raiser)
{
  return flagged(recv(raiser, Bytes()));
}

/** MPI_Sendrecv as in Open MPI's collectives: posts the receive, sends, and waits for the receive. */
struct SendReceive {
  Step receive;
  Step send;
};
constexpr SendReceive send_receive(int to, Bytes sent, int from, Bytes received)
{
  return {irecv(from, received), send(to, sent)};
}

/** Lazy sequence of the steps of one rank. */
class [[nodiscard]] Schedule {
public:
  struct promise_type; // NOLINT(readability-identifier-naming): C++ wants that name

private:
  using Handle = std::coroutine_handle<promise_type>;

  /** Position shared by a schedule and the schedules nested in it. */
  struct Progress {
    Step step;
    Handle innermost;    // coroutine that yields the next step
    Request posted = 0;  // messages posted so far
    Step send      = {}; // remaining steps of a SendReceive: this send,
    Request coming = -1; // then a wait for this receive;
    int left       = 0;  // number of these two steps that remain
  };

  static void post(Progress& progress, Step next)
  {
    if (next.kind == Step::Kind::send || next.kind == Step::Kind::receive)
      next.request = progress.posted++;
    progress.step = next;
  }

  static Frames& frames()
  {
    static thread_local auto& all = *new Frames; // never destroyed: outlives static objects
    return all;
  }

  Handle handle_;

  explicit Schedule(Handle handle) : handle_(handle) {}

public:
  struct promise_type { // NOLINT(readability-identifier-naming)
    Progress own;
    Progress* progress = &own;
    Handle outer;
    std::exception_ptr failure;

    struct Said {
      Progress& progress;
      Request request;
      bool await_ready() const noexcept { return false; }
      void await_suspend(Handle /*handle*/) const noexcept {}
      Request await_resume() const noexcept { return request; }
    };
    struct Inner {
      Handle inner;
      bool await_ready() const noexcept { return false; }
      Handle await_suspend(Handle outer) const noexcept
      {
        inner.promise().progress            = outer.promise().progress;
        inner.promise().outer               = outer;
        outer.promise().progress->innermost = inner;
        return inner;
      }
      void await_resume() const
      {
        if (inner.promise().failure)
          std::rethrow_exception(inner.promise().failure);
      }
    };
    struct Ended {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(Handle ended) const noexcept
      {
        const promise_type& promise = ended.promise();
        if (not promise.outer)
          return std::noop_coroutine();
        promise.progress->innermost = promise.outer;
        return promise.outer;
      }
      void await_resume() const noexcept {}
    };

    static void* operator new(std::size_t bytes) { return frames().allocate(bytes); }
    static void operator delete(void* frame, std::size_t bytes) { frames().deallocate(frame, bytes); }

    Schedule get_return_object()
    {
      own.innermost = Handle::from_promise(*this);
      return Schedule(own.innermost);
    }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static Ended final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    void unhandled_exception() noexcept { failure = std::current_exception(); }

    Said yield_value(Step step) noexcept
    {
      post(*progress, step); // NOLINT(clang-analyzer-core.CallAndMessage): set by the promise
      return {*progress, progress->step.request};
    }
    Said yield_value(const SendReceive& exchange) noexcept
    {
      const Said said  = yield_value(exchange.receive);
      progress->send   = exchange.send;
      progress->coming = said.request;
      progress->left   = 2;
      return said;
    }
    static Inner yield_value(const Schedule& inner) noexcept { return {inner.handle_}; }
  };

  Schedule(Schedule&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Schedule& operator=(Schedule&& other) noexcept
  {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Schedule(const Schedule&)            = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule()
  {
    if (handle_)
      handle_.destroy();
  }

  /** Advances to the next step; returns false at the end. */
  bool next()
  {
    Progress& progress = handle_.promise().own;
    if (progress.left > 0) {
      post(progress, progress.left-- == 2 ? progress.send : wait(progress.coming));
      return true;
    }
    progress.innermost.resume();
    if (not handle_.done())
      return true;
    if (handle_.promise().failure)
      std::rethrow_exception(handle_.promise().failure);
    return false;
  }
  /** Returns the current step. */
  const Step& step() const { return handle_.promise().own.step; }
};

} // namespace weft
