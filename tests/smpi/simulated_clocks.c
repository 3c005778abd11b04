/* SPDX-License-Identifier: LGPL-2.1-only */
/* Prints how far each C clock advances from before MPI_Init until after PAUSE simulated seconds, and the simulated time
 * of each way to sleep: `simulated_clocks clocks|sleeps|waits|timers`. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define PAUSE 1000

static double seconds(struct timespec time)
{
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double on(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return seconds(now);
}

static struct timespec after(double left, clockid_t clock)
{
  const double at = on(clock) + left;
  return (struct timespec){(time_t)at, (long)((at - floor(at)) * 1e9)};
}

static double from_time(void)
{
  time_t stored;
  const time_t now = time(&stored);
  return stored == now ? (double)now : -1;
}

static double from_gettimeofday(void)
{
  struct timeval now;
  gettimeofday(&now, NULL);
  return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

static double from_timespec_get(void)
{
  struct timespec now;
  return timespec_get(&now, TIME_UTC) == TIME_UTC ? seconds(now) : -1;
}

static double from_realtime(void)
{
  return on(CLOCK_REALTIME);
}

static double from_monotonic(void)
{
  return on(CLOCK_MONOTONIC);
}

static double from_raw(void)
{
  return on(CLOCK_MONOTONIC_RAW);
}

static double from_boot(void)
{
  return on(CLOCK_BOOTTIME);
}

static double from_process(void)
{
  return on(CLOCK_PROCESS_CPUTIME_ID);
}

static double from_thread(void)
{
  return on(CLOCK_THREAD_CPUTIME_ID);
}

static double from_clock(void)
{
  return (double)clock() / CLOCKS_PER_SEC;
}

static double from_times(void)
{
  struct tms used;
  const clock_t ticks = times(&used);
  return used.tms_utime + used.tms_stime == ticks ? (double)ticks / (double)sysconf(_SC_CLK_TCK) : -1;
}

static double from_getrusage(void)
{
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static const struct {
  const char* name;
  double (*read)(void);
} CLOCKS[] = {{"time", from_time},
              {"gettimeofday", from_gettimeofday},
              {"timespec_get", from_timespec_get},
              {"CLOCK_REALTIME", from_realtime},
              {"CLOCK_MONOTONIC", from_monotonic},
              {"CLOCK_MONOTONIC_RAW", from_raw},
              {"CLOCK_BOOTTIME", from_boot},
              {"CLOCK_PROCESS_CPUTIME_ID", from_process},
              {"CLOCK_THREAD_CPUTIME_ID", from_thread},
              {"clock", from_clock},
              {"times", from_times},
              {"getrusage", from_getrusage},
              {"omp_get_wtime", omp_get_wtime},
              {"MPI_Wtime", MPI_Wtime}};
#define COUNT (sizeof CLOCKS / sizeof *CLOCKS)

static double before[COUNT];

static void read_all(void)
{
  for (size_t i = 0; i < COUNT; i++)
    before[i] = CLOCKS[i].read();
}

static void print_clocks(const char* when)
{
  for (size_t i = 0; i < COUNT; i++)
    printf("%s %s %.2f\n", when, CLOCKS[i].name, CLOCKS[i].read() - before[i]);
}

static double start;

/* Prints the duration of the last sleep, and starts the next. */
static void slept(const char* name, int failed)
{
  printf("%s %d %.3f\n", name, failed, MPI_Wtime() - start);
  start = MPI_Wtime();
}

static void sleep_each_way(void)
{
  const struct timespec pause = {PAUSE, 250000000};
  struct timeval time         = {PAUSE, 250000};
  struct timespec end;
  struct pollfd none = {-1, POLLIN, 1};
  fd_set empty;
  FD_ZERO(&empty);
  start = MPI_Wtime();
  slept("sleep", (int)sleep(PAUSE));
  slept("usleep", usleep(250000));
  slept("nanosleep", nanosleep(&pause, NULL));
  slept("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL));
  end = after(PAUSE, CLOCK_REALTIME);
  slept("clock_nanosleep until", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL));
  slept("clock_nanosleep until then", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL));
  slept("thrd_sleep", thrd_sleep(&pause, NULL));
  slept("select", select(0, NULL, NULL, NULL, &time));
  time.tv_sec = PAUSE;
  slept("select without files", select(3, &empty, NULL, NULL, &time));
  slept("pselect", pselect(0, NULL, NULL, NULL, &pause, NULL));
  slept("poll", poll(NULL, 0, PAUSE * 1000));
  slept("poll without files", poll(&none, 1, PAUSE * 1000) + none.revents);
  slept("ppoll", ppoll(NULL, 0, &pause, NULL));
  end.tv_nsec = 2000000000;
  printf("invalid %d %d\n", nanosleep(&end, NULL) == -1 && errno == EINVAL,
         clock_nanosleep(CLOCK_REALTIME, 0, &end, NULL) == EINVAL);
}

static void* wait_a_little(void* ended)
{
  usleep(20000); /* real time, since this is not the rank's own thread */
  sem_post(ended);
  return NULL;
}

/* Waits for threads until deadlines that pass, and for a thread that ends long before. */
static void wait_each_way(void)
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t ever   = PTHREAD_COND_INITIALIZER, steady;
  pthread_condattr_t attributes;
  pthread_t thread;
  sem_t never, ended;
  struct timespec end;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&steady, &attributes);
  sem_init(&never, 0, 0);
  sem_init(&ended, 0, 0);
  pthread_mutex_lock(&mutex);
  start = MPI_Wtime();
  end   = after(0.05, CLOCK_REALTIME);
  slept("pthread_cond_timedwait", pthread_cond_timedwait(&ever, &mutex, &end) == ETIMEDOUT);
  end = after(0.05, CLOCK_MONOTONIC);
  slept("steady pthread_cond_timedwait", pthread_cond_timedwait(&steady, &mutex, &end) == ETIMEDOUT);
  end = after(0.05, CLOCK_REALTIME);
  slept("sem_timedwait", sem_timedwait(&never, &end) == -1 && errno == ETIMEDOUT);
  pthread_create(&thread, NULL, wait_a_little, &ended);
  end = after(100, CLOCK_REALTIME);
  slept("sem_timedwait for a thread", sem_timedwait(&ended, &end));
  pthread_join(thread, NULL);
}

static void set_timers(void)
{
  struct itimerval time = {{0, 0}, {1000, 0}};
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_NONE;
  setitimer(ITIMER_REAL, &time, NULL);
  alarm(1000);
  alarm(0);
  timer_create(CLOCK_REALTIME, &event, &timer);
}

int main(int argc, char** argv)
{
  int rank;
  read_all();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "clocks") == 0)
    sleep(PAUSE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && strcmp(argv[1], "clocks") == 0)
    print_clocks("in");
  if (rank == 0 && strcmp(argv[1], "sleeps") == 0)
    sleep_each_way();
  if (rank == 0 && strcmp(argv[1], "waits") == 0)
    wait_each_way();
  if (strcmp(argv[1], "timers") == 0)
    set_timers();
  MPI_Finalize();
  if (rank == 0 && strcmp(argv[1], "clocks") == 0)
    print_clocks("after");
  return 0;
}
