# SPDX-License-Identifier: LGPL-2.1-only
# Finds the dependencies of the platform library, and reports missing ones in one message.
# The environment's prefix takes precedence over the one cached in the build directory.
set(SIMGRID_PREFIX "" CACHE PATH "Where SimGrid is installed")
if(NOT "$ENV{SIMGRID_PREFIX}" STREQUAL "")
  get_filename_component(named "$ENV{SIMGRID_PREFIX}" ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  set(SIMGRID_PREFIX "${named}" CACHE PATH "Where SimGrid is installed" FORCE)
endif()
unset(SIMGRID_INCLUDE_DIR CACHE)
unset(SIMGRID_LIBRARY CACHE)

# Returns from this file; CMakeLists.txt reports WEFT_MISSING, where CMake adds no call stack. CMake does not reflow indented
# lines.
macro(weft_missing what)
  set(WEFT_MISSING " weft: ${what}.
 `pip install .` builds weft with a SimGrid 4 that is installed, with SMPI and Fortran (https://simgrid.org):
     SIMGRID_PREFIX=/path/of/simgrid pip install .
 In a checkout `setup/simgrid` builds one and prints its path; `make demo` sets up all of it by itself,
 and `make wheel` makes a wheel that needs no SimGrid.")
  return()
endmacro()

if(SIMGRID_PREFIX)
  set(there ${SIMGRID_PREFIX}/lib ${SIMGRID_PREFIX}/lib64 ${SIMGRID_PREFIX}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  find_path(SIMGRID_INCLUDE_DIR simgrid/s4u.hpp PATHS ${SIMGRID_PREFIX}/include NO_DEFAULT_PATH)
  find_library(SIMGRID_LIBRARY simgrid PATHS ${there} NO_DEFAULT_PATH)
else() # the system's, if there is one
  find_path(SIMGRID_INCLUDE_DIR simgrid/s4u.hpp)
  find_library(SIMGRID_LIBRARY simgrid)
endif()
if(NOT SIMGRID_INCLUDE_DIR OR NOT SIMGRID_LIBRARY)
  if(SIMGRID_PREFIX)
    weft_missing("there is no SimGrid in SIMGRID_PREFIX=${SIMGRID_PREFIX}")
  endif()
  weft_missing("SimGrid was not found, and SIMGRID_PREFIX is not set")
endif()
if(NOT SIMGRID_PREFIX)
  get_filename_component(SIMGRID_PREFIX ${SIMGRID_INCLUDE_DIR} DIRECTORY)
endif()
foreach(wrapper smpicc smpicxx smpif90)
  if(NOT EXISTS ${SIMGRID_PREFIX}/bin/${wrapper})
    weft_missing("the SimGrid in ${SIMGRID_PREFIX} has no bin/${wrapper}: it was built without SMPI or without Fortran")
  endif()
endforeach()

file(STRINGS ${SIMGRID_INCLUDE_DIR}/simgrid/version.h SIMGRID_VERSION_LINES REGEX "define SIMGRID_VERSION_(MAJOR|MINOR|PATCH)")
string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2.\\3" SIMGRID_VERSION
                     "${SIMGRID_VERSION_LINES}")
if(NOT SIMGRID_VERSION MATCHES "^4\\.[01](\\.|$)")
  weft_missing("the SimGrid in ${SIMGRID_PREFIX} is ${SIMGRID_VERSION}, and weft needs SimGrid 4.0 or 4.1")
endif()

find_package(nlohmann_json QUIET)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
find_path(BOOST_INCLUDE_DIR boost/intrusive/list.hpp)
find_path(MIMALLOC_INCLUDE_DIR mimalloc.h)
find_library(MIMALLOC_LIBRARY mimalloc)
if(NOT nlohmann_json_FOUND OR NOT TOMLPLUSPLUS_INCLUDE_DIR OR NOT BOOST_INCLUDE_DIR OR NOT MIMALLOC_INCLUDE_DIR
   OR NOT MIMALLOC_LIBRARY)
  weft_missing("mimalloc and the headers of nlohmann-json, toml++ and Boost are needed, and not all of them are here \
(Debian: libmimalloc-dev nlohmann-json3-dev libtomlplusplus-dev libboost-dev)")
endif()
