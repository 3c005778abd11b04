#include "simgrid/offload.hpp"

#include "simgrid/private_abi.hpp"

#include <algorithm>
#include <cstring>
#include <xbt/config.hpp>

namespace weft {
namespace {

/** With privatization by mmap, a rank's global variables are mapped only while it runs. */
bool memory_is_shared()
{
  return simgrid::config::get_value<std::string>("smpi/privatization") != "mmap";
}

std::size_t bytes_of(int count, MPI_Datatype datatype)
{
  MPI_Aint lower  = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(datatype, &lower, &extent);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(extent);
}

} // namespace

Contributions::Contributions(int ranks, const AggregationArguments& arguments)
    : data_(static_cast<std::size_t>(ranks)), bytes_(bytes_of(arguments.count, arguments.datatype))
{
  if (not memory_is_shared())
    copies_.resize(static_cast<std::size_t>(ranks));
}

void Contributions::add(int rank, const AggregationArguments& arguments)
{
  const auto at = static_cast<std::size_t>(rank);
  if (copies_.empty()) {
    data_[at] = arguments.contribution;
    return;
  }
  const auto* bytes = static_cast<const std::byte*>(arguments.contribution);
  copies_[at].assign(bytes, bytes + bytes_);
  data_[at] = copies_[at].data();
}

void Contributions::reduce(const AggregationArguments& arguments)
{
  // MPI's order for operations that do not commute: rank 0 op (rank 1 op (… op rank P-1)).
  const auto* last = static_cast<const std::byte*>(data_.back());
  result_.assign(last, last + bytes_);
  for (auto contribution = std::next(data_.rbegin()); contribution != data_.rend(); ++contribution)
    arguments.operation->apply(*contribution, result_.data(), &arguments.count, arguments.datatype);
  data_.clear(); // the ranks' own buffers may change from here on
  copies_.clear();
}

void Contributions::copy_result(const AggregationArguments& arguments) const
{
  std::memcpy(arguments.result, result_.data(), bytes_);
}

} // namespace weft
