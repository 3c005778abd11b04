// SPDX-License-Identifier: LGPL-2.1-only
/* Process state of the C library. Each rank uses it differently, with other ranks running in between; compiled with
 * -DALONE it is a single such process without MPI, `own_state RANK`, which must print the same output. */
#define _GNU_SOURCE
#ifdef ALONE
#define SYNC()
#else
#include <mpi.h>
#define SYNC() MPI_Barrier(MPI_COMM_WORLD)
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static int rank;

static void say(const char* format, ...)
{
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  printf("rank %d: %s\n", rank, line);
}

static void random_numbers(void)
{
  int first = rand(); /* from the default seed */
  SYNC();
  int second = rand();
  srand(rank);
  SYNC();
  int seeded = rand();
  SYNC();
  say("rand %d %d %d %d", first, second, seeded, rand());
  long one = random();
  srandom(7);
  SYNC();
  say("random %ld %ld", one, random());
  static char state[64], other[256];
  initstate(rank + 3, state, sizeof state);
  SYNC();
  long two     = random();
  char* before = initstate(5, other, sizeof other);
  SYNC();
  long three = random();
  setstate(before);
  SYNC();
  say("initstate %d %ld %ld %ld", before == state, two, three, random());
  double zero = drand48();
  srand48(rank);
  SYNC();
  double four = drand48();
  SYNC();
  long five = lrand48();
  SYNC();
  say("drand48 %.17g %.17g %ld %ld", zero, four, five, mrand48());
  unsigned short own[3] = {1, 2, rank}, parameters[7] = {1, 2, 3, 4, 5, rank, 6};
  lcong48(parameters);
  SYNC();
  say("lcong48 %.17g %ld %ld %.17g", erand48(own), nrand48(own), jrand48(own), drand48());
  unsigned short* old = seed48(own);
  SYNC();
  say("seed48 %d %d %d %.17g", old[0], old[1], old[2], drand48());
}

static void results_in_static_memory(void)
{
  char text[64];
  snprintf(text, sizeof text, "a%d b%d c%d", rank, rank, rank);
  char* first = strtok(text, " ");
  SYNC();
  char* second = strtok(NULL, " ");
  SYNC();
  say("strtok %s %s %s", first, second, strtok(NULL, " "));
  time_t day     = rank * 86400L + 11;
  struct tm* utc = gmtime(&day);
  SYNC();
  say("gmtime %d %d", utc->tm_yday, utc->tm_sec);
  char* written = asctime(utc);
  SYNC();
  say("asctime %.24s", written);
  setenv("TZ", rank % 2 ? "XXX-3" : "YYY5", 1);
  struct tm* local = localtime(&day);
  SYNC();
  say("localtime %d %d %s", local->tm_yday, local->tm_hour, local->tm_zone);
  written = ctime(&day);
  SYNC();
  say("ctime %.24s", written);
  struct in_addr address = {htonl(0x0a000000u + (unsigned)rank)};
  char* name             = inet_ntoa(address);
  SYNC();
  say("inet_ntoa %s", name);
  struct ether_addr card = {{1, 2, 3, 4, 5, (unsigned char)rank}};
  char* card_name        = ether_ntoa(&card);
  SYNC();
  say("ether_ntoa %s", card_name);
  char* digits = l64a(1000L + rank);
  SYNC();
  say("l64a %s", digits);
  int point, sign;
  digits = ecvt(rank + 0.5, 5, &point, &sign);
  SYNC();
  say("ecvt %s", digits);
  digits = fcvt(rank + 0.25, 5, &point, &sign);
  SYNC();
  say("fcvt %s", digits);
  hcreate(10 + rank);
  ENTRY entry = {strdup("key"), (void*)(long)rank};
  hsearch(entry, ENTER);
  SYNC();
  ENTRY* found = hsearch(entry, FIND);
  say("hsearch %ld", found ? (long)found->data : -1L);
  SYNC();
  hdestroy();
}

static void variables(int argc, char** argv)
{
  errno = rank;
  SYNC();
  say("errno %d", errno);
  h_errno = rank + 1;
  SYNC();
  say("h_errno %d", h_errno);
  volatile double argument = -0.5 - rank;
  lgamma(argument);
  SYNC();
  say("signgam %d", signgam);
  optind      = argc; /* skips weft's arguments */
  char* own[] = {argv[0], "-a", rank % 2 ? "-bvalue" : "-c", "rest", NULL};
  optind      = 1;
  int option  = getopt(4, own, "ab:c");
  SYNC();
  option = 1000 * option + getopt(4, own, "ab:c");
  SYNC();
  say("getopt %d %d %s", option, optind, optarg ? optarg : "none");
  fesetround(rank % 2 ? FE_UPWARD : FE_TOWARDZERO);
  feraiseexcept(rank % 2 ? FE_DIVBYZERO : FE_OVERFLOW);
  SYNC();
  volatile double third = 1, three = 3;
  volatile long double long_third = 1;
  third /= three;
  long_third /= three;
  say("rounding %d %a %La %x", fegetround(), third, long_third, fetestexcept(FE_DIVBYZERO | FE_OVERFLOW));
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(rank == 1 ? FE_DIVBYZERO : 0); /* must not kill other ranks */
  SYNC();
  volatile double nothing = 0;
  say("no trap %d", rank == 1 || 1 / nothing > 1);
  SYNC();
  fedisableexcept(FE_ALL_EXCEPT);
}

static void environment(void)
{
  char value[32];
  snprintf(value, sizeof value, "%d", rank);
  setenv("OWN_STATE", value, 1);
  setenv("OWN_STATE", "kept", 0);
  static char put[32];
  snprintf(put, sizeof put, "OWN_PUT=%d", rank);
  putenv(put);
  if (rank % 2)
    unsetenv("OWN_COMMON");
  SYNC();
  int count = 0;
  for (char** one = environ; one && *one; ++one)
    count += strncmp(*one, "OWN_", 4) == 0;
  say("environment %s %s %s %d", getenv("OWN_STATE"), getenv("OWN_PUT"),
      getenv("OWN_COMMON") ? getenv("OWN_COMMON") : "none", count);
  fflush(stdout);
  FILE* child   = popen("echo $OWN_STATE$OWN_PUT", "r");
  char line[64] = "";
  if (!fgets(line, sizeof line, child))
    line[0] = '\0';
  pclose(child);
  say("of a child %s", strtok(line, "\n"));
  put[8] = '9';
  SYNC();
  say("putenv's own text %s", getenv("OWN_PUT"));
  if (rank == 2)
    clearenv();
  SYNC();
  say("clearenv %s", getenv("OWN_STATE") ? getenv("OWN_STATE") : "none");
  int failed = setenv("a=b", "", 1);
  say("no name %d %d", failed, errno == EINVAL);
}

static void system_state(void)
{
  char name[32], path[4096];
  if (rank > 0) {
    snprintf(name, sizeof name, "directory-%d", rank);
    mkdir(name, 0755);
    if (chdir(name) != 0)
      say("no directory");
  }
  SYNC();
  FILE* file = fopen(rank ? "file" : "file-0", "w");
  fprintf(file, "%d\n", rank);
  fclose(file);
  SYNC();
  say("chdir %s %d", rank ? strrchr(getcwd(path, sizeof path), '/') : "top", access(rank ? "file" : "file-0", R_OK));
  if (rank > 0 && fchdir(AT_FDCWD) != 0 && chdir("..") != 0)
    say("no way back");
  SYNC();
  snprintf(name, sizeof name, rank ? "directory-%d/file" : "file-%d", rank);
  say("back %d", access(name, R_OK));
  int failed = chdir("nowhere");
  say("no such %d %d", failed, errno == ENOENT);
  mode_t before = umask(0020 + rank);
  SYNC();
  snprintf(name, sizeof name, "mode-%d", rank);
  close(creat(name, 0666));
  struct stat there;
  stat(name, &there);
  mode_t own = umask(before);
  SYNC();
  say("umask %o %o", own, there.st_mode & 0777);
  const char* mine = setlocale(LC_NUMERIC, rank % 2 ? "C.UTF-8" : "C");
  SYNC();
  say("setlocale %s; %s; %s", mine, setlocale(LC_NUMERIC, NULL), setlocale(LC_ALL, NULL));
  setlocale(LC_ALL, rank % 2 ? "C" : "C.UTF-8");
  SYNC();
  say("width of two bytes %d", mblen("\xc3\xa9", 2));
  say("no such locale %d", setlocale(LC_ALL, "xx_YY") == NULL);
}

static volatile sig_atomic_t signals, information;

static void on_signal(int signum)
{
  signals += signum;
}

static void on_signal_of_others(int signum)
{
  signals += 100 * signum;
}

static void on_action(int signum, siginfo_t* info, void* context)
{
  information = context && info->si_signo == signum;
}

static void signal_handlers(void)
{
  say("first handler %d", signal(SIGUSR1, rank % 2 ? on_signal : on_signal_of_others) == SIG_DFL);
  SYNC();
  raise(SIGUSR1);
  kill(getpid(), SIGUSR1);
  SYNC();
  say("signals %d", signals / SIGUSR1);
  struct sigaction action = {0}, before;
  action.sa_sigaction     = on_action;
  action.sa_flags         = SA_SIGINFO | SA_RESETHAND;
  sigaction(SIGUSR2, rank ? &action : NULL, &before);
  SYNC();
  if (rank)
    raise(SIGUSR2);
  sigaction(SIGUSR2, NULL, &before);
  say("actions %d %d", information, before.sa_handler == SIG_DFL);
  signal(SIGTERM, rank ? SIG_IGN : on_signal);
  SYNC();
  raise(SIGTERM);
  say("ignored %d %d", signals / SIGUSR1, signal(SIGTERM, SIG_DFL) == (rank ? SIG_IGN : on_signal));
  say("exists %d %d", kill(getpid(), 0), getpid() != getppid());
}

static void last(void)
{
  say("atexit, last");
}

static void first(void)
{
  say("atexit, first");
}

int main(int argc, char** argv)
{
#ifdef ALONE
  rank = atoi(argv[1]);
#else
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
  atexit(last);
  random_numbers();
  results_in_static_memory();
  variables(argc, argv);
  environment();
  system_state();
  signal_handlers();
  atexit(first);
  SYNC();
#ifndef ALONE
  MPI_Finalize();
#endif
  if (rank % 2)
    exit(0);
  return 0;
}
