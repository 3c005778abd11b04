// SPDX-License-Identifier: LGPL-2.1-only
/* What one rank does in a collective that the hosts carry out: which messages it posts, what it waits for, what it adds
 * up, in its order.
 *
 * An algorithm is a coroutine that says a rank's steps one after another, as the code of an MPI library would take
 * them:
 *
 *   Schedule to_the_right(const HostCall& call, int rank)
 *   {
 *     const Request left = co_yield irecv((rank + call.ranks - 1) % call.ranks, call.bytes(call.count));
 *     co_yield send((rank + 1) % call.ranks, call.bytes(call.count));
 *     co_yield wait(left);
 *   }
 *
 * Another algorithm's steps are taken by co_yield of its Schedule. Nothing is computed before it is asked for, so that
 * a ring of a thousand ranks costs no memory but the ranks' frames. Schedules know nothing of time or of data. */
#pragma once

#include "base/units.hpp"
#include "collective/host/engine/frames.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace weft {

/** Number of a message that a rank has posted, in the order of its posting, from 0. */
using Request = int;

/** Messages of which one is waited for. */
struct AnyOf {
  std::vector<Request> requests; ///< where several have ended, the first of them counts
  Request ended = -1;            ///< the one that has, once the wait is over
};

struct Step {
  enum class Kind {
    send,     ///< a message to peer is posted; it need not be waited for with wait
    receive,  ///< the same of a message from peer
    wait,     ///< for the end of `request`
    wait_all, ///< for the end of all that this rank has posted
    reduce,   ///< the rank combines `bytes` of two vectors
    copy,     ///< the rank copies `bytes` in its memory
    pack,     ///< it gathers `pieces` of its memory into a message, or spreads a message over them
    wait_any  ///< for the end of one of `any`, which a wait for it follows
  };

  Kind kind;
  int peer        = -1;
  Bytes bytes     = {};
  Request request = -1;    ///< that is posted, or waited for
  bool blocking   = false; ///< MPI_Send or MPI_Recv: a wait for the same message follows
  int pieces      = 0;
  int tag         = 0;       ///< less than TAGS; only messages with the same one match
  AnyOf* any      = nullptr; ///< of wait_any

  bool is_flag() const;
};
constexpr int TAGS = 4;
constexpr int FLAG = TAGS - 1; ///< the tag of flags in memory that ranks share: they cost no rank anything

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
/** What MPI_Send does: the message is posted and waited for. */
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

constexpr Step flagged(Step step)
{
  step.tag = FLAG;
  return step;
}
/** Set a flag that another rank of the host watches. */
constexpr Step raise(int watcher)
{
  return flagged(isend(watcher, Bytes()));
}
/** Wait until another rank of the host has set its flag. */
constexpr Step watch(int raiser)
{
  return flagged(recv(raiser, Bytes()));
}

/** Three steps at once: MPI_Sendrecv as Open MPI's collectives do it. The receive is posted, the message sent, the
 *  receive waited for. */
struct SendReceive {
  Step receive;
  Step send;
};
constexpr SendReceive send_receive(int to, Bytes sent, int from, Bytes received)
{
  return {irecv(from, received), send(to, sent)};
}

/** The steps of one rank. */
class [[nodiscard]] Schedule {
public:
  struct promise_type; // NOLINT(readability-identifier-naming): C++ wants that name

private:
  using Handle = std::coroutine_handle<promise_type>;

  /** What a schedule and those that it takes over share. */
  struct Progress {
    Step step;
    Handle innermost;    // that says the next step
    Request posted = 0;  // messages
    Step send      = {}; // what is left of a SendReceive: this,
    Request coming = -1; // and a wait for that;
    int left       = 0;  // so many of the two
  };

  static void post(Progress& progress, Step next)
  {
    if (next.kind == Step::Kind::send || next.kind == Step::Kind::receive)
      next.request = progress.posted++;
    progress.step = next;
  }

  static Frames& frames()
  {
    static thread_local auto& all = *new Frames; // outlives all that is static
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
      post(*progress, step); // NOLINT(clang-analyzer-core.CallAndMessage): it was made with its promise
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

  /** Goes on to the next step; false where there is none. */
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
  /** The step that next() has come to. */
  const Step& step() const { return handle_.promise().own.step; }
};

} // namespace weft
