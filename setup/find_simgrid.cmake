# SPDX-License-Identifier: LGPL-2.1-only
# Finds what the platform library is built with, and says in one message what is missing.
set(SIMGRID_PREFIX "$ENV{SIMGRID_PREFIX}" CACHE PATH "Where SimGrid is installed")
set(WEFT_HOW_TO "A checkout sets up all of it by itself: `make demo`, and `make wheel` makes a wheel that needs none of it. \
For `pip install .`, install SimGrid 4 with SMPI and Fortran (https://simgrid.org), say where it is: \
SIMGRID_PREFIX=/path pip install . (`setup/simgrid` builds one and prints its path)")
function(weft_missing what)
  message(FATAL_ERROR "weft: ${what}. ${WEFT_HOW_TO}")
endfunction()

find_path(SIMGRID_INCLUDE_DIR simgrid/s4u.hpp HINTS ${SIMGRID_PREFIX}/include)
find_library(SIMGRID_LIBRARY simgrid HINTS ${SIMGRID_PREFIX}/lib ${SIMGRID_PREFIX}/lib64)
if(NOT SIMGRID_INCLUDE_DIR OR NOT SIMGRID_LIBRARY)
  if(SIMGRID_PREFIX)
    weft_missing("there is no SimGrid in SIMGRID_PREFIX=${SIMGRID_PREFIX}")
  endif()
  weft_missing("SimGrid was not found, and SIMGRID_PREFIX is not set")
endif()
if(NOT SIMGRID_PREFIX) # the system's
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
if(NOT SIMGRID_VERSION MATCHES "^4\\.")
  weft_missing("the SimGrid in ${SIMGRID_PREFIX} is ${SIMGRID_VERSION}, and weft needs SimGrid 4")
endif()

find_package(nlohmann_json QUIET)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
find_path(BOOST_INCLUDE_DIR boost/intrusive/list.hpp)
if(NOT nlohmann_json_FOUND OR NOT TOMLPLUSPLUS_INCLUDE_DIR OR NOT BOOST_INCLUDE_DIR)
  weft_missing("the headers of nlohmann-json, toml++ and Boost are needed, and not all of them are here \
(Debian: nlohmann-json3-dev libtomlplusplus-dev libboost-dev)")
endif()
