#include "simgrid/communicator.hpp"

#include "simgrid/mpi_names.hpp"

#include <algorithm>
#include <cctype>

namespace weft {

bool CallSignature::agrees_with(const CallSignature& other) const
{
  if (std::string_view(collective) != other.collective || root != other.root)
    return false;
  if (operation_name(operation) != operation_name(other.operation))
    return false;
  const std::string& name = datatype_name(datatype);
  const std::string& his  = datatype_name(other.datatype);
  if (name == "derived" || his == "derived")
    return true;
  return name == his && count == other.count;
}

std::string CallSignature::text() const
{
  std::string name = collective;
  name.front()     = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  std::string arguments;
  const auto add = [&arguments](const std::string& argument) {
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  if (datatype != MPI_DATATYPE_NULL)
    add(std::to_string(count) + " x " + datatype_name(datatype));
  if (operation != MPI_OP_NULL)
    add(operation_name(operation));
  if (root >= 0)
    add("root " + std::to_string(root));
  return "MPI_" + name + "(" + arguments + ")";
}

Communicator::Communicator(int ranks)
    : attached(static_cast<std::size_t>(ranks)), calls_made_(static_cast<std::size_t>(ranks), 0)
{
}

std::string Communicator::text() const
{
  return id < 0 ? "MPI_COMM_WORLD"
                : "communicator " + std::to_string(id) + " (of " + std::to_string(size()) + " ranks)";
}

std::shared_ptr<PendingCall> Communicator::enter(int rank, const CallSignature& signature)
{
  const std::int64_t number = calls_made_[static_cast<std::size_t>(rank)]++;
  const auto at             = static_cast<std::size_t>(number - first_pending_);
  if (at == pending_.size()) {
    auto call        = std::make_shared<PendingCall>();
    call->signature  = signature;
    call->first_rank = rank;
    call->inside.resize(static_cast<std::size_t>(size()));
    pending_.push_back(std::move(call));
  }
  std::shared_ptr<PendingCall> call = pending_[at];
  ++call->entered;
  call->inside[static_cast<std::size_t>(rank)] = true;
  return call;
}

std::optional<int> Communicator::rank_of(aid_t actor) const
{
  // Mostly the actors are numbered as the ranks are, so this is cheap for all ranks of a large program.
  const auto guess = static_cast<std::size_t>(actor - members.front());
  if (guess < members.size() && members[guess] == actor)
    return static_cast<int>(guess);
  const auto found = std::ranges::find(members, actor);
  if (found == members.end())
    return std::nullopt;
  return static_cast<int>(found - members.begin());
}

const PendingCall* Communicator::waiting_for(int rank) const
{
  const auto at = static_cast<std::size_t>(calls_made(rank) - first_pending_);
  return at < pending_.size() ? pending_[at].get() : nullptr;
}

void Communicator::leave(int rank, PendingCall& call)
{
  call.inside[static_cast<std::size_t>(rank)] = false;
  ++call.left;
  while (not pending_.empty() && pending_.front()->left == size()) {
    pending_.pop_front();
    ++first_pending_;
  }
}

} // namespace weft
