// SPDX-License-Identifier: LGPL-2.1-only
// Prints how far the clocks of C++ move in simulated time, and what its ways to sleep and to wait take.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <future>
#include <mpi.h>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

static double start;

static void took(const char* name, bool as_expected = true)
{
  std::printf("%s %d %.3f\n", name, as_expected ? 1 : 0, MPI_Wtime() - start);
  start = MPI_Wtime();
}

template <class Clock> static void sleep_on(const char* name)
{
  const auto begin = Clock::now();
  std::this_thread::sleep_for(1000s);
  std::this_thread::sleep_until(Clock::now() + 500ms);
  const std::chrono::duration<double> slept = Clock::now() - begin;
  took(name, slept.count() > 1000.4 && slept.count() < 1000.6);
}

static void wait_each_way()
{
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> held(mutex);
  took("wait_for", not never.wait_for(held, 50ms, [] { return false; }));
  took("wait_until", never.wait_until(held, std::chrono::system_clock::now() + 50ms) == std::cv_status::timeout);
  std::promise<int> promise;
  auto future = promise.get_future();
  took("future", future.wait_for(50ms) == std::future_status::timeout);
  std::thread other([&promise] {
    std::this_thread::sleep_for(20ms); // real time, since this is not the rank's own thread
    promise.set_value(1);
  });
  took("future of a thread", future.wait_for(100s) == std::future_status::ready);
  other.join();
}

int main(int argc, char** argv)
{
  const auto early = std::chrono::steady_clock::now();
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_soon = std::chrono::steady_clock::now() - early < 1s;
  if (rank == 0) {
    start = MPI_Wtime();
    took("early", is_soon && std::chrono::steady_clock::now() >= early);
    sleep_on<std::chrono::steady_clock>("steady");
    sleep_on<std::chrono::system_clock>("system");
    sleep_on<std::chrono::high_resolution_clock>("high_resolution");
    const std::clock_t used = std::clock();
    const std::time_t time  = std::time(nullptr);
    std::this_thread::sleep_for(10s);
    took("clock", std::clock() - used >= 9 * CLOCKS_PER_SEC && std::time(nullptr) - time >= 9);
    wait_each_way();
  }
  MPI_Finalize();
}
