// SPDX-License-Identifier: LGPL-2.1-only
/* Measures how fast a core of this machine combines and copies vectors, and how long a message takes between two
 * processes through shared memory. Independent of the rest of weft; `weft calibrate host --here` runs it.
 *
 *   host-rates sum|copy TYPE BYTES REPETITIONS           seconds per call on vectors of BYTES, one line per repetition
 *   host-rates message|stream bytes BYTES REPETITIONS [CPU,CPU]
 *                                                        seconds per message one way; stream: back to back
 *   host-rates together bytes BYTES REPETITIONS CPU,...  seconds in which these CPUs together copy BYTES
 *
 * The loops are those of an MPI library's operations: plain C on two vectors, vectorised for the
 * compiler's default target. */
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sched.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Long enough for the clock's resolution and for a core to raise its frequency, short enough for a whole measurement to
// take a few minutes.
constexpr double LEAST_S = 4e-3;

/** Prints the time per call of each repetition, one a line. The first, untimed call warms the caches. */
template <class Call> void repeat(int repetitions, const Call& call)
{
  long calls   = 1;
  double least = 0;
  for (call(1); (least = [&] {
                  const Clock::time_point start = Clock::now();
                  call(calls);
                  return seconds_since(start);
                }()) < LEAST_S;)
    calls = least * 16 < LEAST_S ? calls * 8 : calls * 2;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Clock::time_point start = Clock::now();
    call(calls);
    std::printf("%.9e\n", seconds_since(start) / static_cast<double>(calls));
  }
}

// Calls per burst: few enough that both processes are likely to run throughout, even if other processes compete for
// their cores. WINDOW_S: time in seconds in which to find such a burst.
constexpr long BURST      = 8;
constexpr double WINDOW_S = 0.1;

/** Prints the time per call of the fastest burst within WINDOW_S, one line per repetition. */
template <class Call> void repeat_bursts(int repetitions, const Call& call)
{
  call(BURST);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    double least                  = 1e9;
    const Clock::time_point start = Clock::now();
    while (seconds_since(start) < WINDOW_S) {
      const Clock::time_point burst = Clock::now();
      call(BURST);
      least = std::min(least, seconds_since(burst));
    }
    std::printf("%.9e\n", least / static_cast<double>(BURST));
  }
}

/** Prevents the compiler from removing a loop. */
void use(void* memory)
{
  asm volatile("" : : "g"(memory) : "memory");
}

template <class T> void sum(std::size_t bytes, int repetitions)
{
  const std::size_t count = bytes / sizeof(T);
  std::vector<T> result(count, T(1));
  std::vector<T> other(count, T(1));
  repeat(repetitions, [&](long calls) {
    for (long call = 0; call < calls; ++call) {
      T* const into       = result.data();
      const T* const from = other.data();
      for (std::size_t at = 0; at < count; ++at)
        into[at] = static_cast<T>(into[at] + from[at]);
      use(into);
    }
  });
}

void copy(std::size_t bytes, int repetitions)
{
  std::vector<char> into(bytes, 1);
  std::vector<char> from(bytes, 2);
  repeat(repetitions, [&](long calls) {
    for (long call = 0; call < calls; ++call) {
      std::memcpy(into.data(), from.data(), bytes);
      use(into.data());
    }
  });
}

// ---- Messages between two processes

constexpr std::size_t LINE  = 64;
constexpr std::size_t SLOTS = 16;
constexpr int MOST_SPINS    = 20000;

/** One direction of communication through slots of shared memory. The sender copies a message into
 * a slot, the receiver copies it out. */
class Channel {
  struct alignas(LINE) Flag {
    std::atomic<std::uint32_t> full = 0;
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  std::array<Flag, SLOTS>* flags_;
  char* slots_;
  std::size_t bytes_;
  std::size_t next_ = 0;

  Flag& flag(std::uint32_t full)
  {
    Flag& its = (*flags_)[next_];
    for (int spins = 0; its.full.load(std::memory_order_acquire) != full; ++spins)
      if (spins > MOST_SPINS)
        sched_yield(); // the peer process may need this core
    return its;
  }
  char* slot() { return slots_ + next_ * bytes_; }
  void advance() { next_ = (next_ + 1) % SLOTS; }

public:
  static std::size_t size(std::size_t bytes) { return sizeof(std::array<Flag, SLOTS>) + SLOTS * bytes; }
  Channel(char* memory, std::size_t bytes)
      : flags_(new (memory) std::array<Flag, SLOTS>), slots_(memory + sizeof(std::array<Flag, SLOTS>)), bytes_(bytes)
  {
  }
  void send(const char* from)
  {
    Flag& its = flag(0);
    std::memcpy(slot(), from, bytes_);
    its.full.store(1, std::memory_order_release);
    advance();
  }
  void receive(char* into)
  {
    Flag& its = flag(1);
    std::memcpy(into, slot(), bytes_);
    its.full.store(0, std::memory_order_release);
    advance();
  }
};

void pin(int cpu)
{
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

[[noreturn]] void fail(const char* what)
{
  std::fprintf(stderr, "host-rates: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

/** Returns the CPUs of a list such as "0,4". */
std::vector<int> parse_processors(const char* list)
{
  std::vector<int> found;
  for (char* end = nullptr; *list != '\0'; list = *end == ',' ? end + 1 : end) {
    found.push_back(static_cast<int>(std::strtol(list, &end, 10)));
    if (end == list)
      std::exit(2);
  }
  return found;
}

/** Copies vectors of @p bytes on each of some CPUs concurrently, and prints the time in which all of them copy as much
 * as one vector. Each CPU counts its copies within a time window, so that they need not begin together. */
void together(std::size_t bytes, int repetitions, const std::vector<int>& cpus)
{
  struct alignas(LINE) Copies {
    std::atomic<long> number = 0;
  };
  const std::size_t size = cpus.size() * sizeof(Copies);
  void* const memory     = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("shared memory");
  auto* const copies = static_cast<Copies*>(memory); // zero-initialised
  std::vector<pid_t> children;
  for (std::size_t one = 0; one < cpus.size(); ++one) {
    const pid_t child = fork();
    if (child < 0)
      fail("fork");
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(cpus[one]);
    std::vector<char> into(bytes, 1); // written here, and therefore in the memory of this CPU
    std::vector<char> from(bytes, 2);
    for (;;) {
      std::memcpy(into.data(), from.data(), bytes);
      use(into.data());
      copies[one].number.fetch_add(1, std::memory_order_relaxed);
    }
  }
  const auto all = [&] {
    long sum = 0;
    for (std::size_t one = 0; one < cpus.size(); ++one)
      sum += copies[one].number.load(std::memory_order_relaxed);
    return sum;
  };
  constexpr int FEWEST = 64; // minimum number of copies per window, so that the one in progress is negligible
  constexpr timespec NAP{0, 1000000};
  while (all() < static_cast<long>(cpus.size())) // until all have touched their memory, or nearly
    nanosleep(&NAP, nullptr);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const long before             = all();
    const Clock::time_point start = Clock::now();
    while (all() - before < FEWEST || seconds_since(start) < WINDOW_S)
      nanosleep(&NAP, nullptr);
    std::printf("%.9e\n", seconds_since(start) / static_cast<double>(all() - before));
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

/** Returns the first two CPUs on which this process may run. */
std::array<int, 2> two_processors()
{
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    fail("processors");
  std::array<int, 2> found{};
  int count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; ++cpu)
    if (CPU_ISSET(cpu, &allowed))
      found.at(static_cast<std::size_t>(count++)) = cpu;
  if (count < 2) {
    std::fprintf(stderr, "host-rates: one processor\n");
    std::exit(1);
  }
  return found;
}

/** Measures the time of a message: half a round trip if the peer @p answers, otherwise the mean over back-to-back
 * messages. */
void message(std::size_t bytes, int repetitions, bool answers, const std::array<int, 2>& cpus)
{
  bytes                  = (bytes + LINE - 1) / LINE * LINE;
  const std::size_t size = Channel::size(bytes);
  char* const memory =
      static_cast<char*>(mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED)
    fail("shared memory");
  Channel there(memory, bytes);
  Channel back(memory + size, bytes);
  std::vector<char> buffer(bytes, 1);
  const pid_t child = fork();
  if (child < 0)
    fail("fork");
  pin(cpus[child == 0 ? 1 : 0]);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      there.receive(buffer.data());
      if (answers)
        back.send(buffer.data());
    }
  }
  repeat_bursts(repetitions, [&](long calls) {
    for (long call = 0; call < calls; ++call) {
      there.send(buffer.data());
      if (answers)
        back.receive(buffer.data());
    }
  });
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

} // namespace

int main(int count, char** words)
{
  if (count != 5 && count != 6)
    return 2;
  const std::string_view what = words[1];
  const std::string_view type = words[2];
  const std::size_t bytes     = std::strtoull(words[3], nullptr, 10);
  const auto repetitions      = static_cast<int>(std::strtol(words[4], nullptr, 10));
  const std::vector<int> cpus = parse_processors(count == 6 ? words[5] : "");
  if (what == "copy")
    copy(bytes, repetitions);
  else if (what == "message" || what == "stream")
    message(bytes, repetitions, what == "message", cpus.size() == 2 ? std::array{cpus[0], cpus[1]} : two_processors());
  else if (what == "together" && not cpus.empty())
    together(bytes, repetitions, cpus);
  else if (type == "int8")
    sum<std::int8_t>(bytes, repetitions);
  else if (type == "int32")
    sum<std::int32_t>(bytes, repetitions);
  else if (type == "int64")
    sum<std::int64_t>(bytes, repetitions);
  else if (type == "float")
    sum<float>(bytes, repetitions);
  else if (type == "double")
    sum<double>(bytes, repetitions);
  else
    return 2;
  return 0;
}
