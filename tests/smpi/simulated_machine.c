/* SPDX-License-Identifier: LGPL-2.1-only */
/* Prints the machine as seen by each rank, in rank order. With `simulated_machine sockets`, rank 1 instead connects to
 * rank 0 at the address of its host. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <netdb.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static char processor[MPI_MAX_PROCESSOR_NAME];

/* Returns the number of functions that return the same machine name as MPI. */
static int equal_names(void)
{
  char name[256], shorter[4];
  struct utsname machine;
  gethostname(name, sizeof name);
  uname(&machine);
  const int refused = gethostname(shorter, sizeof shorter) == -1 && errno == ENAMETOOLONG;
  return (strcmp(name, processor) == 0) + (strcmp(machine.nodename, processor) == 0) +
         (refused && strncmp(shorter, processor, sizeof shorter) == 0) + (strcmp(machine.sysname, "Linux") == 0);
}

/* Writes the address of the rank's host, if all functions agree on it. */
static void write_address(char* text)
{
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME}, *found;
  struct hostent entry, *result, *host;
  char buffer[512], again[512];
  int error;
  strcpy(text, "?");
  if (getaddrinfo(processor, "80", &hints, &found) != 0 || strcmp(found->ai_canonname, processor) != 0)
    return;
  const struct sockaddr_in* internet = (struct sockaddr_in*)found->ai_addr;
  host                               = gethostbyname(processor);
  if (!host || strcmp(host->h_name, processor) != 0 ||
      memcmp(host->h_addr_list[0], &internet->sin_addr, sizeof internet->sin_addr) != 0)
    return;
  if (gethostbyname_r(processor, &entry, buffer, sizeof buffer, &result, &error) != 0 || result != &entry ||
      memcmp(entry.h_addr_list[0], &internet->sin_addr, sizeof internet->sin_addr) != 0 || entry.h_addr_list[1])
    return;
  host = gethostbyaddr(&internet->sin_addr, sizeof internet->sin_addr, AF_INET);
  if (!host || strcmp(host->h_name, processor) != 0)
    return;
  if (getnameinfo(found->ai_addr, found->ai_addrlen, again, sizeof again, NULL, 0, 0) != 0 ||
      strcmp(again, processor) != 0 || !gethostbyname("localhost"))
    return;
  inet_ntop(AF_INET, &internet->sin_addr, text, INET_ADDRSTRLEN);
  freeaddrinfo(found);
}

/* Returns the number of processors if all functions agree on it. */
static int processors(void)
{
  cpu_set_t set, own;
  const int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  sched_getaffinity(0, sizeof set, &set);
  pthread_getaffinity_np(pthread_self(), sizeof own, &own);
  return sysconf(_SC_NPROCESSORS_CONF) == count && get_nprocs() == count && get_nprocs_conf() == count &&
                 CPU_COUNT(&set) == count && CPU_EQUAL(&set, &own) && omp_get_num_procs() == count &&
                 sched_getcpu() < count
             ? count
             : -1;
}

/* Binds the rank to one processor, which other ranks do not see. Returns whether the result is as on a real machine. */
static int binds(int rank, int count)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(count - 1 - rank, &set);
  const int bound = sched_setaffinity(0, sizeof set, &set) == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  CPU_ZERO(&set);
  sched_getaffinity(getpid(), sizeof set, &set);
  const int kept = CPU_COUNT(&set) == 1 && CPU_ISSET(count - 1 - rank, &set) && sched_getcpu() == count - 1 - rank;
  CPU_ZERO(&set);
  CPU_SET(count, &set);
  return bound && kept && sched_setaffinity(0, sizeof set, &set) == -1 && errno == EINVAL;
}

/* Returns the number of the rank's threads that agree about the machine. */
static int agreeing_threads(int count)
{
  int agree = 0;
#pragma omp parallel num_threads(3) reduction(+ : agree)
  {
    char name[256];
    gethostname(name, sizeof name);
    agree += strcmp(name, processor) == 0 && sysconf(_SC_NPROCESSORS_ONLN) == count && omp_get_num_procs() == count;
  }
  return agree;
}

static void print_machine(int rank)
{
  char address[INET_ADDRSTRLEN];
  write_address(address);
  const int count = processors();
  printf("rank %d: %s names %d address %s processors %d binds %d threads %d id %ld\n", rank, processor, equal_names(),
         address, count, binds(rank, count), agreeing_threads(count), gethostid());
}

static void connect_ranks(int rank)
{
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
  char name[MPI_MAX_PROCESSOR_NAME];
  int port = 0, listener = -1, connection;
  memcpy(name, processor, sizeof name);
  if (rank == 0) {
    getaddrinfo(name, NULL, &hints, &found);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, found->ai_addr, found->ai_addrlen);
    listen(listener, 1);
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    getsockname(listener, (struct sockaddr*)&own, &size);
    port = ntohs(own.sin_port);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(&port, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    char text[16];
    snprintf(text, sizeof text, "%d", port);
    getaddrinfo(name, text, &hints, &found);
    connection = socket(AF_INET, SOCK_STREAM, 0);
    printf("connected %d\n", connect(connection, found->ai_addr, found->ai_addrlen));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("accepted %d\n", accept(listener, NULL, NULL) >= 0);
}

int main(int argc, char** argv)
{
  int rank, length;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_processor_name(processor, &length);
  if (argc > 1)
    connect_ranks(rank);
  else
    print_machine(rank);
  MPI_Finalize();
  return 0;
}
