// SPDX-License-Identifier: LGPL-2.1-only
/* Steps of a file operation, in simulated time: each begins when all parts of the preceding one have ended. */
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace weft {

class FileSteps : public std::enable_shared_from_this<FileSteps> {
public:
  using Then = std::function<void()>;
  using Step = std::function<void(FileSteps&)>;

  static std::shared_ptr<FileSteps> make() { return std::make_shared<FileSteps>(); }

  /** Adds a step, which starts its parts with branch(). */
  void then(Step step) { steps_.push_back(std::move(step)); }
  /** Begins the first step; @p at_end is called after the last. Called from SimGrid's kernel. */
  void run(Then at_end)
  {
    at_end_ = std::move(at_end);
    next();
  }
  /** Returns a callback for the end of a part of the current step. */
  Then branch()
  {
    ++pending_;
    return [self = shared_from_this()] {
      if (--self->pending_ == 0 && not self->starting_)
        self->next();
    };
  }

private:
  std::deque<Step> steps_;
  int pending_   = 0;
  bool starting_ = false; // parts of the current step may end while others start
  Then at_end_;

  void next()
  {
    while (not steps_.empty()) {
      const Step step = std::move(steps_.front());
      steps_.pop_front();
      starting_ = true;
      step(*this);
      starting_ = false;
      if (pending_ > 0)
        return;
    }
    if (const Then end = std::exchange(at_end_, nullptr))
      end();
  }
};

} // namespace weft
