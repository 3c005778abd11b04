// SPDX-License-Identifier: LGPL-2.1-only
#include "model/collective/call_descriptor.hpp"

#include <algorithm>
#include <cctype>

namespace weft {
namespace {

// Usually all ranks pass the same handle; equal bytes then mean equal counts.

bool is_other(const ReductionOperation* one, const ReductionOperation* other)
{
  return one != other && (one ? std::string_view(one->name) : "") != (other ? std::string_view(other->name) : "");
}

bool is_other(const ElementType* one, const ElementType* other)
{
  return one != other && one && other && one->predefined && other->predefined;
}

} // namespace

std::int64_t CallDescriptor::vector_bytes() const
{
  if (elements < 0 || not(kind->reduces || kind->movement))
    return 0;
  const bool is_block = not kind->reduces && kind->movement->in_parts() && counts.empty();
  return agreed_bytes() * (is_block ? ranks : 1);
}

std::vector<double> CallDescriptor::part_sizes() const
{
  std::vector<double> parts;
  if (movement().in_parts()) {
    const double each = static_cast<double>(vector_bytes()) / (movement().in_blocks() ? 1 : ranks);
    parts.assign(static_cast<std::size_t>(ranks), each);
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      parts[rank] = static_cast<double>(counts[rank]) * static_cast<double>(count_size);
  } else if (movement().senders == Participants::root) {
    parts.resize(static_cast<std::size_t>(ranks));
    parts[static_cast<std::size_t>(root)] = static_cast<double>(vector_bytes());
  }
  return parts;
}

bool CallDescriptor::differs_apart_from_counts(const CallDescriptor& other) const
{
  return kind != other.kind || blocking != other.blocking || root != other.root ||
         agreed_bytes() != other.agreed_bytes() || is_other(operation, other.operation) || is_other(type, other.type);
}

bool CallDescriptor::is_same(const CallDescriptor& other) const
{
  return not differs_apart_from_counts(other) && count_size == other.count_size && counts_number == other.counts_number;
}

std::optional<std::string> CallDescriptor::difference(const CallDescriptor& other, const std::string& who,
                                                      const std::string& other_who) const
{
  const auto calls = [&] { return who + " called " + text() + ", " + other_who + " called " + other.text(); };
  if (differs_apart_from_counts(other))
    return calls();
  if (count_size == other.count_size && std::ranges::equal(counts, other.counts))
    return std::nullopt;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    const std::int64_t mine = counts[part] * count_size;
    const std::int64_t his  = other.counts[part] * other.count_size;
    if (mine != his)
      return calls() + ": the part of rank " + std::to_string(part) + " has " + std::to_string(mine) +
             " bytes at one, " + std::to_string(his) + " at the other";
  }
  return std::nullopt;
}

std::string CallDescriptor::text() const
{
  std::string called = name();
  called.front()     = static_cast<char>(std::toupper(static_cast<unsigned char>(called.front())));
  std::string arguments;
  const auto add = [&arguments](const std::string& argument) {
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  if (type)
    add(std::to_string(elements) + " x " + type->name);
  else if (elements >= 0)
    add(std::to_string(elements) + " bytes");
  if (operation)
    add(operation->name);
  if (root >= 0)
    add("root " + std::to_string(root));
  return "MPI_" + called + "(" + arguments + ")" + (between_groups ? " on an intercommunicator" : "");
}

} // namespace weft
