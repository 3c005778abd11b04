// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "replay/trace.hpp"

#include <deque>
#include <map>
#include <tuple>

namespace weft::replay {

/** Replays the actions of one rank from a trace in SimGrid's format. */
class Player {
  using Key = std::tuple<int, int, int>; ///< source, destination, tag

  int rank_;
  int size_;
  std::map<Key, std::deque<MPI_Request>> requests_; ///< open requests, in the order of their calls
  std::deque<MPI_Request> collectives_;             ///< open non-blocking collectives, in the order of their calls

public:
  Player(int rank, int size) : rank_(rank), size_(size) {}

  void play(Action& action);

private:
  void send(Action& action);
  void synchronous_send(Action& action);
  void start_send(Action& action);
  void start_synchronous_send(Action& action);
  void receive(Action& action);
  void start_receive(Action& action);
  void send_and_receive(Action& action);
  void wait(Action& action);
  void wait_for_all(Action& action);
  void wait_for_any(Action& action);
  void wait_for_list(Action& action);
  void wait_for_collective(Action& action);
  void test(Action& action);
  void compute(Action& action);
  void sleep(Action& action);
  void barrier(Action& action);
  void bcast(Action& action);
  void reduce(Action& action);
  void allreduce(Action& action);
  void scan(Action& action);
  void exscan(Action& action);
  void gather(Action& action);
  void scatter(Action& action);
  void allgather(Action& action);
  void alltoall(Action& action);
  void reduce_scatter(Action& action);
  void reduce_scatter_block(Action& action);
  void gatherv(Action& action);
  void scatterv(Action& action);
  void allgatherv(Action& action);
  void alltoallv(Action& action);

  struct Message;
  Message read_message(Action& action) const;
  MPI_Request* open(const Key& key);
  /** Calls a collective in the form, blocking or non-blocking, that the action names. */
  template <class Blocking, class NonBlocking, class... Arguments>
  void call(const Action& action, Blocking blocking, NonBlocking non_blocking, Arguments... arguments);
};

} // namespace weft::replay
