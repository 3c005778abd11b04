// SPDX-License-Identifier: LGPL-2.1-only
/* Handles: numbers in Fortran, pointers in C.
 *
 * The numbers are SMPI's (F2C); predefined handles without a number in SMPI get negative numbers, which are listed in
 * wrappers.cpp. */
#pragma once

#include "binding/ranks/world_placeholder.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

extern "C" { // NOLINTBEGIN(readability-identifier-naming,modernize-use-using): as in weft's mpi.h
typedef struct weft_session* MPI_Session;
int MPI_Session_c2f(MPI_Session session);
MPI_Session MPI_Session_f2c(int session);
} // NOLINTEND(readability-identifier-naming,modernize-use-using)

namespace weft::fortran {

/** Number of the handles MPI_…_NULL. */
constexpr int NULL_NUMBER = -1;
/** Result for handles that are not predefined or that SMPI numbers. */
constexpr int NO_NUMBER = 0;

template <class Handle> Handle null_handle()
{
  return nullptr;
}
template <> inline MPI_Datatype null_handle<MPI_Datatype>()
{
  return MPI_DATATYPE_NULL;
}

/** Returns the predefined handle of a negative number; the null handle for other numbers. */
template <class Handle> Handle predefined(int number);
/** Returns the negative number of a predefined handle, or NO_NUMBER. */
template <class Handle> int predefined_number(Handle handle);

/** Returns the object with this number in SMPI's Fortran interface; null if there is none. */
void* numbered_object(int number);
/** Returns SMPI's number for an object, assigned now if it has none. */
int number_of_object(void* object);

/** Returns the handle of a number, and the null handle for an unknown one. MPI_COMM_WORLD differs between the jobs of a
 * run, but has one number. SimGrid's own mpif.h defines MPI_FILE_NULL as 0. */
template <class Handle> Handle object_of(int number)
{
  if (number < 0)
    return predefined<Handle>(number);
  if (std::is_same_v<Handle, MPI_File> && number == 0)
    return null_handle<Handle>();
  if constexpr (std::is_same_v<Handle, MPI_Comm>)
    if (number == 0)
      return own_world();
  void* const object = numbered_object(number);
  return object ? static_cast<Handle>(object) : null_handle<Handle>();
}
/** Messages of matched probes are numbered where they are created. */
template <> inline MPI_Message object_of<MPI_Message>(int number)
{
  return MPI_Message_f2c(number);
}
/** Sessions have numbers of their own. */
template <> inline MPI_Session object_of<MPI_Session>(int number)
{
  return MPI_Session_f2c(number);
}
template <class Handle> Handle object_of(const int* number)
{
  return object_of<Handle>(*number);
}

template <class Handle> int number_of(Handle handle)
{
  if (handle == null_handle<Handle>())
    return NULL_NUMBER;
  const int number = predefined_number(handle);
  return number == NO_NUMBER ? number_of_object(handle) : number;
}
template <> inline int number_of<MPI_Message>(MPI_Message message)
{
  return MPI_Message_c2f(message);
}
template <> inline int number_of<MPI_Session>(MPI_Session session)
{
  return MPI_Session_c2f(session);
}

/** Handle that a function creates. */
template <class Handle> class Result {
public:
  explicit Result(int* number) : number_(number) {}
  ~Result() { *number_ = number_of(handle_); }
  Result(const Result&)            = delete;
  Result& operator=(const Result&) = delete;
  operator Handle*() { return &handle_; }

private:
  int* number_;
  Handle handle_ = null_handle<Handle>();
};

/** Handle that a function may free or replace. */
template <class Handle> class Updated {
public:
  explicit Updated(int* number) : number_(number), before_(object_of<Handle>(*number)), handle_(before_) {}
  ~Updated()
  {
    if (handle_ != before_)
      *number_ = number_of(handle_);
  }
  Updated(const Updated&)            = delete;
  Updated& operator=(const Updated&) = delete;
  operator Handle*() { return &handle_; }

private:
  int* number_;
  Handle before_;
  Handle handle_;
};

/** Array of handles that a function reads. */
template <class Handle> class Handles {
public:
  Handles(const int* numbers, std::int64_t count)
  {
    for (std::int64_t i = 0; i < count; ++i)
      handles_.push_back(object_of<Handle>(numbers[i]));
  }
  operator Handle*() { return handles_.data(); }

private:
  std::vector<Handle> handles_;
};

/** Array of handles that a function may free or replace. */
template <class Handle> class UpdatedHandles {
public:
  UpdatedHandles(int* numbers, int count) : numbers_(numbers)
  {
    for (int i = 0; i < count; ++i)
      handles_.push_back(object_of<Handle>(numbers[i]));
    before_ = handles_;
  }
  ~UpdatedHandles()
  {
    for (std::size_t i = 0; i < handles_.size(); ++i)
      if (handles_[i] != before_[i])
        numbers_[i] = number_of(handles_[i]);
  }
  UpdatedHandles(const UpdatedHandles&)            = delete;
  UpdatedHandles& operator=(const UpdatedHandles&) = delete;
  operator Handle*() { return handles_.data(); }

private:
  int* numbers_;
  std::vector<Handle> handles_;
  std::vector<Handle> before_;
};

/** Array of handles that a function fills, at least partly. */
template <class Handle> class HandleResults {
public:
  HandleResults(int* numbers, std::int64_t count)
      : numbers_(numbers), handles_(count > 0 ? static_cast<std::size_t>(count) : 0, null_handle<Handle>())
  {
  }
  ~HandleResults()
  {
    for (std::size_t i = 0; i < handles_.size(); ++i)
      if (handles_[i] != null_handle<Handle>())
        numbers_[i] = number_of(handles_[i]);
  }
  HandleResults(const HandleResults&)            = delete;
  HandleResults& operator=(const HandleResults&) = delete;
  operator Handle*() { return handles_.data(); }

private:
  int* numbers_;
  std::vector<Handle> handles_;
};

} // namespace weft::fortran
