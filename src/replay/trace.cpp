#include "replay/trace.hpp"

#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace weft::replay {
namespace {

void do_nothing(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}

MPI_Op user_operation()
{
  static MPI_Op operation = MPI_OP_NULL;
  if (operation == MPI_OP_NULL)
    MPI_Op_create(do_nothing, 1, &operation);
  return operation;
}

#define WEFT_NAMED(handle) {#handle, handle}

// What python/weft/trace/datatypes.py names.
MPI_Datatype datatype_of(const std::string& name)
{
  static const std::unordered_map<std::string, MPI_Datatype> TYPES{WEFT_NAMED(MPI_DOUBLE),
                                                                   WEFT_NAMED(MPI_INT),
                                                                   WEFT_NAMED(MPI_CHAR),
                                                                   WEFT_NAMED(MPI_SHORT),
                                                                   WEFT_NAMED(MPI_LONG),
                                                                   WEFT_NAMED(MPI_FLOAT),
                                                                   WEFT_NAMED(MPI_BYTE),
                                                                   WEFT_NAMED(MPI_LONG_LONG),
                                                                   WEFT_NAMED(MPI_SIGNED_CHAR),
                                                                   WEFT_NAMED(MPI_UNSIGNED_CHAR),
                                                                   WEFT_NAMED(MPI_UNSIGNED_SHORT),
                                                                   WEFT_NAMED(MPI_UNSIGNED),
                                                                   WEFT_NAMED(MPI_UNSIGNED_LONG),
                                                                   WEFT_NAMED(MPI_UNSIGNED_LONG_LONG),
                                                                   WEFT_NAMED(MPI_LONG_DOUBLE),
                                                                   WEFT_NAMED(MPI_WCHAR),
                                                                   WEFT_NAMED(MPI_C_BOOL),
                                                                   WEFT_NAMED(MPI_INT8_T),
                                                                   WEFT_NAMED(MPI_INT16_T),
                                                                   WEFT_NAMED(MPI_INT32_T),
                                                                   WEFT_NAMED(MPI_INT64_T),
                                                                   WEFT_NAMED(MPI_UINT8_T),
                                                                   WEFT_NAMED(MPI_UINT16_T),
                                                                   WEFT_NAMED(MPI_UINT32_T),
                                                                   WEFT_NAMED(MPI_UINT64_T),
                                                                   WEFT_NAMED(MPI_C_FLOAT_COMPLEX),
                                                                   WEFT_NAMED(MPI_C_DOUBLE_COMPLEX),
                                                                   WEFT_NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
                                                                   WEFT_NAMED(MPI_AINT),
                                                                   WEFT_NAMED(MPI_OFFSET),
                                                                   WEFT_NAMED(MPI_FLOAT_INT),
                                                                   WEFT_NAMED(MPI_LONG_INT),
                                                                   WEFT_NAMED(MPI_DOUBLE_INT),
                                                                   WEFT_NAMED(MPI_SHORT_INT),
                                                                   WEFT_NAMED(MPI_2INT),
                                                                   WEFT_NAMED(MPI_2FLOAT),
                                                                   WEFT_NAMED(MPI_2DOUBLE),
                                                                   WEFT_NAMED(MPI_2LONG),
                                                                   WEFT_NAMED(MPI_REAL),
                                                                   WEFT_NAMED(MPI_REAL4),
                                                                   WEFT_NAMED(MPI_REAL8),
                                                                   WEFT_NAMED(MPI_REAL16),
                                                                   WEFT_NAMED(MPI_COMPLEX8),
                                                                   WEFT_NAMED(MPI_COMPLEX16),
                                                                   WEFT_NAMED(MPI_COMPLEX32),
                                                                   WEFT_NAMED(MPI_INTEGER1),
                                                                   WEFT_NAMED(MPI_INTEGER2),
                                                                   WEFT_NAMED(MPI_INTEGER4),
                                                                   WEFT_NAMED(MPI_INTEGER8),
                                                                   WEFT_NAMED(MPI_INTEGER16),
                                                                   WEFT_NAMED(MPI_LONG_DOUBLE_INT),
                                                                   WEFT_NAMED(MPI_CXX_BOOL),
                                                                   WEFT_NAMED(MPI_PACKED),
                                                                   WEFT_NAMED(MPI_COUNT)};
  return TYPES.at(name);
}

MPI_Op operation_of(const std::string& name)
{
  static const std::unordered_map<std::string, MPI_Op> OPERATIONS{
      WEFT_NAMED(MPI_SUM),     WEFT_NAMED(MPI_PROD), WEFT_NAMED(MPI_MAX),    WEFT_NAMED(MPI_MIN),
      WEFT_NAMED(MPI_LAND),    WEFT_NAMED(MPI_LOR),  WEFT_NAMED(MPI_LXOR),   WEFT_NAMED(MPI_BAND),
      WEFT_NAMED(MPI_BOR),     WEFT_NAMED(MPI_BXOR), WEFT_NAMED(MPI_MAXLOC), WEFT_NAMED(MPI_MINLOC),
      WEFT_NAMED(MPI_REPLACE), WEFT_NAMED(MPI_NO_OP)};
  const auto found = OPERATIONS.find(name);
  return found == OPERATIONS.end() ? user_operation() : found->second;
}

#undef WEFT_NAMED

} // namespace

Action::Action(const std::string& line)
{
  std::istringstream words(line);
  for (std::string word; words >> word;)
    words_.push_back(word);
}

int Action::rank() const
{
  return std::stoi(words_.at(0));
}

int Action::integer()
{
  return std::stoi(words_.at(at_++));
}

double Action::real()
{
  return std::stod(words_.at(at_++));
}

std::vector<int> Action::integers(int count)
{
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int& one : all)
    one = integer();
  return all;
}

MPI_Datatype Action::datatype()
{
  return datatype_of(words_.at(at_++));
}

MPI_Op Action::operation()
{
  return operation_of(words_.at(at_++));
}

Trace::Trace(const std::string& path, int ranks) : file_(path), ahead_(static_cast<std::size_t>(ranks))
{
  if (not file_)
    throw std::runtime_error(path + " cannot be read");
}

std::optional<Action> Trace::next(int rank)
{
  std::deque<Action>& mine = ahead_.at(static_cast<std::size_t>(rank));
  for (std::string line; mine.empty() && std::getline(file_, line);) {
    Action action(line);
    ahead_.at(static_cast<std::size_t>(action.rank())).push_back(std::move(action));
  }
  if (mine.empty())
    return std::nullopt;
  Action action = std::move(mine.front());
  mine.pop_front();
  return action;
}

} // namespace weft::replay
