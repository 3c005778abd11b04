// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/described.hpp"

#include "mpi/names.hpp"

#include <cctype>

namespace weft {

std::string CallSignature::text() const
{
  std::string name = called.name();
  name.front()     = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  std::string arguments;
  const auto add = [&arguments](const std::string& argument) {
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  if (datatype != MPI_DATATYPE_NULL)
    add(std::to_string(count) + " x " + datatype_name(datatype));
  else if (bytes >= 0)
    add(std::to_string(bytes) + " bytes");
  if (operation != MPI_OP_NULL)
    add(operation_name(operation));
  if (root >= 0)
    add("root " + std::to_string(root));
  return "MPI_" + name + "(" + arguments + ")";
}

std::vector<double> Described::part_sizes(int ranks) const
{
  std::vector<double> parts;
  if (movement().in_parts()) {
    parts.assign(static_cast<std::size_t>(ranks), static_cast<double>(message) / (movement().in_blocks() ? 1 : ranks));
    for (std::size_t rank = 0; rank < signature.parts.size(); ++rank)
      parts[rank] = static_cast<double>(signature.parts[rank]) * static_cast<double>(signature.part_size);
  } else if (movement().givers == Who::root) {
    parts.resize(static_cast<std::size_t>(ranks));
    parts[static_cast<std::size_t>(signature.root)] = static_cast<double>(message);
  }
  return parts;
}

bool commutes(MPI_Op operation)
{
  int does = 1;
  if (operation != MPI_OP_NULL)
    PMPI_Op_commutative(operation, &does);
  return does != 0;
}

std::int64_t size_of(int count, MPI_Datatype datatype)
{
  int size = 0;
  if (datatype != MPI_DATATYPE_NULL)
    PMPI_Type_size(datatype, &size);
  return static_cast<std::int64_t>(count) * size;
}

} // namespace weft
