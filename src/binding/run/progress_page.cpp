// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/progress_page.hpp"

#include "binding/observe/profile.hpp"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <simgrid/s4u/Engine.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Real time between updates, in ns: readers look a few times a second at most. */
constexpr std::int64_t PAGE_INTERVAL = 200'000'000;
constexpr std::int64_t NS_PER_SECOND = 1'000'000'000;

std::int64_t real_time()
{
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

} // namespace

void ProgressPage::follow_run(const std::string& path)
{
  if (path.empty())
    return;
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC); // NOLINT(cppcoreguidelines-pro-type-vararg): POSIX
  if (file < 0)
    return;
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) // NOLINT(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast): POSIX's macro
    return;
  static ProgressPage& page = *new ProgressPage(*static_cast<Page*>(memory)); // lives as long as the process
  sg::Engine::on_time_advance_cb([](double /*delta*/) { page.time_advances(); });
}

void ProgressPage::time_advances()
{
  const std::int64_t now = real_time();
  if (now - shown_ < PAGE_INTERVAL)
    return;
  shown_ = now;
  page_.simulated_time.store(sg::Engine::get_clock(), std::memory_order_relaxed);
  page_.calls.store(Profile::get().calls(), std::memory_order_relaxed);
}

} // namespace weft
