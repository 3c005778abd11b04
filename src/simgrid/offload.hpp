/* Carrying out an offloaded aggregation, at either granularity. */
#pragma once

#include "simgrid/communicator.hpp"
#include "simgrid/simulation.hpp"

#include <memory>

namespace weft {

/** One rank's part of an aggregation: every rank gets the reduction of all contributions. */
struct AggregationArguments {
  const void* contribution;
  void* result;
  int count;
  MPI_Datatype datatype;
  MPI_Op operation;
};

/** The contributions of all ranks and their reduction, in rank order. */
class Contributions {
  std::vector<const void*> data_;
  std::vector<std::vector<std::byte>> copies_; // where a rank's memory is not visible to others
  std::vector<std::byte> result_;
  std::size_t bytes_; // of one contribution, with the gaps of its type

public:
  Contributions(int ranks, const AggregationArguments& arguments);
  void add(int rank, const AggregationArguments& arguments);
  void reduce(const AggregationArguments& arguments);
  void copy_result(const AggregationArguments& arguments) const;
};

/** Rank @p rank contributes, waits for the result as a stream delivers it, and copies it. */
void aggregate_as_stream(Simulation& simulation, const Communicator& communicator, int rank, PendingCall& call,
                         const AggregationArguments& arguments);

/** The same with a message to and from the switch's actor (paper 000, section 4). */
void aggregate_as_messages(Simulation& simulation, const Communicator& communicator, int rank, PendingCall& call,
                           const AggregationArguments& arguments);

} // namespace weft
