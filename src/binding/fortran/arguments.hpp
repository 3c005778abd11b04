// SPDX-License-Identifier: LGPL-2.1-only
/* Converters of Fortran's arguments to those of MPI's C functions.
 *
 * A wrapper is one expression: converters that are temporaries in it pass results back when it
 * ends. */
#pragma once

#include "binding/data/virtual_topology.hpp"
#include "binding/fortran/handles.hpp"
#include "binding/fortran/sections.hpp"
#include "binding/fortran/sentinels.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace weft::fortran {

using Callback = void (*)();

/** Ends a procedure: returns the error to Fortran, whose argument is optional in mpi_f08. */
inline void end(int* ierror, int error)
{
  if (ierror)
    *ierror = error;
}

/** Returns the length of the datatype array of an Alltoallw; 0 with MPI_IN_PLACE, where it is not significant. */
int types_in_all(const int* comm, void* send_buffer);
int types_in_all(const int* comm, const FortranDescriptor* send_buffer);
int types_in_all(const int* comm, const CDescriptor* send_buffer);

/** Returns the numbers of neighbours in a communicator; 0 if it has no topology. */
Degrees neighbors_in(const int* comm);

// ---- Others ---------------------------------------------------------------------------------------------------------

/** Returns the status, or null for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
MPI_Status* status_of(MPI_Status* status);
/** Returns the weights, or C's MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY. */
int* weights_of(int* weights);

/** String without trailing blanks and with a terminating NUL. */
class Text {
public:
  Text(const char* text, std::size_t length);
  operator char*() { return text_.data(); }

protected:
  std::string text_;
};

/** String without surrounding blanks, such as the key of an info. */
class Word : public Text {
public:
  Word(const char* text, std::size_t length);
};

/** String that a function fills, padded with blanks. */
class TextResult {
public:
  /** The function writes a name of MPI, if any. */
  TextResult(char* text, std::size_t length);
  /** The function writes @p most characters and a NUL, or leaves the string unchanged. */
  TextResult(char* text, std::size_t length, int most);
  ~TextResult();
  TextResult(const TextResult&)            = delete;
  TextResult& operator=(const TextResult&) = delete;
  operator char*() { return filled_.data(); }

private:
  char* text_;
  std::size_t length_;
  std::vector<char> filled_;
};

/** Logical value that a function returns; Fortran's .true. is 1. */
class LogicalResult {
public:
  explicit LogicalResult(int* answer) : answer_(answer) {}
  ~LogicalResult()
  {
    if (value_ != UNSET)
      *answer_ = value_ != 0 ? 1 : 0;
  }
  LogicalResult(const LogicalResult&)            = delete;
  LogicalResult& operator=(const LogicalResult&) = delete;
  operator int*() { return &value_; }

private:
  static constexpr int UNSET = -1;
  int* answer_;
  int value_ = UNSET;
};

/** Index in an array; Fortran's begin at 1. */
class Position {
public:
  explicit Position(int* position) : position_(position) {}
  ~Position() { *position_ = value_ == MPI_UNDEFINED ? MPI_UNDEFINED : value_ + 1; }
  Position(const Position&)            = delete;
  Position& operator=(const Position&) = delete;
  operator int*() { return &value_; }

private:
  int* position_;
  int value_ = MPI_UNDEFINED;
};

/** Indices, whose number the function returns. */
class Positions {
public:
  Positions(int* positions, const int* count) : positions_(positions), count_(count) {}
  ~Positions()
  {
    for (int i = 0; *count_ != MPI_UNDEFINED && i < *count_; ++i)
      ++positions_[i];
  }
  Positions(const Positions&)            = delete;
  Positions& operator=(const Positions&) = delete;
  operator int*() { return positions_; }

private:
  int* positions_;
  const int* count_;
};

} // namespace weft::fortran
