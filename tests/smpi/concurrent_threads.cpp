/* SPDX-License-Identifier: LGPL-2.1-only */
/* Threads of a rank that call MPI concurrently (MPI_THREAD_MULTIPLE), by argument:
 * - allreduce: two threads reduce on two communicators; the time of that compared with sequential calls.
 * - progress: a thread probes and receives while main sends; they wait for each other by locks of the C library.
 * - locks: std::future, std::barrier, std::atomic::wait, std::this_thread::yield; times of deadlines.
 * - requests: a thread waits for main's requests.
 * - spin: main polls a variable until a thread changes it, without any call.
 * - alive: main calls MPI_Finalize while a thread waits in MPI. exit, abort: a thread ends its rank.
 * - stuck: a thread waits for a message, main for a promise that is never fulfilled. */
#include <mpi.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

int rank, size;

void expect(bool right, const char* what)
{
  if (right)
    return;
  std::printf("rank %d: wrong: %s\n", rank, what);
  std::exit(1);
}

void reduce_list(std::vector<std::vector<float>>& lists, MPI_Comm comm)
{
  for (auto& list : lists)
    MPI_Allreduce(MPI_IN_PLACE, list.data(), static_cast<int>(list.size()), MPI_FLOAT, MPI_SUM, comm);
  for (const auto& list : lists)
    for (const float value : list)
      expect(value == static_cast<float>(size), "a sum");
}

void test_allreduce()
{
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  const std::vector<std::vector<float>> data(5, std::vector<float>(20000, 1.F));
  double times[2];
  for (const bool at_once : {true, false}) {
    auto one = data;
    auto two = data;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (at_once) {
      std::thread a([&] { reduce_list(one, first); });
      std::thread b([&] { reduce_list(two, second); });
      a.join();
      b.join();
    } else {
      reduce_list(one, first);
      reduce_list(two, second);
    }
    times[at_once ? 0 : 1] = MPI_Wtime() - start;
  }
  if (rank == 0)
    std::printf("at once %.9f in turn %.9f\n", times[0], times[1]);
}

struct Progress {
  std::mutex lock;
  std::condition_variable changed;
  sem_t over;
  int received = 0;
};

void* receive(void* progress)
{
  auto& shared = *static_cast<Progress*>(progress);
  for (int i = 0; i < 3; ++i) {
    int value;
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    const std::scoped_lock held(shared.lock);
    shared.received += value;
    shared.changed.notify_one();
  }
  int is_main;
  MPI_Is_thread_main(&is_main);
  expect(is_main == 0, "MPI_Is_thread_main of a thread");
  sem_wait(&shared.over);
  return nullptr;
}

void test_progress()
{
  Progress shared;
  sem_init(&shared.over, 0, 0);
  pthread_t thread;
  pthread_create(&thread, nullptr, receive, &shared);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(1ms * (i + 1));
    MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
  }
  {
    std::unique_lock held(shared.lock);
    shared.changed.wait(held, [&] { return shared.received == 3; });
  }
  sem_post(&shared.over);
  pthread_join(thread, nullptr);
  int level, is_main;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  expect(level == MPI_THREAD_MULTIPLE && is_main == 1, "main's thread");
  std::printf("rank %d at %.9f\n", rank, MPI_Wtime());
}

void test_locks()
{
  const double start = MPI_Wtime();
  const auto since   = [&] { return std::to_string(MPI_Wtime() - start).substr(0, 5); };
  auto sum           = std::async(std::launch::async, [] {
    std::this_thread::sleep_for(5ms);
    int value = rank;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return value;
  });
  expect(sum.wait_for(2ms) == std::future_status::timeout && since() == "0.002", "a deadline");
  expect(sum.get() == size * (size - 1) / 2 && since() == "0.005", "a future");
  std::barrier together(3);
  std::atomic<int> turns   = 0;
  std::atomic<bool> polled = false;
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number)
    threads.emplace_back([&, number] {
      std::this_thread::sleep_for(1ms * number);
      together.arrive_and_wait();
      expect(since() == "0.007", "a barrier");
      int before = 0;
      while ((before = turns) != number)
        turns.wait(before);
      ++turns;
      turns.notify_all();
    });
  for (auto& thread : threads)
    thread.join();
  std::thread late([&] {
    std::this_thread::sleep_for(1ms);
    polled = true;
  });
  while (not polled)
    std::this_thread::yield();
  late.join();
  expect(since() == "0.008", "a poll");
  std::mutex taken;
  taken.lock();
  std::thread tries([&] {
    std::timed_mutex own;
    own.lock();
    expect(not std::async(std::launch::async, [&] { return own.try_lock_for(1ms); }).get(), "a lock that is taken");
    taken.lock();
    taken.unlock();
  });
  std::this_thread::sleep_for(3ms);
  taken.unlock();
  tries.join();
  std::printf("rank %d after %s\n", rank, since().c_str());
}

void test_requests()
{
  std::vector<int> values(20);
  std::vector<MPI_Request> requests(40);
  for (int i = 0; i < 20; ++i) {
    MPI_Irecv(&values[static_cast<std::size_t>(i)], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(20 + i)]);
  }
  std::thread half([&] { MPI_Waitall(10, requests.data(), MPI_STATUSES_IGNORE); });
  std::thread rest([&] {
    for (int i = 0, which; i < 30; ++i)
      MPI_Waitany(30, requests.data() + 10, &which, MPI_STATUS_IGNORE);
  });
  half.join();
  rest.join();
  for (const int value : values)
    expect(value == (rank + size - 1) % size, "a value");
  std::printf("rank %d at %.9f\n", rank, MPI_Wtime());
}

void test_spin()
{
  const double start     = MPI_Wtime();
  std::atomic<bool> sent = false;
  std::thread sends([&] {
    std::this_thread::sleep_for(1ms);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    sent = true;
  });
  while (not sent) {
  }
  const double after = MPI_Wtime() - start;
  int value;
  MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sends.join();
  expect(value == (rank + size - 1) % size && after >= 1e-3 && after < 1.1e-3, "a loop without calls");
  std::printf("rank %d at %.9f\n", rank, MPI_Wtime());
}

void wait_for_message()
{
  int value;
  MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void end_in_thread(const std::string& how)
{
  std::thread ends([&how] {
    if (how == "abort" && rank == 1)
      MPI_Abort(MPI_COMM_WORLD, 4);
    if (how == "exit") {
      MPI_Finalize();
      std::exit(rank == 1 ? 5 : 0);
    }
  });
  ends.join();
  wait_for_message();
}

} // namespace

int main(int argc, char** argv)
{
  const std::string what = argv[1];
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect(provided == MPI_THREAD_MULTIPLE, "the level");
  if (what == "allreduce")
    test_allreduce();
  else if (what == "progress")
    test_progress();
  else if (what == "locks")
    test_locks();
  else if (what == "requests")
    test_requests();
  else if (what == "spin")
    test_spin();
  else if (what == "alive")
    std::thread(wait_for_message).detach();
  else if (what == "stuck")
    std::thread(wait_for_message).detach(), std::promise<int>().get_future().get();
  else
    end_in_thread(what);
  MPI_Finalize();
}
