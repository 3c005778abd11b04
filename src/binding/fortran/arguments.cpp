// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/fortran/arguments.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::fortran {
namespace {

constexpr char UNTOUCHED = '\1';
/** Not less than any of the standard's constants for string lengths. */
constexpr std::size_t LONGEST_NAME = 1024;

std::string_view without_trailing_blanks(std::string_view text)
{
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

int size_unless(bool in_place, const int* comm)
{
  int size = 0;
  if (not in_place)
    MPI_Comm_size(object_of<MPI_Comm>(comm), &size);
  return size;
}

} // namespace

int types_in_all(const int* comm, void* send_buffer)
{
  return size_unless(buffer_of(send_buffer) == MPI_IN_PLACE, comm);
}
int types_in_all(const int* comm, const FortranDescriptor* send_buffer)
{
  return size_unless(buffer_of(send_buffer) == MPI_IN_PLACE, comm);
}
int types_in_all(const int* comm, const CDescriptor* send_buffer)
{
  return size_unless(buffer_of(send_buffer) == MPI_IN_PLACE, comm);
}

Degrees neighbors_in(const int* comm)
{
  const auto handle = object_of<MPI_Comm>(comm);
  return handle != MPI_COMM_NULL && topology_of(handle) ? degrees_in(handle) : Degrees{0, 0};
}

MPI_Status* status_of(MPI_Status* status)
{
  return is_status_ignore(status) ? MPI_STATUS_IGNORE : status;
}

int* weights_of(int* weights)
{
  if (is_unweighted(weights))
    return MPI_UNWEIGHTED;
  return is_weights_empty(weights) ? MPI_WEIGHTS_EMPTY : weights;
}

Text::Text(const char* text, std::size_t length) : text_(without_trailing_blanks({text, length})) {}

Word::Word(const char* text, std::size_t length) : Text(text, length)
{
  text_.erase(0, std::min(text_.find_first_not_of(' '), text_.size()));
}

TextResult::TextResult(char* text, std::size_t length)
    : text_(text), length_(length), filled_(std::max(length, LONGEST_NAME) + 1)
{
}

TextResult::TextResult(char* text, std::size_t length, int most)
    : text_(text), length_(length), filled_(std::max(length, static_cast<std::size_t>(std::max(most, 0))) + 1)
{
  filled_.front() = UNTOUCHED;
}

TextResult::~TextResult()
{
  if (filled_.front() == UNTOUCHED)
    return;
  const std::size_t written = std::min(length_, strnlen(filled_.data(), filled_.size()));
  std::memcpy(text_, filled_.data(), written);
  std::memset(text_ + written, ' ', length_ - written);
}

} // namespace weft::fortran
